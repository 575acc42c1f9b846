-- Statement trigger of lockstep.watch_table: the rows of this table have changed, so its triggers of jobs are checked
-- soon. It is silent when a look is due within a second or at the end of min_between anyway, when the look waits for
-- the end of the run, and when looks fail, so that many statements do not mean many notifications. It is not silent
-- while a look or a firing is out, which may have begun before these rows. A transaction that sees an old state
-- (repeatable read, serializable) cannot know, and reads nothing: it always notifies.
CREATE OR REPLACE FUNCTION lockstep.table_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed'
       OR EXISTS (SELECT FROM lockstep.schedule s
                  WHERE (s.rows_rule).relation = format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME)
                    AND (s.rows_rule).relation IS NOT NULL AND s.is_active
                    AND (s.asked_until IS NOT NULL
                         OR (s.look).error IS NULL
                            AND LEAST(s.next_at, s.wake_at) > GREATEST(
                                clock_timestamp() + interval '1 second', s.fired_at + (s.rows_rule).min_between))) THEN
        PERFORM pg_notify('lockstep_jobs', 'rows ' || TG_RELID);
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.table_changed() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.table_changed() TO lockstep_operator, lockstep_producer;
