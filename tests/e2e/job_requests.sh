#!/bin/bash
# Jobs with a query that are run, and filled, by an operator without a session of the tasks' login: a dispatcher runs
# the query and fires them, as the tasks' login, also when dispatchers are killed meanwhile. No time fires twice.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks operator=$(scratch_name)_op
e2e_roles=("$tasks" "$operator")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE ROLE $operator LOGIN IN ROLE lockstep_operator;
CREATE TABLE sale (at timestamptz, region text);
CREATE TABLE loaded (at timestamptz, region text, by name);
GRANT SELECT ON sale TO $tasks;
GRANT INSERT ON loaded TO $tasks;
INSERT INTO sale VALUES ('2025-01-01 00:00Z', 'eu'), ('2025-01-01 02:00Z', 'eu'), ('2025-01-01 02:00Z', 'us');
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
login=(-s "postgres.task_conninfo=$db user=$tasks")
job() { # NAME QUERY
    jq -n --arg job "$1" --arg queue "$q" --arg query "$2" '{job: $job, queue: $queue, enabled: false, query: $query,
        defaults: {region: "eu"}, schedules: [{name: "s", kind: "interval", every: "1h"}]}' |
        lockstep job apply - -s postgres.task_conninfo= -q >/dev/null
}
insert="'INSERT INTO loaded VALUES (\$1::timestamptz, \$2, current_user)' AS sql"
job load "SELECT 10 AS order, $insert, jsonb_build_array(\${scheduled_at}, region) AS params
          FROM public.sale WHERE at = \${scheduled_at}::timestamptz"
job hand "SELECT 10 AS order, $insert, jsonb_build_array(\${scheduled_at}, \${region}) AS params"
# as_operator SQL: with the rights of an operator, and none on the tables
as_operator() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db user=$operator" -c "$1"; }
fill() { # NAME OVERLAP
    as_operator "SELECT string_agg(action, ' ') FROM lockstep.job_backfill('$1', '2025-01-01Z', '2025-01-01 03:00Z',
                                                                           overlap => '$2')"
}
occurrences() { # NAME
    sql "SELECT string_agg(to_char(scheduled_for AT TIME ZONE 'UTC', 'HH24:MI ') || outcome, ', '
                           ORDER BY scheduled_for)
         FROM lockstep.occurrence WHERE job = '$1' AND scheduled_for < '2026-01-01'"
}
filled='00:00 fired, 01:00 skipped, 02:00 fired'
is_filled() { [ "$(occurrences "$1")" = "$filled" ]; }
waiting() { lockstep job show "$1" -o json | jq '.requests | length'; }

case_begin 'without a dispatcher firings wait, and job show lists them'
expect 'a range' "$(fill load queue_one)" 'request request request'
run=$(as_operator "SELECT lockstep.job_run('hand', '{\"region\": \"pl\"}')")
expect 'they wait' "$(waiting load) $(waiting hand)" '3 1'
expect 'and the id of the run is known' "$(lockstep job show hand -o json | jq -r '.requests[0].run_id')" "$run"

case_begin 'an executor fires them as the tasks'\'' login, the times of a range one after the other'
daemon --queue "$q" --readers 2 "${login[@]}"
eventually 60 is_filled load || wrong "$(occurrences load)"
expect 'each with the tasks of its time' "$(sql "SELECT count(*) FROM lockstep.run WHERE name = 'load'")" 2
is_loaded() {
    is "SELECT string_agg(to_char(at AT TIME ZONE 'UTC', 'HH24:MI ') || region, ', ' ORDER BY at, region)
        FROM loaded WHERE by = '$tasks' AND region <> 'pl'" '00:00 eu, 02:00 eu, 02:00 us'
}
eventually 60 is_loaded || failed=1
eventually 60 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Completed || failed=1
expect 'by hand with its parameters' "$(sql "SELECT count(*) FROM loaded WHERE region = 'pl' AND by = '$tasks'")" 1
expect 'nothing waits' "$(waiting load) $(waiting hand)" '0 0'
run=$(as_operator "SELECT lockstep.job_run('hand')")
eventually 60 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Completed || failed=1
expect 'who asked for it is its source' "$(sql "SELECT started_by FROM lockstep.run WHERE run_id = '$run'")" \
    "manual by $operator"
grep -q "event=job_fired job=hand .*run=$run" "$tmp/daemon.log" || wrong "$(grep job_fired "$tmp/daemon.log")"

case_begin 'a query that fails is the outcome of the time, with its reason, and stops nothing'
job fails "SELECT 1 / (\${scheduled_at} <> '2025-01-01T01:00:00Z')::int AS order, 'SELECT 1' AS sql"
expect 'a range' "$(fill fails allow)" 'request request request'
failing='00:00 fired, 01:00 error, 02:00 fired'
fails() { [ "$(occurrences fails)" = "$failing" ]; }
eventually 60 fails || wrong "$(occurrences fails)"
expect 'the reason' "$(sql "SELECT reason FROM lockstep.occurrence WHERE job = 'fails' AND outcome = 'error'")" \
    '22012: division by zero'
grep -q 'event=job_failed job=fails schedule=s' "$tmp/daemon.log" || wrong "$(grep job_failed "$tmp/daemon.log")"
kill -TERM "$daemon"
ends_well "$daemon"

case_begin 'dispatchers that are killed before or behind a firing lose none, and double none'
job killed "SELECT 10 AS order, 'SELECT 1' AS sql FROM public.sale WHERE at = \${scheduled_at}::timestamptz"
expect 'a range' "$(fill killed allow)" 'request request request'
for point in dispatch.done ask.send ask.done ask.send ask.done; do
    code=0
    LOCKSTEP_PROBE_DIR=$tmp LOCKSTEP_PROBE=$point=kill "$LOCKSTEP_BIN-probed" scheduler run --once -d "$db" \
        "${login[@]}" >/dev/null 2>&1 || code=$?
    expect "killed at $point" "$code" 137
done
"$LOCKSTEP_BIN" scheduler run --once -d "$db" "${login[@]}" -q >/dev/null || failed=1
expect 'occurrences' "$(occurrences killed)" "$filled"
expect 'runs' "$(sql "SELECT count(*) FROM lockstep.run WHERE name = 'killed'")" 2
expect 'nothing waits' "$(waiting killed)" 0

case_begin 'a request that is withdrawn does not fire'
fill hand queue_one >/dev/null
expect 'withdrawn' "$(lockstep job withdraw hand 2>&1)" 'lockstep: hand: 3 withdrawn'
expect 'nothing waits' "$(waiting hand)" 0
"$LOCKSTEP_BIN" scheduler run --once -d "$db" "${login[@]}" -q >/dev/null || failed=1
expect 'no time of the range has fired' "$(occurrences hand)" ''
code=0
said=$("$LOCKSTEP_BIN" job withdraw none -d "$db" 2>&1) || code=$?
expect 'no such job' "$code $(grep -c 'there is no job' <<<"$said")" '2 1'

cases_end
exit $failed
