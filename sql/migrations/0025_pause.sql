-- A paused run of a queue whose runs are concurrent stops nobody: its messages are recorded without an owner, and executors adopt
-- them when it goes on. There may be many, so what looks for work finds it by indexes. None of them holds what an attempt changes
-- in the usual way of a task: its updates stay HOT.
ALTER TABLE lockstep.run ADD COLUMN parked_order bigint; -- phases up to this order do not count in the lookahead: they were claimed while, or before, it was paused
CREATE INDEX run_parked ON lockstep.run (queue_id) WHERE parked_order IS NOT NULL AND ended_at IS NULL;
CREATE INDEX phase_unowned ON lockstep.phase (queue_id, run_no, "order") WHERE done_at IS NULL AND (external OR conditional);
CREATE INDEX task_unowned ON lockstep.task (phase_id, kafka_offset) WHERE executor_no IS NULL;
CREATE INDEX task_troubled ON lockstep.task (phase_id) WHERE lost_num > 0 OR cancelled_by IS NOT NULL;
DROP FUNCTION IF EXISTS lockstep.claim; -- its parameters have changed; the functions are applied after this
