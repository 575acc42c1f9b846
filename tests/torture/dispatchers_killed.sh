#!/bin/bash
# dispatchers_killed.sh [KILLS]: a dispatcher after the other is killed at one of its probe points, 1,000 of them unless
# KILLS says otherwise, some while another one stands by; afterwards each time of each job has fired exactly once, each
# row that waited was loaded exactly once, and each run has had one effect. Says how often it killed where. Not in the
# suite: it takes ten to twenty minutes. scripts/with-servers build/release bash tests/torture/dispatchers_killed.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/../e2e/ledger.bash"
tmp=$(mktemp -d)
failed=0
kills=${1:-1000}
RANDOM=${LOCKSTEP_SEED:-7}
tasks=$(scratch_name)_tasks
trap 'jobs_end; [ -z "$db" ] || sql "DROP OWNED BY $tasks; DROP ROLE IF EXISTS $tasks"; scratch_drop; rm -rf "$tmp"' \
    EXIT
scratch_database
sql "CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
     CREATE TABLE effect (job text, at timestamptz, run uuid);
     CREATE TABLE staging (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                           came timestamptz NOT NULL DEFAULT clock_timestamp(), batch uuid);
     CREATE INDEX ON staging (came) WHERE batch IS NULL;
     CREATE TABLE loaded (id bigint, run uuid);
     GRANT SELECT, INSERT, UPDATE ON effect, staging, loaded TO $tasks"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --runs concurrent
login=(-s "postgres.task_conninfo=$db user=$tasks")
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 "${login[@]}" \
    --set scheduler.enabled=off 2>"$tmp/executor.log" &
executor=$!

# Every second, also those at which no dispatcher lived; a query every two seconds; and rows that come all the time.
effect='{"order": 1, "sql": "INSERT INTO effect VALUES ($1, $2, $3)",
                "params": ["${job}", "${scheduled_at}", "${run}"]}'
asks="SELECT 1 AS \\\"order\\\", 'INSERT INTO effect VALUES (\$1, \$2, \$3)' AS sql,"
asks+=" jsonb_build_array('asks', \${scheduled_at}, \${run}) AS params"
loads="SELECT 1 AS \\\"order\\\","
loads+=" 'INSERT INTO loaded SELECT id, batch FROM staging WHERE batch = \$1 AND id = \$2' AS sql,"
loads+=" jsonb_build_array(\${run}, id) AS params FROM staging WHERE batch = \${run} ORDER BY id"
lockstep job apply - -q "${login[@]}" >/dev/null <<END
{"jobs": [{"job": "tick", "queue": "$q", "overlap": "allow", "tasks": [$effect],
           "schedules": [{"name": "s", "kind": "interval", "every": "1s", "misfire": "all"}]},
          {"job": "tock", "queue": "$q", "overlap": "allow", "tasks": [$effect],
           "schedules": [{"name": "s", "kind": "interval", "every": "1s", "misfire": "all"}]},
          {"job": "asks", "queue": "$q", "overlap": "allow", "query": "$asks",
           "schedules": [{"name": "s", "kind": "interval", "every": "2s", "misfire": "all"}]},
          {"job": "load", "queue": "$q",
           "query": "$loads",
           "trigger": {"on": "public.staging", "pending": "batch IS NULL", "created_column": "came",
                       "check_every": "1s", "threshold": 3, "idle": "2s",
                       "mark": "UPDATE staging SET batch = \${run} WHERE batch IS NULL"}}]}
END
while :; do sql 'INSERT INTO staging DEFAULT VALUES' >/dev/null 2>&1; sleep 0.5; done &
feeder=$!

begun() { ! kill -0 "$1" 2>/dev/null || grep -q event=dispatching "$tmp/scheduler.log"; }
declare -A killed=()
points=(dispatch.send dispatch.done ask.send ask.done)
beside=0
for ((i = 1; i <= kills; i++)); do
    point=${points[RANDOM % 4]}@$((1 + RANDOM % 3))
    LOCKSTEP_PROBE=$point=kill LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" scheduler run -d "$db" "${login[@]}" \
        2>"$tmp/scheduler.log" &
    pid=$!
    other=''
    if ((i % 20 == 0)); then # the next one takes over from it, as soon as it has the lock
        eventually 40 begun "$pid"
        "$LOCKSTEP_BIN" scheduler run -d "$db" "${login[@]}" 2>"$tmp/other.log" &
        other=$!
    fi
    status=0
    { wait "$pid"; } 2>/dev/null || status=$?
    [ "$status" = 137 ] || { echo "kill $i at $point: it ended with $status"; tail -n 5 "$tmp/scheduler.log"; exit 1; }
    killed[$point]=$((${killed[$point]:-0} + 1))
    if [ -n "$other" ]; then
        eventually 40 grep -q event=dispatching "$tmp/other.log" ||
            { echo "kill $i: the other one did not take over"; exit 1; }
        kill -KILL "$other"
        wait "$other" 2>/dev/null || true
        beside=$((beside + 1))
    fi
done
kill -KILL "$feeder"
wait "$feeder" 2>/dev/null || true

# The rest is decided, loaded and run.
"$LOCKSTEP_BIN" scheduler run -d "$db" "${login[@]}" 2>"$tmp/last.log" &
last=$!
end=$(sql 'SELECT clock_timestamp()') # a change of a job leaves out a time that is just due
eventually 120 is "SELECT count(*) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE j.name <> 'load' AND (s.next_at <= '$end' OR s.asked_until IS NOT NULL)" 0
for job in tick tock asks; do lockstep job disable "$job" -q; done
eventually 120 is 'SELECT count(*) FROM staging WHERE batch IS NULL' 0
eventually 600 is 'SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL' 0
kill -TERM "$last" "$executor"
wait "$last" || { echo "the scheduler ended with $?"; failed=1; }
wait "$executor" || { echo "the executor ended with $?"; failed=1; }

expect 'times that were not fired' "$(sql "SELECT m.job, m.at, o.outcome, o.reason FROM (
    SELECT o.job, generate_series(min(o.scheduled_for), max(o.scheduled_for),
                                  CASE o.job WHEN 'asks' THEN interval '2 s' ELSE interval '1 s' END) AS at
    FROM lockstep.occurrence o WHERE o.job <> 'load' GROUP BY o.job
    EXCEPT SELECT o.job, o.scheduled_for FROM lockstep.occurrence o WHERE o.outcome = 'fired') AS m
    LEFT JOIN lockstep.occurrence o ON o.job = m.job AND o.scheduled_for = m.at
    WHERE m.at <= '$end'")" ''
expect 'times that fired more than once' "$(sql "SELECT count(*) FROM (SELECT FROM lockstep.occurrence o
    WHERE o.outcome = 'fired' GROUP BY o.job, o.scheduled_for HAVING count(*) > 1)
        AS twice")" 0
expect 'firings without exactly one effect' "$(sql "SELECT count(*) FROM (SELECT o.run_id
    FROM lockstep.occurrence o LEFT JOIN effect e ON e.run = o.run_id AND e.at = o.scheduled_for AND e.job = o.job
    WHERE o.job <> 'load' AND o.outcome = 'fired' GROUP BY o.run_id HAVING count(e.run) <> 1) AS bad")" 0
expect 'effects of no firing' "$(sql "SELECT count(*) FROM effect e
    WHERE NOT EXISTS (SELECT FROM lockstep.occurrence o WHERE o.run_id = e.run)")" 0
expect 'runs of no firing' "$(sql "SELECT count(*) FROM lockstep.run r
    WHERE NOT EXISTS (SELECT FROM lockstep.occurrence o WHERE o.run_id = r.run_id)")" 0
expect 'rows that were not loaded once, by their owner' "$(sql "SELECT count(*) FROM (SELECT s.id
    FROM staging s LEFT JOIN loaded l ON l.id = s.id AND l.run = s.batch GROUP BY s.id HAVING count(l.id) <> 1)
        AS bad")" 0
expect 'rows that were loaded twice' "$(sql "SELECT count(*) - count(DISTINCT id) FROM loaded")" 0
for point in "${!killed[@]}"; do echo "killed at $point: ${killed[$point]}"; done | sort
sql "SELECT format(
    '%s kills, %s of them with another one that took over; %s firings in %s s, %s rows loaded; each exactly once: %s',
    $kills, $beside,
    (SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired'), $SECONDS, (SELECT count(*) FROM loaded),
    CASE $failed WHEN 0 THEN 'yes' ELSE 'NO' END)"
exit $failed
