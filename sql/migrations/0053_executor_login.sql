-- What keeps an executor from work is of a kind: its login, or Kafka.
ALTER TABLE lockstep.executor ADD COLUMN trouble_kind text; -- of trouble: 'login' or 'kafka'

INSERT INTO lockstep.wait_reason (reason, meaning, helps, rank) VALUES
    ('executor_without_login', 'an executor lives, and the server does not let its tasks'' login in',
     'Let that login in (its password, NOLOGIN, pg_hba.conf, connections left): the executor on HOST goes on by itself. Where its password is new: change [postgres] task_conninfo there and '
     'restart the executor', 15);
