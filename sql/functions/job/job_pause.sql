-- The pause before SQL of a job is tried again that fails since p_since (NULL: since now) without a fault of the job:
-- short at first, then as long as it has failed already, up to a minute.
CREATE OR REPLACE FUNCTION lockstep.job_pause(p_since timestamptz, p_now timestamptz) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
    SELECT LEAST(GREATEST(p_now - COALESCE(p_since, p_now), interval '2 seconds'), interval '1 minute')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_pause(timestamptz, timestamptz) FROM PUBLIC;
