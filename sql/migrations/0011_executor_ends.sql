-- What an executor reports with its heartbeat: of each of its queues, in the order of queues, where the topic ends (what a queue has yet to claim is
-- from its cursor to there; NULL: not known), and the memory that it uses.
ALTER TABLE lockstep.executor ADD COLUMN ends bigint[], ADD COLUMN memory_bytes bigint;
