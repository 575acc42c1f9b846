#!/bin/bash
# The pages of the console in a real browser: each opens with an empty and with a busy database, in both colour schemes
# and at three widths, without an error, a request outside or a violation of axe-core. Actions by keyboard have their
# effect in the database. Screenshots are kept in build/console/shots.
# ctest: nosan long timeout=600
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings
shots=$browser_root/build/console/shots
# SCHEMES DIR: nothing is wrong on any of $pages; a DIR for screenshots of three widths, or - for one width.
visit() { browser_run pages.mjs "$url" "$1" "$2" "${pages[@]}"; }
# Actions without a route in this console are not tested: its OpenAPI document lists the routes.
has() { curl -s -m 30 "${url}api/v1/openapi.json" | jq -e --arg route "$1" '.paths | has($route)' >/dev/null; }
chosen() { # ROUTE NAME=PATH...: those whose route there is, in $pages
    pages=()
    while [ $# -gt 0 ]; do
        if has "$1"; then pages+=("$2"); fi
        shift 2
    done
}
lists() {
    chosen /overview overview= /runs runs=runs /tasks tasks=tasks /queues queues=queues /executors executors=executors \
        /locks locks=locks /jobs jobs=jobs /health missed=missed \
        /events log=log /job-log job-log=log?of=jobs /rejected rejected=rejected /replays replay=replay /system \
        system=system
}

case_begin 'every page opens with an empty database'
console_anyone
lists
visit light -
console_stop

case_begin 'every page opens with a busy database'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6 --on-failure continue >/dev/null
{
    for i in {1..12}; do echo '{"order": 100, "name": "<b>load</b> '"$i"'", "sql": "SELECT pg_sleep(0.0'"$i"')"}'; done
    echo '{"order": 100, "name": "bad", "sql": "SELECT 1 / 0"}'
    for i in {1..600}; do echo '{"order": 200, "sql": "SELECT '"$i"'"}'; done
    for i in {1..8}; do echo '{"order": 300, "name": "\u202eafter\u0007", "sql": "SELECT '"$i"'"}'; done
} >"$tmp/tasks"
run=$(lockstep publish --queue "$q" -q --name 'load of sales' "$tmp/tasks")
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 6 2>"$tmp/executor.log" &
executor=$!
eventually 60 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" PartiallyCompleted
printf '%s\n' '{"order": 1, "name": "long", "sql": "SELECT pg_sleep(600)"}' \
    '{"order": 2, "sql": "SELECT 2"}' >"$tmp/long"
running=$(lockstep publish --queue "$q" -q --name $'runs \xe2\x80\xaelong' "$tmp/long")
waiting=$(lockstep publish --queue "$q" -q --name 'waits' "$tmp/long")
eventually 60 is "SELECT count(*) FROM lockstep.task WHERE name = 'long' AND status = 'Processing'" 1
task=$(sql "SELECT task_id FROM lockstep.task WHERE name = 'bad'")
# Another test may have made a login that runs tasks.
sql 'CREATE TABLE arrivals (came timestamptz); GRANT SELECT ON arrivals TO lockstep_task'
cat >"$tmp/jobs.json" <<END
{"jobs": [{"job": "load.sales", "queue": "$q", "description": "sales of <b>yesterday</b>", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "nightly", "kind": "cron", "expr": "0 2 * * *", "zone": "Europe/Warsaw"}]},
          {"job": "hourly", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "h", "kind": "cron", "expr": "17 * * * *", "zone": "UTC"}]},
          {"job": "on_rows", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "trigger": {"on": "public.arrivals", "created_column": "came", "threshold": 10, "idle": "5m"}},
          {"job": "backup", "watch": true, "schedules": [{"name": "often", "kind": "cron", "expr": "* * * * *"}]}]}
END
lockstep job apply "$tmp/jobs.json" >/dev/null
lockstep job run load.sales -q >/dev/null
echo '{"ordr": 1, "sql": "<script>alert(1)</script>"}' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
eventually 60 is 'SELECT count(*) FROM lockstep.rejected' 1
lockstep console token create dashboards-of-the-night-shift --role monitor >/dev/null
rejected=$(sql 'SELECT rejected_id FROM lockstep.rejected')
console_anyone
lists
many=("${pages[@]}")
chosen '/runs/{run}/gantt' "run=runs/$run" '/runs/{run}/gantt' "running=runs/$running" '/tasks/{task}/explain' \
    "task=tasks/$task" \
    '/queues/{queue}/advise' "queue=queues/$q" '/jobs/{job}' job=jobs/load%2Esales '/jobs/{job}' \
    triggered=jobs/on_rows '/rejected/{rejected}' "message=rejected/$rejected"
pages+=("${many[@]}")
visit light,dark "$shots"

case_begin 'what an operator does on the pages happens, and is shown without a reload'
browser_run acts.mjs "$url" "$waiting"

case_begin 'the only executor of a queue with work is killed: the pages say so, and what to do'
browser_run stopped.mjs "$url" "$q" "$executor"
console_stop

cases_end
exit $failed
