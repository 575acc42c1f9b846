-- Why a queue stands still: a row that somebody else's transaction holds.
INSERT INTO lockstep.wait_reason (reason, meaning, helps, rank) VALUES
    ('row_held', 'a session holds the row of the queue, of one of its runs, or of the task, in an open transaction',
     'End that transaction, or its session: SELECT pg_terminate_backend(PID)', 13);
