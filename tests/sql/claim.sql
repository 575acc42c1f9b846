-- The claim (sql/functions/claim/claim.sql): the fate of each message. protocol.inc explains how messages and
-- answers are written.
BEGIN;
SELECT plan(128);
\ir protocol.inc

-- The implicit run, row by row of the table in docs/reference/message.md: c is the order of its newest phase, q the one
-- before.
SELECT is(pg_temp.tell('200<100'), 'hole', 'none open, previous_order > 0: hole');
SELECT is((SELECT count(*) FROM lockstep.run WHERE queue_id = pg_temp.q()), 0::bigint, 'a hole opens no implicit run');
SELECT is(pg_temp.tell('200<100 100<0'), 'hole i1:100+', 'after a hole the next first phase opens a run');
SELECT is(pg_temp.tell('100<0'), 'i1:100+',
          'none open, previous_order 0: opens a run, whose first phase is open at once');
SELECT is(pg_temp.tell('100<0 100<0'), 'i1:100+ i1:100+', 'order c, previous q: the same phase, also the first one');
SELECT is(pg_temp.tell('100<0 200<0'), 'i1:100+ i2:200-',
          'previous_order 0 and another, higher order: a new run, which waits');
SELECT is(pg_temp.tell('100<0 50<0'), 'i1:100+ i2:50-',
          'previous_order 0 and another, lower order: a new run, which waits');
SELECT is(pg_temp.tell('100<0 200<100 200<0'), 'i1:100+ i1:200- i2:200-',
          'previous_order 0, order c, q not 0: a new run');
SELECT is(pg_temp.tell('100<0 200<100 100<0'), 'i1:100+ i1:200- i2:100-', 'the same pipeline again: a new run');
SELECT is(pg_temp.tell('100<0 200<100 200<100'), 'i1:100+ i1:200- i1:200-', 'order c, previous q: the same phase');
SELECT is(pg_temp.tell('100<0 200<100 300<200 300<100'), 'i1:100+ i1:200- i1:300- contradiction',
          'order c, another previous: contradiction');
SELECT is(pg_temp.tell('100<0 100<50'), 'i1:100+ contradiction', 'also in the first phase');
SELECT is(pg_temp.tell('100<0 200<100 300<200'), 'i1:100+ i1:200- i1:300-', 'previous c, order > c: the next phase');
SELECT is(pg_temp.tell('100<0 200<100 300<200 150<100'), 'i1:100+ i1:200- i1:300- late', 'an order below c: late');
SELECT is(pg_temp.tell('100<0 200<100 300<200 200<100'), 'i1:100+ i1:200- i1:300- late',
          'a phase that is closed: late');
SELECT is(pg_temp.tell('100<0 300<200'), 'i1:100+ hole', 'anything else: hole');
SELECT is(pg_temp.tell('100<0 300<50'), 'i1:100+ hole', 'a previous_order below c that is not the last phase: hole');
SELECT is(pg_temp.tell('100<0 300<200 200<100'), 'i1:100+ hole i1:200-',
          'a rejected message changes nothing for the next');
SELECT is(pg_temp.tell('100<0 end 100<0'), 'i1:100+ ended i2:100-', 'end separates two equal one-phase runs');
SELECT is(pg_temp.tell('end'), 'hole', 'an end when none is open: hole');
SELECT is(pg_temp.tell('100<0 end end'), 'i1:100+ ended hole', 'a second end: hole');
SELECT is(pg_temp.tell('100<0 end 200<100'), 'i1:100+ ended hole', 'after an end no next phase: hole');
SELECT is((SELECT array_agg(end_offset ORDER BY run_no) FROM lockstep.run WHERE queue_id = pg_temp.q()), '{1}',
          'the end is noted in the run');
SELECT pg_temp.tell('100<0 50<0');
SELECT is((SELECT array_agg(end_offset ORDER BY run_no) FROM lockstep.run WHERE queue_id = pg_temp.q()), '{1,NULL}',
          'a run that is closed by the next one has its end there');
SELECT is((SELECT after_run_no FROM lockstep.run WHERE queue_id = pg_temp.q() ORDER BY run_no DESC LIMIT 1),
          (SELECT min(run_no) FROM lockstep.run WHERE queue_id = pg_temp.q()), 'and is waited for by it');
SELECT is((SELECT run_id FROM lockstep.run WHERE queue_id = pg_temp.q() ORDER BY run_no DESC LIMIT 1),
          md5(pg_temp.q() || ':1')::uuid, 'the name of an implicit run comes from its first offset');

-- Runs with a UUID.
SELECT is(pg_temp.tell('A0:100<0 A1:100<0 A2:200<100 A3:200<100 A4:300<200'), 'A:100+ A:100+ A:200- A:200- A:300-',
          'same phase, next phase');
SELECT is(((r).tasks, (r).phases, (r).next_seq, (r).last_order, (r).last_previous_order)::text, '(5,3,5,300,200)',
          'the run counts what it got') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0:100<0 A1:100<50'), 'A:100+ contradiction', 'a run: contradiction');
SELECT is(pg_temp.tell('A0:100<0 A1:300<200'), 'A:100+ hole', 'a run: hole');
SELECT is(pg_temp.tell('A0:100<0 A1:200<0'), 'A:100+ hole', 'a run has one first phase: hole');
SELECT is(pg_temp.tell('A0:100<0 A1:200<100 A2:100<0'), 'A:100+ A:200- late', 'a run: late');
SELECT is(pg_temp.tell('A0:200<100'), 'hole', 'a run that begins with a hole');
SELECT is(((r).rejected, (r).status, (r).next_seq)::text, '(1,Running,1)', 'it is known, with one rejected message')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:200<100 A1:100<0 A2:end(2,1)'), 'hole A:100+ ended',
          'and goes on with its first phase under continue');
SELECT is((r).error, '1 message(s) rejected', 'a rejected message and the end''s counts agree')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0:100<0 A1:300<200 A2:100<0 A3:200<100'), 'A:100+ hole A:100+ A:200~',
          'under stop a rejected message cancels the phases after the one that was being filled');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:300<200 A2:200<100'),
          'A:100+ hole A:200-', 'under continue it does not');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'pause'), 'A0:100<0 A1:300<200 A2:200<100'), 'A:100+ hole A:200-',
          'under pause it is claimed');
SELECT is((r).status, 'Paused', 'and the run is paused') FROM pg_temp.run('A') AS r;

-- The sequence: duplicates.
SELECT is(pg_temp.tell('A0:100<0 A0:100<0'), 'A:100+ duplicate', 'a repeat is a duplicate');
SELECT is((r).rejected, 0::bigint, 'which does not count as failed') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0..2:100<0 A1..4:100<0'), 'A:100x3+ duplicate A:100x2+',
          'a segment whose first part is a duplicate');
SELECT is((SELECT array_agg((kafka_offset, seq, convert_from(raw, 'UTF8'))::text ORDER BY kafka_offset)
           FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()),
          ARRAY[$$(3,1,"{""sql"": ""SELECT 3""}")$$, $$(4,2,"{""sql"": ""SELECT 4""}")$$],
          'one row for each duplicate, with its bytes');
SELECT is((SELECT array_agg((kafka_offset, seq)::text ORDER BY kafka_offset) FROM lockstep.task
           WHERE queue_id = pg_temp.q()),
          ARRAY['(0,0)', '(1,1)', '(2,2)', '(5,3)', '(6,4)'], 'one task for each of the others');
SELECT is(pg_temp.tell('A0..1:100<0 A0..1:100<0 A2:end(2,1)'), 'A:100x2+ duplicate ended',
          'a whole segment of duplicates');
SELECT is((r).error, NULL, 'duplicates do not count in the end') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0:100<0 A1:200<100 A0:100<0 A2:200<100'), 'A:100+ A:200- duplicate A:200-',
          'a repeat of an older phase is a duplicate, not late');
SELECT is(pg_temp.tell('A0:100<0 A1:end(1,1) A1:end(1,1)'), 'A:100+ ended duplicate',
          'a repeat of the end is a duplicate');

-- The sequence: loss.
SELECT is(pg_temp.tell('A0:100<0 A1:200<100 A3:200<100 A4:300<200'), 'A:100+ A:200- A:200~ A:300~',
          'a gap is loss: nothing after it is run');
SELECT is(((r).stop_after, (r).error)::text, '(0,"messages are lost: after seq 1 came seq 3 (offset 2)")',
          'the run says which')
FROM pg_temp.run('A') AS r;
SELECT is((SELECT array_agg(status::text ORDER BY kafka_offset) FROM lockstep.task WHERE queue_id = pg_temp.q()),
          ARRAY['Pending', 'Cancelled', 'Cancelled', 'Cancelled'],
          'claimed phases that were not open are cancelled, too');
SELECT is((SELECT count(*) FROM lockstep.phase WHERE queue_id = pg_temp.q() AND done_at IS NULL), 1::bigint,
          'only the open phase is not done');
SELECT is(pg_temp.tell('A0:100<0 A3:end(1,1)'), 'A:100+ ended', 'a gap before the end');
SELECT is((r).stop_after, 0::bigint, 'is loss, too') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A2:100<0'), 'A:100+ A:100~',
          'loss stops the run whatever its policy');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A2:300<200 A3:400<300 A4:end(5,4)'),
          'A:100+ hole hole ended', 'a whole phase is missing: what follows has no place');
SELECT is(((r).stop_after, (r).error, (r).rejected)::text,
          '(0,"messages are lost: after seq 0 came seq 2 (offset 1)",2)', 'and it is loss all the same')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A1:100<0'), '[halted]', 'an unknown run that does not begin with 0 halts the queue');
SELECT is((SELECT (halted_reason, next_offset, halted_at IS NOT NULL)::text FROM lockstep.queue
           WHERE queue_id = pg_temp.q()),
          '(unknown_run,0,t)',
          'the cursor stays before it');
SELECT matches((SELECT note FROM said ORDER BY n DESC LIMIT 1), '^offset 0 belongs to run 0.*65, .* seq 1 and not 0',
               'the note says so');
SELECT is(pg_temp.tell(pg_temp.q(), 'B0:100<0'), '[halted]', 'then nothing is claimed');
SELECT is(pg_temp.again('NULL', 'A1:100<0 A2:200<100 B0:100<0'), 'A:100~ A:200~ B:100-',
          'accepted as it is, the record halts it no more: the run has lost its beginning');
SELECT is((r).error, 'messages are lost: the run begins with seq 1 (offset 0)', 'and says so')
FROM pg_temp.run('A') AS r;

-- The cursor is set back by a person: the same offsets again, in another epoch.
SELECT is(pg_temp.tell('100<0 300<200 200<100 ! A0:100<0'), 'i1:100+ hole i1:200- bad_json A:100-', 'a first reading');
SELECT is(pg_temp.again('0', '100<0 300<200 200<100 ! A0:100<0'), 'i2:100+ hole i2:200- bad_json duplicate',
          'a second one');
SELECT is(pg_temp.again('0', '100<0 300<200 200<100 ! A0:100<0'), 'i3:100+ hole i3:200- bad_json duplicate', 'a third');
SELECT is((SELECT array_agg((epoch, kafka_offset, reason)::text ORDER BY epoch, kafka_offset)
           FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()),
          ARRAY['(0,1,hole)', '(0,3,bad_json)', '(1,1,hole)', '(1,3,bad_json)', '(1,4,duplicate)', '(2,1,hole)',
                '(2,3,bad_json)', '(2,4,duplicate)'],
          'each has its rejected rows');
SELECT is((SELECT count(DISTINCT run_id) FROM lockstep.run WHERE queue_id = pg_temp.q() AND implicit), 3::bigint,
          'and its implicit runs');
SELECT is(pg_temp.again('0', '200<100'), 'hole', 'the implicit run of an earlier epoch is not gone on with');
SELECT is(pg_temp.tell('100<0'), 'i1:100+', 'an open implicit run');
SELECT is(pg_temp.again('0', '100<0 200<100'), 'i2:100+ i2:200-',
          'of an earlier epoch is closed by the first message of this one');
SELECT is((SELECT count(*) FROM lockstep.run WHERE queue_id = pg_temp.q() AND end_offset IS NULL), 1::bigint,
          'so that one is open');

-- Rejected records account for a gap.
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 ! A2:100<0 A3:end(3,1)'),
          'A:100+ bad_json A:100+ ended', 'of an unreadable run');
SELECT is(((r).rejected, (r).tasks, (r).stop_after)::text, '(1,2,)', 'counted once') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:! A2:100<0 A3:end(3,1)'),
          'A:100+ bad_json A:100+ ended', 'of a readable run');
SELECT is(((r).rejected, (r).tasks, (r).stop_after)::text, '(1,2,)', 'counted once') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0:100<0 ! A2:200<100'), 'A:100+ bad_json A:200~', 'under stop the next phase is cancelled');
SELECT is(pg_temp.tell('! A1:100<0'), 'bad_json A:100~',
          'the first message was unreadable: the policy decides before the first phase');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), '! A1:100<0'), 'bad_json A:100+',
          'under continue it runs');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:! A1:100<0'), 'bad_json A:100+',
          'likewise when its run could be read');
SELECT is((r).rejected, 1::bigint, 'counted once') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0:100<0 ! A3:100<0'), 'A:100+ bad_json A:100~', 'a gap of two and one rejected record: loss');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue', runs => 'concurrent'),
                       'A0:100<0 B0:100<0 ! A2:100<0 B2:100<0'),
          'A:100+ B:100+ bad_json A:100+ B:100~', 'one rejected record accounts for one gap');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 ! A0:100<0 A2:100<0'),
          'A:100+ bad_json duplicate A:100+', 'a duplicate in between changes nothing');
SELECT is(pg_temp.tell('A0:100<0 ! A2:end(2,1) B1:100<0'), 'A:100+ bad_json ended [halted]',
          'an old rejected record does not stand for the beginning of a new run');
SELECT is(pg_temp.tell('! A2:100<0'), 'bad_json [halted]', 'an unknown run with one rejected record and seq 2: halted');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 ! A1:100<0 A3:100<0'),
          'A:100+ bad_json A:100+ A:100~',
          'a rejected record before the last good message of the run accounts for nothing after it');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue', runs => 'concurrent'),
                       'A0:100<0 B0:100<0 ! A1:100<0 B2:100<0'),
          'A:100+ B:100+ bad_json A:100+ B:100+', 'runs that interleave: the record was of the run that misses one');
SELECT is(pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 ! A2:! A3:100<0'),
          'A:100+ bad_json bad_json A:100+',
          'an unreadable and a readable one account for two');
SELECT is((r).rejected, 2::bigint, 'each counted once') FROM pg_temp.run('A') AS r;

SELECT is((SELECT array_agg((kafka_offset, seq, reason, detail, raw, key)::text ORDER BY kafka_offset)
           FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()),
          ARRAY['(1,,bad_json,"no object","\\x00ff","\\x6b")', '(2,2,bad_json,"no object","\\x00ff","\\x6b")'],
          'rejected records keep their raw bytes and key');

-- The end.
SELECT is(pg_temp.tell('A0:end(0,0)'), 'ended=Completed', 'an empty run');
SELECT is(pg_temp.tell('A0:100<0 A1:end(1,1)'), 'A:100+ ended', 'an end while a task is unfinished');
SELECT is(((r).end_offset, (r).stop_after, (r).ended_at IS NULL)::text, '(1,,t)', 'is noted')
FROM pg_temp.run('A') AS r;
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:end(3,2)');
SELECT is(((r).stop_after, (r).error)::text, '(0,"the end counts 3 tasks in 2 phases, there were 2 in 2")',
          'wrong count of tasks')
FROM pg_temp.run('A') AS r;
SELECT is((SELECT string_agg(status::text, ' ' ORDER BY kafka_offset) FROM lockstep.task
           WHERE queue_id = pg_temp.q()),
          'Pending Cancelled', 'what waits is cancelled');
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:end(2,3)');
SELECT is((r).error, 'the end counts 2 tasks in 3 phases, there were 2 in 2', 'wrong count of phases')
FROM pg_temp.run('A') AS r;
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:abort');
SELECT is(((r).stop_after, (r).aborted, (r).error)::text, '(0,t,"aborted by its producer")', 'an aborted end')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.tell('A0:abort'), 'ended=Failed', 'an aborted empty run has failed');
SELECT is(pg_temp.tell('A0:100<0 A1:end(1,1) A2:100<0 A3:200<100'), 'A:100+ ended late late',
          'messages after the end are late');
SELECT is((r).rejected, 0::bigint, 'and change nothing of the run') FROM pg_temp.run('A') AS r;

-- Runs among each other.
SELECT is(pg_temp.tell('A0:100<0 A1:end(1,1) B0:100<0 B1:200<100'), 'A:100+ ended B:100- B:200-',
          'serial: the second run waits for the first');
SELECT is(pg_temp.tell(pg_temp.queue(runs => 'concurrent'), 'A0:100<0 A1:end(1,1) B0:100<0 B1:200<100'),
          'A:100+ ended B:100+ B:200-', 'concurrent: it does not');
SELECT is(pg_temp.tell(pg_temp.queue(runs => 'concurrent'), '100<0 50<0'), 'i1:100+ i2:50-',
          'implicit runs are serial also there');
SELECT is(pg_temp.tell('A0:end(0,0) B0:100<0'), 'ended=Completed B:100+',
          'a run after one that has ended waits for nobody');
SELECT is(pg_temp.tell('A0:100<0 A1:end(1,1) B0:end(0,0) C0:100<0'), 'A:100+ ended ended=Completed C:100-',
          'serial: a run waits for every run before it, also behind an empty one');
SELECT is(pg_temp.tell('A0:100<0 A1:end(1,1) B0:100<0 B1:abort C0:100<0'), 'A:100+ ended B:100- ended=Failed C:100-',
          'and behind one that was cancelled whole');

-- A row made by the producer is taken over: name and policy are its own.
SELECT pg_temp.queue();
INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, published_at)
VALUES (pg_temp.run_of('A'), pg_temp.q(), 'nightly', 'continue', 'Publishing', now());
SELECT is(pg_temp.tell(pg_temp.q(), 'A0:100<0'), 'A:100+', 'a run that its producer has registered');
SELECT is(((r).name, (r).on_failure, (r).status, (r).first_offset)::text, '(nightly,continue,Running,0)',
          'keeps name and policy')
FROM pg_temp.run('A') AS r;
SELECT is((SELECT count(*) FROM lockstep.run WHERE queue_id = pg_temp.q()), 1::bigint, 'there is one row');

-- What is written: the task rows, the cursor and its fingerprint.
SELECT pg_temp.queue();
UPDATE lockstep.queue SET max_attempts = 4 WHERE queue_id = pg_temp.q();
SELECT pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 100, 0, '{5,8}', '{0,1}', attempts => '{NULL,9}',
                     digest => '\xabcd');
SELECT results_eq($$ SELECT t.kafka_offset, t.seq, t.max_attempts, t.attempt_num, t.executor_no, t.payload, t.name,
                            t.traceparent, t.status::text,
                            t.task_id = s.task_ids[t.seq + 1] AND t.token = s.tokens[t.seq + 1]
                     FROM lockstep.task t JOIN said s USING (phase_id) WHERE t.queue_id = pg_temp.q() ORDER BY 1 $$,
                  $$ VALUES (5::bigint, 0::bigint, 4, 1, 1, '{"sql": "SELECT 5"}', 'name 5', '00-trace', 'Pending',
                             true),
                            (8, 1, 9, 1, 1, '{"sql": "SELECT 8"}', 'name 8', '00-trace', 'Pending', true) $$,
                  'tasks are as they came, the caller''s, with ids and tokens in order; '
                  'max_attempts is its own or the queue''s');
SELECT is((SELECT (next_offset, last_offset, last_timestamp, last_digest)::text FROM lockstep.queue
           WHERE queue_id = pg_temp.q()),
          '(9,8,1008,"\\xabcd")', 'the cursor is past the last record, whose fingerprint is kept');

-- Not now.
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 100, 0, '{8}', '{1}'), 'moved',
          'a segment that others have claimed');
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 100, 0, '{12}', '{2}', buffer_from => 10), 'behind',
          'a buffer that begins after the cursor');
SELECT pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 100, 0, '{8,9,10}', '{1,2,3}');
SELECT is((SELECT (verdict, cardinality(task_ids))::text FROM said ORDER BY n DESC LIMIT 1), '(claimed,2)',
          'others have claimed the head of the segment: the rest of it');
UPDATE lockstep.queue SET paused = true WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.tell(pg_temp.q(), 'A4:100<0'), '[paused]', 'a paused queue');
UPDATE lockstep.queue SET paused = false, lookahead = 2 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.tell(pg_temp.q(), 'A4:200<100 A5:300<200 A6:400<300'), 'A:200- A:300- [lookahead]',
          'as many phases wait as may');
SELECT is(pg_temp.tell(pg_temp.q(), 'A6:300<200'), 'A:300-', 'more of the last phase is welcome');
SELECT is((SELECT (next_offset, last_order)::text FROM lockstep.queue JOIN lockstep.run USING (queue_id)
           WHERE queue_id = pg_temp.q()),
          '(14,300)',
          'a refusal has moved nothing');
UPDATE lockstep.queue SET lookahead = 5 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 400, 300, '{14}', '{7}', held => '{}',
                        stretches => true),
          'others',
          'while the last phase waits the next one is for who has it');
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 300, 200, '{14}', '{7}', held => '{}',
                        stretches => true),
          'claimed',
          'of the last one others may have tasks, too');
UPDATE lockstep.queue SET runs = 'concurrent' WHERE queue_id = pg_temp.q();
SAVEPOINT before;
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 400, 300, '{15}', '{8}', held => '{}',
                        stretches => true),
          'claimed',
          'not where another run may be behind it');
ROLLBACK TO before;
UPDATE lockstep.queue SET runs = 'serial' WHERE queue_id = pg_temp.q();
UPDATE lockstep.task SET executor_no = NULL WHERE queue_id = pg_temp.q() AND "order" = 300;
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 400, 300, '{15}', '{8}', held => '{}',
                        stretches => true),
          'claimed',
          'what nobody owns nobody opens, but for who has the next one');
ROLLBACK TO before;
UPDATE lockstep.queue SET runs = 'serial' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 400, 300, '{15}', '{8}', stretches => true),
          'claimed', 'who has it goes on');
UPDATE lockstep.phase SET opened_at = now() WHERE queue_id = pg_temp.q() AND "order" = 400;
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 500, 400, '{16}', '{9}', held => '{}',
                        stretches => true),
          'claimed',
          'when it is open the next one is anybody''s');
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('B'), 100, 0, '{17}', '{0}', held => '{}',
                        stretches => true),
          'claimed', 'a run begins with anybody');
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('B'), 200, 100, '{18}', '{1}', held => '{}'), 'claimed',
          'so do long tasks with any phase');

SELECT * FROM finish();
ROLLBACK;
