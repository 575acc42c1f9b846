#!/bin/bash
# The threads of the scheduler in a minute, also under the sanitizers: the dispatcher of an executor, one that stands by
# and takes over, the tasks' session of a trigger with a query, the monitor and a receiver. Each begins, works and ends
# well; tests/e2e/jobs.sh, job_rows.sh and alerts.sh have what may happen meanwhile.
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
sql 'CREATE TABLE staging (id bigint GENERATED ALWAYS AS IDENTITY, batch uuid); CREATE TABLE loaded (id bigint);
     GRANT SELECT ON staging TO lockstep_task' # the login of this test may read it anyway
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "tick", "queue": "$q", "overlap": "allow", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "s", "kind": "interval", "every": "1s"}]},
          {"job": "load", "queue": "$q",
           "query": "SELECT 1 AS \"order\", 'INSERT INTO loaded SELECT id FROM staging WHERE batch = \$1' AS sql, jsonb_build_array(\${run}) AS params",
           "trigger": {"on": "public.staging", "pending": "batch IS NULL", "check_every": "1h", "threshold": 1,
                       "mark": "UPDATE staging SET batch = \${run} WHERE batch IS NULL"}}]}
END
sql "SELECT lockstep.watch_table('public.staging')" >/dev/null
printf '#!/bin/bash\ncat >>"%s"\n' "$tmp/paged" >"$tmp/page"
chmod +x "$tmp/page"
printf '[postgres]\nconninfo = %s\n[monitor]\nevery = 200ms\n[commands]\npage = %s\n[alert:page]\ncommand = page\n' \
    "$db" "$tmp/page" >"$tmp/monitor.conf"
chmod 600 "$tmp/monitor.conf"
ends() { # PID NAME: well
    local status=0
    kill -TERM "$1"
    wait "$1" || status=$?
    expect "how the $2 ended" "$status" 0
    expect "reports of a sanitizer in the $2" "$(grep -cE 'Sanitizer|runtime error' "$tmp/$2.log" || true)" 0
}
fired() { sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'fired'"; }
fires() { [ "$(fired)" -gt "$1" ]; }

case_begin 'the dispatcher of an executor fires, also when rows come'
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/executor.log" &
executor=$!
eventually 40 grep -q event=dispatching "$tmp/executor.log" || failed=1
eventually 40 fires 0 || failed=1
sql 'INSERT INTO staging SELECT FROM generate_series(1, 3)'
eventually 40 is 'SELECT count(*) FROM loaded' 3 || failed=1

case_begin 'another one waits, and takes over when the executor ends'
"$LOCKSTEP_BIN" scheduler run -d "$db" 2>"$tmp/scheduler.log" &
scheduler=$!
eventually 40 grep -q event=scheduler_started "$tmp/scheduler.log" || failed=1
ends "$executor" executor
eventually 40 grep -q event=dispatching "$tmp/scheduler.log" || failed=1
eventually 40 fires "$(fired)" || failed=1

case_begin 'the monitor reports a job whose queue has no executor to a command'
LOCKSTEP_CONFIG=$tmp/monitor.conf "$LOCKSTEP_BIN" monitor run 2>"$tmp/monitor.log" &
monitor=$!
eventually 40 grep -qs blocked "$tmp/paged" || failed=1
ends "$monitor" monitor
ends "$scheduler" scheduler
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
