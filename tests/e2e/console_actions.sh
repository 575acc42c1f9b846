#!/bin/bash
# Each action of the console's pages is done in the browser, and its effect is checked in the database, with the login
# and the reason.
# ctest: nosan long timeout=300
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings
export QUEUE HALTED REPLAYED GIVEN_UP JOB=nightly LATE=late DAILY=daily DOOMED=doomed ASKS=asks WATCH=backup STRAY \
    REJECTED WORK PAUSED CANCELLED FAILED ENDLESS=00000000-0000-4000-8000-000000000e4d MOVED HELD
QUEUE=$(scratch_name) HALTED=$(scratch_name) MOVED=$(scratch_name) REPLAYED=$(scratch_name) GIVEN_UP=$(scratch_name)
acts=$(scratch_name) stray=$(scratch_name)
person "$acts" 'lockstep_operator, lockstep_producer, pg_signal_backend'
person "$stray" lockstep_monitor

case_begin 'what an operator does on the pages happens'
lockstep queue create "$QUEUE" -q --create-topic --max-readers 20 --on-failure continue --runs concurrent \
    --max-attempts 1 >/dev/null
lockstep queue create "$HALTED" -q --create-topic >/dev/null
lockstep queue create "$MOVED" -q --create-topic >/dev/null
lockstep queue create "$GIVEN_UP" -q --create-topic >/dev/null
lockstep queue create "$REPLAYED" -q --create-topic --max-readers 4 >/dev/null
sql "UPDATE lockstep.queue SET halted_at = now(), halted_reason = 'topic_changed', halted_detail = 'it is another one'
    WHERE name = '$HALTED'"
HELD=$(lockstep publish --queue "$MOVED" -q - <<<'{"order": 1, "sql": "SELECT 1"}')
sql "UPDATE lockstep.queue SET halted_at = now(), halted_reason = 'other_server', halted_detail = 'it was restored'
    WHERE name = '$MOVED'"
publish() { lockstep publish --queue "$QUEUE" -q --name "$1" -; }
long='{"order": 1, "name": "long", "sql": "SELECT pg_sleep(600)"}'
WORK=$(printf '%s\n' "$long" '{"order": 2, "name": "later 1", "sql": "SELECT 1"}' \
    '{"order": 2, "name": "later 2", "sql": "SELECT 1"}' \
    '{"order": 2, "name": "later 3", "sql": "SELECT 1"}' | publish work)
PAUSED=$(publish paused <<<"$long")
CANCELLED=$(publish cancelled <<<"$long")
FAILED=$(publish failed <<<'{"order": 1, "sql": "SELECT 1 / 0"}')
for _ in 1 2; do publish bulk <<<"$long" >/dev/null; done
cat >"$tmp/jobs.json" <<JSON
{"jobs": [{"job": "nightly", "queue": "$QUEUE", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "day", "kind": "interval", "every": "24h"}]},
          {"job": "daily", "queue": "$QUEUE", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "two", "kind": "cron", "expr": "0 2 * * *", "zone": "UTC"}]},
          {"job": "doomed", "queue": "$QUEUE", "tasks": [{"order": 1, "sql": "SELECT 1"}]},
          {"job": "backup", "watch": true,
           "schedules": [{"name": "night", "kind": "cron", "expr": "0 3 * * *", "zone": "UTC"}]},
          {"job": "late", "queue": "$QUEUE", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "day", "kind": "interval", "every": "24h"}]}]}
JSON
lockstep job apply "$tmp/jobs.json" >/dev/null
sql >/dev/null <<SQL
CREATE FUNCTION public.busy() RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE SQLSTATE ''40001''; END'; -- tried again
SELECT lockstep.job_define('{"job": "asks", "queue": "$QUEUE", "enabled": false,
    "query": "SELECT public.busy() AS order, ''SELECT 1'' AS sql",
    "schedules": [{"name": "two", "kind": "cron", "expr": "0 2 * * *", "zone": "UTC"}]}');
SQL
sql <<SQL
SET session_replication_role = replica;
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, dispatcher,
                                     reason)
SELECT j.job_id, s.schedule_id, now() - interval '1 h', now() - interval '1 h', 'missed', 'schedule day', 'x',
       'no executor ran'
FROM lockstep.job j JOIN lockstep.schedule s USING (job_id) WHERE j.name = 'late';
INSERT INTO lockstep.job_alert (job, kind, seen_at, last_seen_at, opened_at)
VALUES ('late', 'missed', now(), now(), now());
SQL
sql "INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, made, reopened, reason)
    SELECT queue_id, 'all', 0, 9, 5, 3, 2, 'no one drives it' FROM lockstep.queue WHERE name = '$GIVEN_UP'"
lockstep publish --queue "$REPLAYED" -q - < <(for order in 10:6 20:300 30:12; do
    for ((i = 0; i < ${order#*:}; i++)); do echo '{"order": '"${order%:*}"', "sql": "SELECT 1"}'; done
done) >/dev/null
lockstep executor run --queue "$QUEUE" --queue "$REPLAYED" --readers 12 >/dev/null 2>"$tmp/executor.log" &
eventually 60 is "SELECT count(*) FROM lockstep.task WHERE name = 'long' AND status = 'Processing'" 5
eventually 60 is "SELECT status FROM lockstep.run WHERE run_id = '$FAILED'" PartiallyCompleted
eventually 60 is "SELECT count(*) FROM lockstep.task WHERE name LIKE 'later%'" 3
echo '{"ordr": 7}' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$QUEUE" -p 0
eventually 60 is 'SELECT count(*) FROM lockstep.rejected' 1
REJECTED=$(sql 'SELECT rejected_id FROM lockstep.rejected')
sql <<SQL
INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
SELECT queue_id, 1000000 + n, 'hole', 'd', convert_to('{"order": ' || n || ', "sql": "SELECT 1"}', 'UTF8')
FROM lockstep.queue, generate_series(1, 2) AS n WHERE name = '$QUEUE'
SQL
printf '{"run": "%s", "seq": 0, "previous_order": 0, "order": 1, "sql": "SELECT 1"}\n' "$ENDLESS" |
    kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$QUEUE" -p 0
eventually 60 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$ENDLESS' AND t.status = 'Completed'" 1
eventually 60 is \
    "SELECT r.status FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$REPLAYED'" Completed
LOCKSTEP_PROBE=replay.step=kill@2 "${LOCKSTEP_BIN}-probed" replay -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
    --queue "$REPLAYED" --from-offset earliest --to-offset latest --mode all \
    --execute --reason 'again' >/dev/null 2>&1 || :
expect 'a replay was interrupted' \
    "$(sql "SELECT state, cursor < to_offset FROM lockstep.replay WHERE reason = 'again'")" 'Running|t'
slot=$(sql 'SELECT min(slot_id) FROM lockstep.slot WHERE executor_no IS NULL')
PGPASSWORD="secret of $stray" "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db user=$stray" \
    -c "SELECT pg_advisory_lock(1280507906, $slot)" \
    -c 'SELECT pg_sleep(600)' >/dev/null 2>"$tmp/stray" &
eventually 20 is "SELECT count(*) FROM pg_stat_activity WHERE usename = '$stray' AND query LIKE '%pg_sleep%'" 1 ||
    cat "$tmp/stray"
STRAY=$(sql "SELECT pid FROM pg_stat_activity WHERE usename = '$stray'")
console_start -b "$LOCKSTEP_TEST_BROKERS"
browser_run actions.mjs "$url" "$acts"
cases_end
exit $failed
