-- Executors that have ended: a beat asks for those that died a moment ago, and does not read all that ever were.
CREATE INDEX executor_died ON lockstep.executor (ended_at) WHERE ended_why IS DISTINCT FROM 'drained';
