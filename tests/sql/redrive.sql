-- Redrives through the outbox: the messages that may not be redriven, and a run that the relay refuses.
-- tests/e2e/console_acts.sh has the requests, tests/e2e/rejected_redrive.sh the command.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic, on_failure) VALUES ('q', 't', 'stop');
CREATE FUNCTION pg_temp.q() RETURNS int LANGUAGE sql AS $$ SELECT queue_id FROM lockstep.queue WHERE name = 'q' $$;
INSERT INTO lockstep.rejected_message (rejected_id, queue_id, kafka_offset, reason, detail, raw)
OVERRIDING SYSTEM VALUE
SELECT n, pg_temp.q(), n, 'hole', 'd', '{"order": 1, "sql": "SELECT 1"}' FROM generate_series(1, 4) AS n;
CREATE FUNCTION pg_temp.redrive(id bigint, again boolean DEFAULT false, preview boolean DEFAULT false) RETURNS uuid
LANGUAGE sql AS $$ SELECT (lockstep.redrive(id, NULL, 'r', again, preview) ->> 'run_id')::uuid $$;
-- the hint of a refusal
CREATE FUNCTION pg_temp.refused(id bigint, again boolean DEFAULT false, preview boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    PERFORM pg_temp.redrive(id, again, preview);
    RETURN 'not refused';
EXCEPTION WHEN SQLSTATE 'LS002' THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN hint;
END
$$;
CREATE FUNCTION pg_temp.relay_refuses(run uuid) RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.enqueue_refuse(e.enqueue_id, 'it is too large') FROM lockstep.enqueued e WHERE e.run_id = run
$$;
CREATE FUNCTION pg_temp.relay_sends(run uuid) RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.enqueue_sent(pg_temp.q(), ARRAY[run], 5)
$$;
-- a run: by its letter in known
CREATE TEMPORARY TABLE known (letter text, run uuid);
CREATE FUNCTION pg_temp.letter(run uuid) RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE((SELECT k.letter FROM known k WHERE k.run = letter.run), '-')
$$;
CREATE FUNCTION pg_temp.row(id bigint) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', pg_temp.letter(redrive_run), pg_temp.letter(redrive_noted), redriven_at IS NOT NULL,
                     redriven_by IS NOT NULL)
    FROM lockstep.rejected_message WHERE rejected_id = id
$$;
CREATE FUNCTION pg_temp.shown(id bigint) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', pg_temp.letter(redrive_run), pg_temp.letter(redrive_noted), redriven_at IS NOT NULL,
                     redriven_by IS NOT NULL)
    FROM lockstep.rejected WHERE rejected_id = id
$$;
CREATE FUNCTION pg_temp.run(name text) RETURNS uuid LANGUAGE sql AS $$ SELECT run FROM known WHERE letter = name $$;

-- A run that the relay refuses.
INSERT INTO known SELECT 'A', pg_temp.redrive(1);
SELECT is(pg_temp.row(1), 'A - t t', 'a redriven message has its run');
SELECT pg_temp.relay_refuses(pg_temp.run('A'));
SELECT is(pg_temp.row(1), '- - f f', 'which was refused by the relay: the message was not redriven');
SELECT is((SELECT status FROM lockstep.run WHERE run_id = pg_temp.run('A')), 'Failed', 'and the run is Failed');
CREATE FUNCTION pg_temp.counted() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(c.status || ' ' || c.runs, ', ' ORDER BY c.status) FROM lockstep.run_count c
    WHERE c.queue_id = pg_temp.q()
$$;
SELECT is(pg_temp.counted(), 'Failed 1', 'which is counted');
INSERT INTO known SELECT 'X', pg_temp.redrive(1);
SELECT lockstep.run_pause(pg_temp.run('X'));
SELECT pg_temp.relay_refuses(pg_temp.run('X'));
SELECT is((r.status, r.paused_by, r.paused_at)::text, '(Failed,,)', 'one that an operator held is held no longer')
FROM lockstep.run r WHERE r.run_id = pg_temp.run('X');
INSERT INTO known SELECT 'Y', pg_temp.redrive(1);
SELECT lockstep.run_cancel(pg_temp.run('Y'));
CREATE TEMP TABLE cancelled AS
SELECT r.status, r.error, r.ended_at FROM lockstep.run r WHERE r.run_id = pg_temp.run('Y');
SELECT pg_temp.relay_refuses(pg_temp.run('Y'));
SELECT results_eq('SELECT r.status, r.error, r.ended_at FROM lockstep.run r WHERE r.run_id = pg_temp.run(''Y'')',
                  'SELECT * FROM cancelled', 'and one that an operator has cancelled stays as it ended');
SELECT is(pg_temp.counted() || ': ' || pg_temp.row(1), 'Cancelled 1, Failed 2: - - f f',
          'each counts once, and its message was not redriven');
INSERT INTO known SELECT 'B', pg_temp.redrive(1);
SELECT pg_temp.relay_sends(pg_temp.run('B'));
SELECT is(pg_temp.row(1), 'B - t t', 'it is redriven without "again"');
INSERT INTO known SELECT 'C', pg_temp.redrive(1, again => true);
SELECT is(pg_temp.shown(1), 'B C t t', 'the second redrive of a message is noted until its run is on the topic');
SELECT is(pg_temp.refused(1),
    'Try again when this run is sent; to see what it waits for: lockstep run explain ' || pg_temp.run('C'),
    'until then there is no other one');
SELECT is(pg_temp.refused(1, true, true), pg_temp.refused(1), 'nor a preview of one');
SELECT pg_temp.relay_refuses(pg_temp.run('C'));
SELECT is(pg_temp.row(1), 'B - t t', 'refused by the relay: the message keeps its first redrive');
INSERT INTO known SELECT 'D', pg_temp.redrive(1, again => true);
SELECT pg_temp.relay_sends(pg_temp.run('D'));
SELECT is(pg_temp.shown(1), 'D - t t', 'on the topic: it has the second one');
SELECT is(pg_temp.refused(1), 'If it is meant once more, say again: true.', 'which counts');
INSERT INTO known SELECT 'E', pg_temp.redrive(1, again => true);
SELECT is(pg_temp.row(1), 'D E t t', 'and is settled by the next one');
SELECT is((SELECT m.redriven_at FROM lockstep.rejected_message m WHERE m.rejected_id = 1),
          (SELECT r.created_at FROM lockstep.run r WHERE r.run_id = pg_temp.run('D')), 'with the time of its request');

-- A preview has the checks of the act, and changes nothing.
INSERT INTO known SELECT 'F', pg_temp.redrive(2);
SELECT pg_temp.relay_sends(pg_temp.run('F'));
SELECT is(pg_temp.refused(2, preview => true), 'If it is meant once more, say again: true.',
    'a message that was redriven has no preview');
SELECT is(pg_temp.refused(2, true, true), 'not refused', 'but with "again"');
UPDATE lockstep.rejected_message SET redrive_noted = pg_temp.run('F') WHERE rejected_id = 3;
SELECT is(pg_temp.refused(3, preview => true), 'If it is meant once more, say again: true.',
    'nor has one that a command has redriven and not settled');
SELECT is(pg_temp.row(3), '- F f f', 'which the preview leaves so');
INSERT INTO known VALUES ('G', gen_random_uuid());
UPDATE lockstep.rejected_message SET redrive_noted = pg_temp.run('G') WHERE rejected_id = 4;
SELECT is(pg_temp.refused(4, preview => true), 'not refused',
    'one that a command has noted before it ended, without a run, has one');
SELECT is(pg_temp.row(4), '- G f f', 'which leaves the note');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, publish_acked_seq)
VALUES (pg_temp.run('G'), pg_temp.q(), 'stop', 'Publishing', -1);
SELECT is(pg_temp.refused(4, preview => true),
    'Close this run, whose producer is gone, and try again: lockstep run end ' || pg_temp.run('G'),
    'with a run that was begun, and maybe sent, it has none');
SELECT is(pg_temp.refused(4), pg_temp.refused(4, preview => true), 'as a redrive is refused');
SELECT lockstep.run_pause(pg_temp.run('G'));
SELECT lockstep.publish_cancel(pg_temp.q(), pg_temp.run('G'), 'its producer ended');
SELECT is((r.status, r.paused_by, r.ended_at IS NOT NULL)::text, '(Cancelled,,t)',
          'a run that an operator holds ends, too')
FROM lockstep.run r WHERE r.run_id = pg_temp.run('G');
SELECT is(pg_temp.counted(), 'Cancelled 2, Failed 3', 'and counts');
SELECT is(pg_temp.refused(4, preview => true), 'not refused', 'when the run is Cancelled, it has one');
INSERT INTO known SELECT 'H', pg_temp.redrive(4);
SELECT is(pg_temp.row(4), 'H - t t', 'and is redriven');
SELECT * FROM finish();
ROLLBACK;
