-- Two reasons why something waits that were taken for others: a run whose records are on the topic no more (it was deleted or made anew, or
-- the cursor was set behind them), and an attempt that has lost its session while the login of the tasks is barred.
INSERT INTO lockstep.wait_reason (reason, meaning, helps, rank) VALUES
    ('run_records_gone', 'what is not claimed of the run is not on the topic any more, or lies before the cursor',
     'Publish its work again as another run. To close this one: lockstep run cancel RUN', 24),
    ('task_lost_session', 'its attempt has lost its session, and its executor can open no other one',
     'Let that login in (its password, NOLOGIN, pg_hba.conf, connections left): the executor decides then what has become of it, and it is tried again. To have another '
     'executor take it over, on HOST: kill -TERM PID', 13);
