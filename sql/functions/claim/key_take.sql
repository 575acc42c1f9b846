-- Tasks acquire their idempotency keys, in the order of the topic. A key is free if no task of the queue has had it, or
-- if the task that has it ended without success (Failed, Cancelled, Terminated); a task that retention has deleted
-- keeps its key. A task always acquires the key that it has already, also under another number (a replay that makes its
-- row again). The tasks whose keys are not free are returned. The caller has the lock of the queue's row.
CREATE OR REPLACE FUNCTION lockstep.key_take(p_queue_id int, p_run_id uuid, p_task_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
    refused bigint[] := '{}';
BEGIN
    FOR task_row IN SELECT k.task_id, k.key, k.kafka_offset FROM lockstep.task k
             WHERE k.task_id = ANY (p_task_ids) AND k.key IS NOT NULL ORDER BY k.kafka_offset LOOP
        INSERT INTO lockstep.idempotency_key AS i (queue_id, key, task_id, run_id, kafka_offset)
        VALUES (p_queue_id, task_row.key, task_row.task_id, p_run_id, task_row.kafka_offset)
        ON CONFLICT (queue_id, key) DO UPDATE SET
            task_id = EXCLUDED.task_id, run_id = EXCLUDED.run_id, kafka_offset = EXCLUDED.kafka_offset,
            taken_at = EXCLUDED.taken_at
        WHERE i.task_id = EXCLUDED.task_id OR (i.run_id = EXCLUDED.run_id AND i.kafka_offset = EXCLUDED.kafka_offset)
           OR EXISTS (SELECT FROM lockstep.task h WHERE h.task_id = i.task_id AND lockstep.frees_key(h.status));
        IF NOT FOUND THEN
            refused := refused || task_row.task_id;
        END IF;
    END LOOP;
    RETURN refused;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.key_take(int, uuid, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.key_take(int, uuid, bigint[]) TO lockstep_executor;
