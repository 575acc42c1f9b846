-- sweep_begin :one  queue_id $1: whether it is ours to sweep, until note; another executor may be at it. What waits for
-- a lock of a user's table, or takes long because of an index that is missing there, is given up. Plans for the values
-- at hand: runs differ by a million.
-- columns: ours, lock_timeout, statement_timeout, plan_cache_mode
SELECT pg_try_advisory_lock(lockstep.lock_class('sweep'), $1::int) AS ours,
       set_config('lock_timeout', '100', false) AS lock_timeout,
       set_config('statement_timeout', '3000', false) AS statement_timeout,
       set_config('plan_cache_mode', 'force_custom_plan', false) AS plan_cache_mode;
