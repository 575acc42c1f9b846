-- The second integer of a phase's two advisory locks: which = 0 is A, 1 is B (phaselock/phaselock.h explains both). It
-- is phase_id * 2 + which, modulo 2^32, as a signed integer. Phases whose ids are 2^31 apart share their locks: they
-- would wait for each other a little, and no promise rests on a lock alone.
CREATE OR REPLACE FUNCTION lockstep.phase_key(phase_id bigint, which int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (((phase_id * 2 + which + 2147483648) & 4294967295) - 2147483648)::int
$$;
REVOKE EXECUTE ON FUNCTION lockstep.phase_key(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.phase_key(bigint, int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
