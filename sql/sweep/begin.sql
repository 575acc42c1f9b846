-- sweep_begin :one  queue_id $1: may this session sweep it, until note? Another executor may be sweeping it. A batch
-- that waits for a lock of a user's table, or takes long because an index is missing there, is given up. Plans for the
-- values at hand: runs differ by a million.
-- columns: ours, lock_timeout, statement_timeout, plan_cache_mode
SELECT pg_try_advisory_lock(lockstep.lock_class('sweep'), $1::int) AS ours,
       set_config('lock_timeout', '100', false) AS lock_timeout,
       set_config('statement_timeout', '3000', false) AS statement_timeout,
       set_config('plan_cache_mode', 'force_custom_plan', false) AS plan_cache_mode;
