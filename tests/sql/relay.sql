-- The relay's bookkeeping (sql/functions/relay/): numbers are dense, and never given twice, also when rows come late
-- and when the database was set back.
BEGIN;
SELECT plan(12);
SET LOCAL client_min_messages = error;
SET LOCAL enable_seqscan = off; -- as in a session of the relay, whose plans are made while there is nothing to number
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL plan_cache_mode = force_generic_plan;
UPDATE pg_class SET reltuples = 0 WHERE oid = 'lockstep.outbox'::regclass; -- as vacuum left it

INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
CREATE FUNCTION pg_temp.q() RETURNS int LANGUAGE sql AS $$ SELECT queue_id FROM lockstep.queue WHERE name = 'q' $$;
CREATE FUNCTION pg_temp.put(value text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO lockstep.outbox (queue_id, kind, value) VALUES (pg_temp.q(), 'rejected', convert_to(value, 'UTF8'))
$$;
CREATE FUNCTION pg_temp.rows() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(convert_from(value, 'UTF8') || coalesce(relay_seq::text, '-'), ' '
                      ORDER BY relay_seq, outbox_id)
    FROM lockstep.outbox
$$;
CREATE FUNCTION pg_temp.relay() RETURNS text LANGUAGE sql AS $$
    SELECT format('last %s sent %s next %s', last_seq, sent_seq, next_offset) FROM lockstep.relay
$$;
INSERT INTO lockstep.relay (queue_id, kind) VALUES (pg_temp.q(), 'rejected');

SELECT is(lockstep.relay_number(pg_temp.q(), 'rejected', 10), 0::bigint, 'nothing to number');
SELECT pg_temp.put(v) FROM unnest('{a,b,c}'::text[]) AS v;
SELECT is(lockstep.relay_number(pg_temp.q(), 'rejected', 2), 2::bigint, 'at most so many');
SELECT is(pg_temp.rows(), 'a1 b2 c-', 'in the order of their ids');
SELECT is(lockstep.relay_sent(pg_temp.q(), 'rejected', 1, 5), 1::bigint, 'a row that is sent goes');
SELECT is(pg_temp.rows() || ', ' || pg_temp.relay(), 'b2 c-, last 2 sent 1 next 5', 'and is counted');
INSERT INTO lockstep.outbox (outbox_id, queue_id, kind, value) OVERRIDING SYSTEM VALUE
VALUES (-1, pg_temp.q(), 'rejected', 'z');
SELECT is(lockstep.relay_number(pg_temp.q(), 'rejected', 10), 4::bigint, 'a row that comes late');
SELECT is(pg_temp.rows(), 'b2 z3 c4', 'has a number behind those that are given');

-- The topic has b as 2, and 3 and 4 of a time that was undone.
SELECT is(lockstep.relay_settle(pg_temp.q(), 'rejected',
                                (SELECT array_agg(uid) FROM lockstep.outbox WHERE relay_seq = 2), 3, 9),
          1::bigint,
          'what is found on the topic');
SELECT is(pg_temp.rows() || ', ' || pg_temp.relay(), 'c4 z-, last 4 sent 3 next 9',
          'is done; a number that is taken there is given up');
SELECT lockstep.relay_number(pg_temp.q(), 'rejected', 10);
SELECT is(pg_temp.rows(), 'c4 z5', 'and another one is given');
SELECT throws_ok($$INSERT INTO lockstep.outbox (queue_id, kind, value) VALUES (pg_temp.q(), 'No.Topic', '')$$,
                 '23514', NULL, 'a kind is a word');

-- What numbering costs: each row is read a few times, how many there may be of this or of another kind.
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::bigint FROM pg_index i
    WHERE i.indrelid = 'lockstep.outbox'::regclass
$$;
INSERT INTO lockstep.outbox (queue_id, kind, value)
SELECT pg_temp.q(), k, '' FROM generate_series(1, 1500) AS n, unnest('{other,rejected}'::text[]) AS k;
CREATE TEMPORARY TABLE looked AS SELECT pg_temp.rows_read() AS before, 0::bigint AS newest;
UPDATE looked SET newest = lockstep.relay_number(pg_temp.q(), 'rejected', 500);
SELECT is((SELECT newest || CASE WHEN pg_temp.rows_read() - before < 2500 THEN ''
                                 ELSE format(', %s entries are read', pg_temp.rows_read() - before) END
           FROM looked),
          '505', 'many rows are numbered by a plan that was made for none');
SELECT * FROM finish();
ROLLBACK;
