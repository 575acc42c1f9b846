-- Tasks that were just made take their keys. Those whose key is another task's are duplicates: Cancelled, and nothing to be tried again.
CREATE OR REPLACE FUNCTION lockstep.key_skip(p_queue_id int, p_run_id uuid, p_task_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    refused bigint[] := lockstep.key_take(p_queue_id, p_run_id, ARRAY(
        SELECT k.task_id FROM lockstep.task k WHERE k.task_id = ANY (p_task_ids) AND k.status = 'Pending'));
BEGIN
    UPDATE lockstep.task t
    SET status = 'Cancelled', skipped = 'duplicate', executor_no = NULL, token = NULL, attempt_num = 0, scheduled_for = NULL,
        error = pg_catalog.format('duplicate: its key "%s" is that of task %s', t.key, i.task_id), updated_at = pg_catalog.clock_timestamp()
    FROM lockstep.idempotency_key i
    WHERE t.task_id = ANY (refused) AND i.queue_id = p_queue_id AND i.key = t.key;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.key_skip(int, uuid, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.key_skip(int, uuid, bigint[]) TO lockstep_executor;
