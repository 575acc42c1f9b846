-- executor_adopt :many  takes orphans of one phase: queue_id, executor_no, limit, phases on which S is held, closed
-- phases of which it has some
-- columns: verdict, wait_ms, phase_id, run_no, order, is_open, took_shared, task_id, token, attempt_num, seq,
--          kafka_offset, payload, definitions_changes, doubted
-- words of verdict: adopted, busy, none
-- locks: session
SELECT a.verdict, a.wait_ms, a.phase_id, a.run_no, a."order", a.is_open, a.took_shared, a.task_id, a.token,
       a.attempt_num, a.seq, a.kafka_offset, a.payload, lockstep.definitions_changes(), a.doubted
FROM lockstep.adopt(
    p_queue_id => $1::int, p_executor_no => $2::int, p_limit => $3::int, p_held => $4::bigint[],
    p_enough => $5::bigint[]) AS a;
