-- What a flood of records that are no messages costs the messages behind it: a gap in a run is accounted for without
-- reading all that was rejected, and rejected records that follow each other are kept in one transaction.
BEGIN;
SELECT plan(17);
\ir protocol.inc

CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables
    WHERE relid = 'lockstep.rejected_message'::regclass
$$;
CREATE FUNCTION pg_temp.costs(messages text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := pg_temp.rows_read();
    answer text := pg_temp.tell(pg_temp.q(), messages);
BEGIN
    RETURN answer || CASE WHEN pg_temp.rows_read() - before < 100 THEN ''
                          ELSE format(', and %s rows are read', pg_temp.rows_read() - before) END;
END
$$;
-- So many rejected records at the cursor, of a run (NULL: it is unknown), with a reason.
CREATE FUNCTION pg_temp.flood(many int, of text, why text DEFAULT 'bad_json', first_seq bigint DEFAULT 0)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO lockstep.rejected_message (queue_id, epoch, kafka_offset, run_no, seq, reason, detail)
    SELECT q.queue_id, q.epoch, q.next_offset + n, r.run_no, first_seq + n, why, ''
    FROM lockstep.queue q LEFT JOIN lockstep.run r ON r.queue_id = q.queue_id AND r.run_id = pg_temp.run_of(of),
         generate_series(0, many - 1) AS n
    WHERE q.queue_id = pg_temp.q();
    UPDATE lockstep.queue SET next_offset = next_offset + many WHERE queue_id = pg_temp.q();
$$;

SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue', runs => 'concurrent'), 'A0:100<0 B0:100<0');
SELECT pg_temp.flood(3000, 'B', 'duplicate');
SELECT pg_temp.tell(pg_temp.q(), '!');
SELECT is(pg_temp.costs('A2:100<0'), 'A:100+', 'a gap behind what was rejected of another run');
SELECT is(pg_temp.costs('A4:100<0'), 'A:100~', 'a gap of which nothing accounts');

SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue', runs => 'concurrent'), 'A0:100<0');
SELECT pg_temp.flood(3000, 'A', 'duplicate');
SELECT is(pg_temp.tell(pg_temp.q(), 'A1:100<0 ! A3:100<0'), 'A:100+ bad_json A:100+', 'behind duplicates of the run');
SELECT pg_temp.tell(pg_temp.q(), '!');
SELECT is(pg_temp.costs('A5:100<0'), 'A:100+', 'the next gap: they are not read again');

SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue', runs => 'concurrent'), 'A0:100<0 B0:100<0');
SELECT pg_temp.flood(3000, NULL);
SELECT is(pg_temp.costs('A4000:100<0'), 'A:100~',
          'more is missing than there are records between: loss, without a look');
SELECT is(pg_temp.costs('B6:100<0'), 'B:100+', 'fewer: as many are read as are missing');
SELECT is((r).rejected, 5::bigint, 'and counted') FROM pg_temp.run('B') AS r;

SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue', runs => 'concurrent'), 'A0:100<0 B0:100<0');
SELECT pg_temp.flood(10001, NULL);
SELECT is(pg_temp.costs('A10002:100<0'), 'A:100~', 'a gap of more than 10,000 is loss, whatever was rejected');
SELECT is(pg_temp.tell(pg_temp.q(), 'B10001:100<0'), 'B:100+', 'one of 10,000 is not');

-- lockstep.reject: records that name no run, many at once.
CREATE FUNCTION pg_temp.reject(from_offset bigint, many int, buffer_from bigint DEFAULT 0)
RETURNS text LANGUAGE sql AS $$
    SELECT r.verdict || ' ' || r.next_offset
    FROM lockstep.reject(pg_temp.q(), 1, buffer_from, ROW('reject', NULL, NULL, NULL, NULL,
        ARRAY(SELECT from_offset + n FROM generate_series(0, many - 1) AS n),
        ARRAY(SELECT CASE WHEN n > 0 THEN n END FROM generate_series(0, many - 1) AS n),
        NULL, NULL, NULL, NULL, 1000, '\xd1',
        ARRAY(SELECT 'reason ' || n FROM generate_series(0, many - 1) AS n),
        ARRAY(SELECT 'detail ' || n FROM generate_series(0, many - 1) AS n),
        ARRAY(SELECT CASE WHEN n <> 1 THEN '\x00ff'::bytea END FROM generate_series(0, many - 1) AS n),
        ARRAY(SELECT CASE WHEN n <> 2 THEN '\x6b'::bytea END FROM generate_series(0, many - 1) AS n),
        NULL, NULL, false, ARRAY[from_offset, from_offset, from_offset + many - 1], '{a,a,b}',
        ARRAY['\x01'::bytea, NULL, '\x02'], false, false)::lockstep.segment)
        AS r
$$;
SELECT pg_temp.tell('100<0');
SELECT is(pg_temp.reject(1, 3), 'rejected 4', 'three records are rejected at once');
SELECT is((SELECT string_agg(concat_ws(' ', kafka_offset, seq, reason, detail, encode(raw, 'hex'), encode(key, 'hex'),
                                       header_names::text, cardinality(header_values)),
                             '; '
                             ORDER BY kafka_offset)
           FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()),
          '1 reason 0 detail 0 00ff 6b {a,a} 2; 2 1 reason 1 detail 1 6b; 3 2 reason 2 detail 2 00ff {b} 1',
          'each with what is its own');
SELECT is((SELECT string_agg(detail, '; ' ORDER BY event_id) FROM lockstep.event_log
           WHERE queue_id = pg_temp.q() AND event = 'message_rejected' AND run_no IS NOT NULL),
          'offset 1: reason 0: detail 0; offset 2: reason 1: detail 1; offset 3: reason 2: detail 2',
          'and a line in the event log, under the run that is open');
SELECT is(pg_temp.reject(2, 4), 'rejected 6', 'those that another executor has rejected are left out');
SELECT is((SELECT count(*) FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()), 5::bigint,
          'each is there once');
SELECT is(pg_temp.reject(2, 3), 'moved 6', 'all of them rejected before');
SELECT is(pg_temp.reject(7, 2, 7), 'behind 6', 'a cursor that went back');
UPDATE lockstep.queue SET paused = true WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.reject(6, 2), 'paused 6', 'a queue that is paused');

SELECT * FROM finish();
ROLLBACK;
