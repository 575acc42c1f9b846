-- Statement trigger of lockstep.watch_table: the rows of this table have changed, so its triggers of jobs are looked at soon. Silent when a look is due
-- within a second anyway, so that many statements do not mean many notifications; but not while a look or a firing is out, which may have begun before these rows.
CREATE OR REPLACE FUNCTION lockstep.table_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    IF EXISTS (SELECT FROM lockstep.schedule s WHERE (s.rows_rule).relation_oid = TG_RELID AND (s.rows_rule).relation_oid IS NOT NULL AND s.is_active
               AND (s.asked_until IS NOT NULL OR s.wake_at > clock_timestamp() + interval '1 second')) THEN
        PERFORM pg_notify('lockstep_jobs', 'rows ' || TG_RELID);
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.table_changed() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.table_changed() TO lockstep_operator, lockstep_producer;
