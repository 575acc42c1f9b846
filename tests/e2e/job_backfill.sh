#!/bin/bash
# job backfill of a job whose tasks come from a query: the query runs once for each time of the range, as the tasks'
# login; a time without a task is skipped, one at which the query fails ends the command, and the same command
# continues, also after it was killed. No time fires twice.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks
e2e_roles=("$tasks")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE TABLE sale (at timestamptz, region text, divisor int DEFAULT 1);
CREATE TABLE loaded (at timestamptz, region text, by name);
GRANT SELECT ON sale TO $tasks;
GRANT INSERT ON loaded TO $tasks;
-- at 00:00, 02:00 and 03:00, but not at 01:00
INSERT INTO sale VALUES ('2025-01-01 00:00Z', 'eu'), ('2025-01-01 00:00Z', 'us'), ('2025-01-01 02:00Z', 'eu'),
                        ('2025-01-01 03:00Z', 'eu');
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
login=(-s "postgres.task_conninfo=$db user=$tasks")
job() { # NAME
    jq -n --arg job "$1" --arg queue "$q" '{job: $job, queue: $queue,
        query: "SELECT 10 / divisor AS order, '\''INSERT INTO loaded VALUES ($1::timestamptz, $2, $3)'\'' AS sql,
                       jsonb_build_array(${scheduled_at}, region, current_user) AS params
                FROM public.sale WHERE at = ${scheduled_at}::timestamptz",
        schedules: [{name: "s", kind: "interval", every: "1h"}]}' | lockstep job apply - "${login[@]}" -q >/dev/null
}
range=(--from 2025-01-01T00:00:00Z --to 2025-01-01T04:00:00Z)
# backfill NAME [OPTION]...: $code; the command's messages without the numbers of runs in $said. With another binary
# than the released one in $binary
binary=$LOCKSTEP_BIN
backfill() {
    code=0
    timeout 100 "$binary" job backfill "$@" "${range[@]}" -d "$db" "${login[@]}" >"$tmp/table" 2>"$tmp/said" || code=$?
    said=$(sed -E 's/[0-9a-f]{8}-[-0-9a-f]{27}/RUN/; s/.* for 2025-01-01 (..:..):00\+00/\1/
        s/^(..:..), run RUN$/\1 fired/' "$tmp/said")
}
# occurrences NAME: the outcomes of its times, in UTC
occurrences() {
    sql "SELECT string_agg(to_char(scheduled_for AT TIME ZONE 'UTC', 'HH24:MI ') || outcome, ', '
                           ORDER BY scheduled_for, outcome)
         FROM lockstep.occurrence WHERE job = '$1' AND scheduled_for < '2026-01-01'"
}
runs() { sql "SELECT count(*) FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = '$1'"; }
all='00:00 fired, 01:00 skipped, 02:00 fired, 03:00 fired'

case_begin 'the runs of a range follow one another, each with the tasks of its time, as the tasks'\'' login'
job serial
daemon --queue "$q" --readers 2
eventually 60 grep -q event=executor_started "$tmp/daemon.log"
backfill serial
expect 'exit code' "$code" 0
expect 'messages' "$(grep -v 'waits for the end' <<<"$said")" "$(cat <<'END'
00:00 fired
01:00: its query returned no task
02:00 fired
03:00 fired
END
)"
expect 'occurrences' "$(occurrences serial)" "$all"
loaded='00:00 eu, 00:00 us, 02:00 eu, 03:00 eu'
is_loaded() {
    is "SELECT string_agg(to_char(at AT TIME ZONE 'UTC', 'HH24:MI ') || region, ', ' ORDER BY at, region)
        FROM loaded WHERE by = '$tasks'" "$loaded"
}
eventually 60 is_loaded || failed=1
kill -TERM "$daemon"
ends_well "$daemon"
backfill serial
expect 'a second time: only the one without a task is asked for' "$code $said" '0 01:00: its query returned no task'
expect 'runs' "$(runs serial)" 3

case_begin 'a query that fails ends the command at its time, and the same command continues there'
job fails
sql "UPDATE sale SET divisor = 0 WHERE at = '2025-01-01 02:00Z'"
backfill fails --overlap allow
expect 'exit code' "$code" 1
grep -q 'fails for 2025-01-01 02:00:00.*: division by zero' "$tmp/said" || wrong "$(cat "$tmp/said")"
expect 'occurrences' "$(occurrences fails)" '00:00 fired, 01:00 skipped'
sql "UPDATE sale SET divisor = 1"
backfill fails --overlap allow
expect 'exit code' "$code" 0
expect 'occurrences' "$(occurrences fails)" "$all"
expect 'runs' "$(runs fails)" 3

sql "CREATE FUNCTION raises() RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE SQLSTATE ''LS004''; END'"
lockstep job apply - -q >/dev/null <<END || failed=1
{"job": "raises", "queue": "$q", "schedules": [{"name": "s", "kind": "interval", "every": "1h"}],
 "query": "SELECT public.raises() AS order, 'SELECT 1' AS sql"}
END
backfill raises
expect 'a query that raises the code of an overtaken time' "$code $(runs raises)" '1 0'

case_begin 'a time at which a run is open is left out with skip'
job skips
backfill skips --overlap skip
expect 'occurrences' "$code $(occurrences skips)" '0 00:00 fired'
expect 'messages' "$(sed 's/: run .*/: run/' <<<"$said")" "$(cat <<'END'
00:00 fired
01:00: run
02:00: run
03:00: run
END
)"

case_begin 'a command that is killed before or behind a firing is continued by the same one, and no time fires twice'
job killed
export LOCKSTEP_PROBE_DIR=$tmp
binary=$LOCKSTEP_BIN-probed
for point in ask.send ask.done ask.send@2 ask.done@3; do
    LOCKSTEP_PROBE=$point=kill backfill killed --overlap allow 2>/dev/null # the shell's line about it
    expect "killed at $point" "$code" 137
done
backfill killed --overlap allow
expect 'exit code' "$code" 0
expect 'occurrences' "$(occurrences killed)" "$all"
expect 'runs' "$(runs killed)" 3

case_begin 'a time that another command fires meanwhile is left to it, and the command continues'
job races
LOCKSTEP_PROBE=ask.send=hold backfill races --overlap allow --schedule s &
held=$!
eventually 60 test -e "$tmp/ask.send.hit" || failed=1
lockstep scheduler run --once "${login[@]}" >/dev/null || failed=1 # a dispatcher does not make the token void
"$LOCKSTEP_BIN" job backfill races --overlap allow --from 2025-01-01T00:00:00Z --to 2025-01-01T01:00:00Z -d "$db" \
    "${login[@]}" -q >/dev/null || failed=1
touch "$tmp/ask.send.go"
wait "$held" || failed=1
grep -qE 'fired for 2025-01-01 0[23]:00' "$tmp/said" || wrong "$(cat "$tmp/said")"
if grep -q 'for 2025-01-01 00:00' "$tmp/said"; then wrong "$(cat "$tmp/said")"; fi
expect 'occurrences' "$(occurrences races)" "$all"
expect 'runs' "$(runs races)" 3
binary=$LOCKSTEP_BIN
backfill races --overlap allow
expect 'the same command again' "$code $said" '0 01:00: its query returned no task'

case_begin 'a login without rights for the query, and one that is not of the group, are named with the remedy'
jq -n --arg queue "$q" '{job: "secret", queue: $queue, schedules: [{name: "s", kind: "interval", every: "1h"}],
    query: "SELECT 1 AS order, '\''SELECT 1'\'' AS sql FROM public.secret"}' >"$tmp/secret.json"
sql 'CREATE TABLE secret (id int); INSERT INTO secret VALUES (1)'
lockstep job apply "$tmp/secret.json" -q >/dev/null || failed=1
backfill secret --overlap allow
expect 'exit code' "$code" 2
grep -q "It runs as \"$tasks\", the login of .* grant that login what it needs" "$tmp/said" ||
    wrong "$(cat "$tmp/said")"
sql "GRANT SELECT ON secret TO $tasks; REVOKE lockstep_task FROM $tasks"
backfill secret --overlap allow
remedy=$(sed -n 's/^ *hint: //p' "$tmp/said")
expect 'the remedy' "$remedy" "GRANT lockstep_task TO \"$tasks\";" # REMEDY_GRANT_TASK
sql "$remedy"
backfill secret --overlap allow
expect 'with both' "$code $(runs secret)" '0 4'

case_begin 'a job that is changed meanwhile is not fired as it was'
job changed
rm "$tmp/ask.send.hit" "$tmp/ask.send.go"
binary=$LOCKSTEP_BIN-probed
LOCKSTEP_PROBE=ask.send=hold backfill changed --overlap allow &
held=$!
eventually 60 test -e "$tmp/ask.send.hit" || failed=1
lockstep job set changed --change '{"defaults": {"a": 1}}' -q >/dev/null || failed=1
touch "$tmp/ask.send.go"
wait "$held"
grep -q 'the job was changed meanwhile' "$tmp/said" || wrong "$(cat "$tmp/said")"
expect 'runs' "$(runs changed)" 0

case_begin 'an interrupt cancels the query, and nothing of it fires, by a backfill and by hand'
jq -n --arg queue "$q" '{job: "slow", queue: $queue, schedules: [{name: "s", kind: "interval", every: "1h"}],
    query: "SELECT 1 AS order, '\''SELECT 1'\'' AS sql FROM pg_sleep(100)"}' |
    lockstep job apply - -s "postgres.task_conninfo=" -q >/dev/null || failed=1
sleeps="SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
for words in "backfill slow ${range[*]}" 'run slow'; do
    # shellcheck disable=SC2086
    "$LOCKSTEP_BIN" job $words -d "$db" "${login[@]}" >"$tmp/table" 2>"$tmp/said" &
    asking=$!
    eventually 60 is "$sleeps" 1 || failed=1
    kill -INT "$asking"
    code=0
    wait "$asking" || code=$?
    expect "exit code of job $words" "$code" 8
    grep -q 'interrupted' "$tmp/said" || wrong "$(cat "$tmp/said")"
    eventually 10 is "$sleeps" 0 || failed=1
done
expect 'runs' "$(runs slow)" 0

case_begin 'the report of what would fire needs no query'
expect 'the report of a dry run' "$(lockstep job backfill changed "${range[@]}" --overlap allow --dry-run -o json |
    jq -r 'map(.action) | join(",")')" fire,fire,fire,fire

cases_end
exit $failed
