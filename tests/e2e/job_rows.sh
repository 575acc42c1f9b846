#!/bin/bash
# Jobs that fire when rows wait in a table, with SQL of users that runs as the tasks' login: each row is loaded once, by
# the run that owns it, while executors are killed at each step of a look and a firing. A look that never ends, or that
# writes, keeps no other job.
# ctest: slow nosan timeout=240 long
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks
e2e_roles=("$tasks")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE TABLE staging (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                      came timestamptz NOT NULL DEFAULT clock_timestamp(), batch uuid, marked_by text);
CREATE INDEX ON staging (came) WHERE batch IS NULL;
CREATE TABLE loaded (id bigint, run uuid);
GRANT SELECT, INSERT, UPDATE ON staging, loaded TO $tasks
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
login=(-s "postgres.task_conninfo=$db user=$tasks")
executor() { # LOG [BINARY]
    : >"$1"
    "${2:-$LOCKSTEP_BIN}" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 "${login[@]}" \
        --set executor.frozen_after=2s 2>>"$1" &
    pid=$!
}
cat >"$tmp/jobs.json" <<END
{"jobs": [{"job": "load", "queue": "$q",
           "query": "SELECT 1 AS \"order\", 'INSERT INTO loaded SELECT id, batch FROM staging WHERE batch = \$1 AND id = \$2' AS sql, jsonb_build_array(\${run}, id) AS params FROM staging WHERE batch = \${run} ORDER BY id",
           "trigger": {"on": "public.staging", "pending": "batch IS NULL", "created_column": "came",
                       "check_every": "1s", "threshold": 20, "new_rows": true, "debounce": "1s",
                       "mark": "UPDATE staging SET batch = \${run}, marked_by = current_user WHERE batch IS NULL"}}]}
END

case_begin 'a job whose SQL cannot run is refused before anything is stored'
apply() { lockstep job apply - "${login[@]}" <<<"$1" 2>&1 || true; }
broken() { jq -c "$1" "$tmp/jobs.json"; }
said=$(apply "$(broken '.jobs[0].trigger.pending = "no_such_column = 1"')")
grep -q 'load: trigger.pending.*no_such_column' <<<"$said" || wrong "a condition that cannot run: $said"
said=$(apply "$(broken '.jobs[0].query = "SELECT 1 FROM lockstep.task"')")
grep -q 'load: query.*permission denied' <<<"$said" || wrong "a query that the tasks' login may not run: $said"
said=$(apply "$(broken '.jobs[0].query = "SELECT 1; SELECT 2"')")
grep -q 'load: query.*syntax error' <<<"$said" || wrong "two statements: $said"
expect 'jobs that were refused' "$(lockstep job list -o csv | wc -l)" 1

case_begin 'job test counts the rows that wait'
lockstep job apply "$tmp/jobs.json" "${login[@]}" -q
sql 'INSERT INTO staging SELECT FROM generate_series(1, 5)'
expect 'the test button looks' \
    "$(lockstep job test load "${login[@]}" -o json | jq -c '.[] | [.pending_rows, .advice]')" '[5,null]'

case_begin 'each row is loaded once, by the run that owns it, though executors are killed at each step or stand still'
while :; do sql 'INSERT INTO staging SELECT FROM generate_series(1, 3)' >/dev/null 2>&1; sleep 0.2; done & feeder=$!
for point in dispatch.send@3 dispatch.done@4 ask.send ask.done ask.send@2 ask.done@2 ask.send@3 ask.done@3; do
    LOCKSTEP_PROBE=$point=kill LOCKSTEP_PROBE_DIR=$tmp executor "$tmp/$point.log" "${LOCKSTEP_BIN}-probed"
    status=0
    wait "$pid" || status=$?
    expect "killed at $point" "$status" 137
done
# One that stands still in the midst of a firing is ended by the other.
LOCKSTEP_PROBE=ask.send@2=stop LOCKSTEP_PROBE_DIR=$tmp executor "$tmp/frozen.log" "${LOCKSTEP_BIN}-probed"
frozen=$pid
eventually 30 stopped "$frozen" || wrong 'it does not stand still'
before=$(sql 'SELECT count(*) FROM loaded')
executor "$tmp/other.log"
other=$pid
grows() { [ "$(sql 'SELECT count(*) FROM loaded')" -gt $((before + 30)) ]; }
eventually 60 grows || wrong 'the other one does not take over'
kill -CONT "$frozen"
kill "$feeder"
wait "$feeder" || true
all_loaded() { is 'SELECT count(*) FROM staging s WHERE NOT EXISTS (SELECT FROM loaded l WHERE l.id = s.id)' 0; }
eventually 60 all_loaded || wrong "rows that were not loaded: $(sql 'SELECT count(*) FROM staging s
    WHERE NOT EXISTS (SELECT FROM loaded l WHERE l.id = s.id)')"
jobs_tell KILL "$frozen"
wait "$frozen" || true
expect 'rows that were loaded twice' "$(sql 'SELECT count(*) - count(DISTINCT id) FROM loaded')" 0
expect 'rows loaded by a run that does not own them' \
    "$(sql 'SELECT count(*) FROM loaded l JOIN staging s USING (id) WHERE l.run <> s.batch')" 0
expect 'marks of another login' "$(sql "SELECT count(*) FROM staging WHERE marked_by <> '$tasks'")" 0
expect 'batches without an occurrence' "$(sql "SELECT count(*) FROM (SELECT DISTINCT batch FROM staging
    WHERE batch NOT IN (SELECT run_id FROM lockstep.occurrence WHERE outcome = 'fired'))
        AS x")" 0
expect 'occurrences without rows' "$(sql "SELECT count(*) FROM lockstep.occurrence o
    WHERE o.outcome = 'fired' AND o.rows <> (SELECT count(*) FROM staging WHERE batch = o.run_id)")" 0
expect 'errors' "$(sql "SELECT string_agg(DISTINCT message, '; ') FROM lockstep.job_log WHERE event = 'error'")" ''
grep event=job_fired "$tmp/other.log" >"$tmp/fired" || wrong 'no firing is logged'
nameless=$(grep -vcE ' job=load schedule=[^ ]+ scheduled_for=.* run=[0-9a-f-]{36}' "$tmp/fired" || true)
expect 'firings of which the log does not name the job' "$nameless" 0
expect 'what started them' \
    "$(sql "SELECT count(*) FROM lockstep.run WHERE started_by !~ '^trigger: [0-9]+[+]? rows?[ ,]'")" 0

case_begin 'a job that is started by hand loads its rows as the login of the tasks'
sql 'INSERT INTO staging SELECT FROM generate_series(1, 2)'
lockstep job disable load -q
eventually 30 is "SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL" 0
run=$(lockstep job run load "${login[@]}" -o csv | sed -n 's/^\([0-9a-f-]*\),.*/\1/p' | tail -1)
expect 'who started it' "$(sql "SELECT started_by FROM lockstep.run WHERE run_id = '$run'")" 'manual by lockstep_test'
expect 'its rows' "$(sql "SELECT count(*) FROM staging WHERE batch = '$run'")" 2
eventually 30 all_loaded || wrong 'the rows of the run by hand are not loaded'

case_begin 'job test names the way to try a query that locks rows' # REMEDY_JOB_RUN
lockstep job apply - "${login[@]}" -q <<END
{"job": "locks", "queue": "$q",
 "query": "SELECT 1 AS \\"order\\", 'SELECT 1' AS sql FROM staging ORDER BY id LIMIT 1 FOR UPDATE"}
END
said=$(lockstep job test locks "${login[@]}" 2>&1) && wrong 'job test locks a row'
[[ $said == *'read-only transaction'*'To see the tasks: lockstep job run locks'* ]] || wrong "job test: $said"
run=$(lockstep job run locks "${login[@]}" -o json | jq -r '.. | .run_id? // empty' | head -n 1)
expect 'the run of the remedy' "$(sql "SELECT name FROM lockstep.run WHERE run_id = '$run'")" locks
lockstep job delete locks -q

case_begin 'a row in a watched table starts its job at once'
lockstep job set load -q \
    --change '{"enabled": true,
               "trigger": {"on": "public.staging", "pending": "batch IS NULL", "check_every": "1h", "threshold": 1,
                           "mark": "UPDATE staging SET batch = ${run} WHERE batch IS NULL"}}'
looked() { is "SELECT (look).rows FROM lockstep.schedule" 0; }
eventually 30 looked || wrong 'the trigger is not looked at'
sql "SELECT lockstep.watch_table('staging')"
PGOPTIONS='' psql -X -q -d "$db user=$tasks" -c 'INSERT INTO staging DEFAULT VALUES'
eventually 30 all_loaded || wrong 'a table that is watched is not looked at'

case_begin 'rows that come while a look is out are looked at, too'
kill -TERM "$other"
wait "$other"
lockstep job set load -q \
    --change '{"trigger": {"on": "public.staging", "pending": "batch IS NULL", "check_every": "1h", "threshold": 1,
                           "mark": "UPDATE staging SET batch = ${run} WHERE batch IS NULL"}}'
mkdir "$tmp/look"
LOCKSTEP_PROBE=ask.done=hold LOCKSTEP_PROBE_DIR=$tmp/look executor "$tmp/look.log" "${LOCKSTEP_BIN}-probed"
other=$pid
eventually 30 test -f "$tmp/look/ask.done.hit" || wrong 'the trigger is not looked at'
came=$(sql 'INSERT INTO staging DEFAULT VALUES RETURNING clock_timestamp()')
heard() {
    is "SELECT query_start > '$came' FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lockstep/dispatcher'" t
}
eventually 30 heard || wrong 'the dispatcher does not hear of the rows'
touch "$tmp/look/ask.done.go"
eventually 30 all_loaded || wrong 'rows that came while a look was out wait for the next one'

case_begin 'rows of a transaction that is open while the table is looked at are looked at when it has ended'
kill -TERM "$other"
wait "$other"
lockstep job set load -q \
    --change '{"trigger": {"on": "public.staging", "pending": "batch IS NULL", "check_every": "1h", "threshold": 1,
                           "mark": "UPDATE staging SET batch = ${run} WHERE batch IS NULL"}}'
exec {writer}> >(exec psql -X -q -d "$db")
echo 'BEGIN; INSERT INTO staging DEFAULT VALUES;' >&"$writer" # its look is due: the statement keeps silent
wrote() {
    is "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'" 1
}
eventually 30 wrote || wrong 'the transaction is not open'
before=$(sql 'SELECT (look).at FROM lockstep.schedule')
looked_again() {
    is "SELECT (look).rows = 0 AND (look).at > COALESCE(nullif('$before', '')::timestamptz, '-infinity')
        FROM lockstep.schedule" t
}
executor "$tmp/open.log"
other=$pid
eventually 30 looked_again || wrong 'the trigger is not looked at'
echo 'COMMIT;' >&"$writer"
exec {writer}>&-
eventually 30 all_loaded || wrong 'rows of a transaction that was open wait for the next look'

case_begin 'rows of a transaction that sees only what was before it are looked at when it has ended'
kill -TERM "$other"
wait "$other"
lockstep job set load -q \
    --change '{"trigger": {"on": "public.staging", "pending": "batch IS NULL", "check_every": "2h", "threshold": 1,
                           "mark": "UPDATE staging SET batch = ${run} WHERE batch IS NULL"}}'
exec {writer}> >(exec psql -X -q -d "$db")
# It sees that a look is due, for as long as it lasts.
echo 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM staging LIMIT 0;' >&"$writer"
eventually 30 wrote || wrong 'the transaction is not open'
before=$(sql 'SELECT (look).at FROM lockstep.schedule')
LOCKSTEP_PROBE=dispatch.send@60=kill LOCKSTEP_PROBE_DIR=$tmp executor "$tmp/older.log" "${LOCKSTEP_BIN}-probed"
other=$pid
eventually 30 looked_again || wrong 'the trigger is not looked at'
echo 'INSERT INTO staging DEFAULT VALUES; COMMIT;' >&"$writer"
exec {writer}>&-
eventually 30 all_loaded || wrong 'rows of a transaction that sees an older state wait for the next look'

case_begin 'a table that notifies all the time costs the dispatcher a statement or two a second'
oid=$(sql "SELECT 'staging'::regclass::oid")
for ((i = 0; i < 600; i++)); do echo "NOTIFY lockstep_jobs, 'rows $oid';"; done >"$tmp/flood.sql"
psql -X -q -d "$db" -f "$tmp/flood.sql"
sql 'INSERT INTO staging DEFAULT VALUES'
eventually 30 all_loaded ||
    wrong "it does not look any more, or was killed at its 60th statement: $(tail -3 "$tmp/older.log")"
expect 'it lives' "$(kill -0 "$other" && echo lives)" lives

case_begin 'a condition that never ends or that writes is logged as an error once, and keeps no other job'
sql "CREATE FUNCTION writes()
    RETURNS boolean LANGUAGE sql AS 'INSERT INTO public.loaded VALUES (0, NULL) RETURNING true'"
lockstep job apply - -q <<END >/dev/null
[{"job": "endless", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
  "trigger": {"on": "public.staging", "pending": "pg_sleep(1000) IS NULL", "threshold": 1, "check_every": "1s"}},
 {"job": "writer", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
  "trigger": {"on": "public.staging", "pending": "public.writes()", "threshold": 1, "check_every": "1s"}},
 {"job": "tick", "queue": "$q", "overlap": "allow", "tasks": [{"order": 1, "sql": "SELECT 1"}],
  "schedules": [{"name": "s", "kind": "interval", "every": "1s"}]}]
END
failing() { is "SELECT count(*) FROM lockstep.schedule WHERE (look).failures >= 2" 2; }
eventually 60 failing || wrong "looks that fail: $(sql 'SELECT look FROM lockstep.schedule')"
expect 'the log has each once' \
    "$(sql "SELECT string_agg(job || ': ' || regexp_replace(message, ' due.*', ''), ', ' ORDER BY job)
        FROM lockstep.job_log WHERE event = 'error'")" \
    'endless: 57014: the look took longer than 2 s, writer: 25006: cannot execute INSERT in a read-only transaction'
said=$(lockstep job test endless "${login[@]}" 2>&1) && wrong 'job test takes a look that never ends'
[[ $said == *'trigger.pending: the look took longer than 2 s'* ]] || wrong "job test: $said"
expect 'nothing was written' "$(sql 'SELECT count(*) FROM loaded WHERE id = 0')" 0
during="SELECT count(*) > 0 FROM pg_stat_activity a JOIN lockstep.occurrence o ON o.fired_at > a.query_start
    WHERE a.datname = current_database() AND a.usename = '$tasks' AND a.wait_event = 'PgSleep'
      AND o.job = 'tick' AND o.outcome = 'fired'"
eventually 30 is "$during" t || wrong 'the job without SQL of users does not fire while the look is under way'

case_begin 'an open transaction of an operator over one job keeps no other job'
sql "BEGIN; SELECT lockstep.job_set('load', '{\"description\": \"open\"}'); SELECT pg_sleep(600)" >/dev/null 2>&1 &
edited() {
    is "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%pg_sleep(600)%' AND wait_event = 'PgSleep'" 1
}
eventually 30 edited || wrong 'the job is not being edited'
kill -KILL "$other"
wait "$other" || true
executor "$tmp/third.log"
other=$pid
ticked=$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'fired'")
ticks_on() {
    [ "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'fired'")" -gt \
        $((ticked + 10)) ]
}
eventually 60 ticks_on || wrong "no other job fires beside it: $(tail -5 "$tmp/third.log")"
expect 'sessions that the dispatcher lost' "$(grep -c dispatcher_lost "$tmp/third.log" || true)" 0
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()" >/dev/null

case_begin 'a dispatcher that lost its session cuts off the SQL that it had asked for, and asks again'
lockstep job apply - \
    -q <<<'[{"job": "long", "queue": "'"$q"'",
             "query": "SELECT 1 AS \"order\", '"'SELECT 1'"' AS sql, pg_sleep(600)::text AS name",
             "schedules": [{"name": "s", "kind": "interval", "every": "1s"}]}]' >/dev/null
long_runs() {
    is "SELECT count(*) FROM pg_stat_activity
        WHERE usename = '$tasks' AND wait_event = 'PgSleep' AND query LIKE '%ask_fire%'" 1
}
eventually 60 long_runs || wrong 'the long query does not run'
ended_at=$(sql "SELECT clock_timestamp() FROM pg_terminate_backend((
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'lockstep/dispatcher%'))")
asked_again() {
    is "SELECT count(*) FROM pg_stat_activity WHERE usename = '$tasks' AND wait_event = 'PgSleep'
            AND query LIKE '%ask_fire%' AND query_start > '$ended_at'" 1
}
eventually 60 asked_again || wrong "the query does not run again: $(tail -5 "$tmp/third.log")"

case_begin 'an executor that gets SIGTERM while SQL of a job runs ends'
eventually 60 long_runs || wrong 'the long query does not run'
told_to_end "$other"
cases_end
exit $failed
