-- A relay that begins reports the state of the end of the topic: the rows that a predecessor had sent before it could
-- note it (p_uids), the highest number there, and the offset behind it. Records without a row are those of a database
-- that was set back (restored, failed over): their numbers are taken, so rows that have the same numbers by now get new
-- ones. The answer is the number of rows that were found there.
CREATE OR REPLACE FUNCTION lockstep.relay_settle(
    p_queue_id int, p_kind text, p_uids uuid[], p_seq bigint, p_next_offset bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
BEGIN
    UPDATE lockstep.relay
    SET last_seq = GREATEST(last_seq, p_seq), sent_seq = GREATEST(sent_seq, p_seq), next_offset = p_next_offset
    WHERE queue_id = p_queue_id AND kind = p_kind;
    WITH gone AS (
        DELETE FROM lockstep.outbox
        WHERE queue_id = p_queue_id AND kind = p_kind AND uid = ANY (p_uids) RETURNING rejected_id),
    noted AS (
        UPDATE lockstep.rejected_message m SET dead_lettered_at = pg_catalog.clock_timestamp()
        FROM gone g WHERE m.rejected_id = g.rejected_id)
    SELECT pg_catalog.count(*) INTO found FROM gone;
    UPDATE lockstep.outbox SET relay_seq = NULL WHERE queue_id = p_queue_id AND kind = p_kind AND relay_seq <= p_seq;
    RETURN found;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.relay_settle(int, text, uuid[], bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.relay_settle(int, text, uuid[], bigint, bigint) TO lockstep_executor;
