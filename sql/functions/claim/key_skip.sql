-- Tasks that were just made take their keys. Those whose key is another task's are duplicates: Cancelled, and nothing
-- to be tried again. Returns the tokens that are left, in the order of the topic.
CREATE OR REPLACE FUNCTION lockstep.key_skip(p_queue_id int, p_run_no bigint, p_task_ids bigint[]) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    refused bigint[] := lockstep.key_take(
        p_queue_id, (SELECT r.run_id FROM lockstep.run r WHERE r.run_no = p_run_no), ARRAY(
            SELECT k.task_id FROM lockstep.task k WHERE k.task_id = ANY (p_task_ids) AND k.status = 'Pending'));
BEGIN
    UPDATE lockstep.task t
    SET status = 'Cancelled', skipped = 'duplicate', executor_no = NULL, token = NULL, attempt_num = 0,
        scheduled_for = NULL, error = pg_catalog.format('duplicate: its key "%s" is that of task %s', t.key, i.task_id),
        updated_at = pg_catalog.clock_timestamp()
    FROM lockstep.idempotency_key i
    WHERE t.task_id = ANY (refused) AND i.queue_id = p_queue_id AND i.key = t.key;
    RETURN (SELECT pg_catalog.array_agg(t.token ORDER BY t.kafka_offset)
            FROM lockstep.task t WHERE t.task_id = ANY (p_task_ids));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.key_skip(int, bigint, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.key_skip(int, bigint, bigint[]) TO lockstep_executor;
