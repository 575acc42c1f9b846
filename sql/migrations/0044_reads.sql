-- A publisher sees how its run goes, and why it waits: what run show, run watch and explain read.
GRANT SELECT ON lockstep.executor, lockstep.executor_session, lockstep.slot, lockstep.task_attempt, lockstep.reader_status, lockstep.relay,
    lockstep.replay, lockstep.event_log TO lockstep_producer;
GRANT SELECT (enqueue_id, queue_id, run_no, run_id, phases, bytes, floor_offset, enqueued_at) ON lockstep.enqueued TO lockstep_producer;
