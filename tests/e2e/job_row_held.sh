#!/bin/bash
# A session holds the row of a job in an open transaction: its schedule is not decided meanwhile, and the alert,
# job test and the log of the dispatcher name the session. A job whose row is free fires.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
phase=$((($(date +%s) + 43200) % 86400))s
job() { # NAME: its own times are half a day away
    lockstep job apply - -q <<<'{"job": "'"$1"'", "queue": "'"$q"'", "overlap": "allow",
        "tasks": [{"order": 1, "sql": "SELECT 1"}],
        "schedules": [{"name": "s", "kind": "interval", "every": "1d",
                       "phase": "'"$phase"'", "grace": "1m"}]}' >/dev/null
}
due() {
    sql "UPDATE lockstep.schedule s SET next_at = t.n, wake_at = t.n
         FROM (SELECT now() - interval '10 min' AS n) t, lockstep.job j WHERE j.job_id = s.job_id AND j.name = '$1'"
}
fired() { is "SELECT count(*) FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = '$1'" "$2"; }
lines() { grep -c "event=job_row_held" "$tmp/log" || true; }
logged() { [ "$(lines)" = "$1" ]; }
user=$(sql 'SELECT current_user')
job held; job free
due held; due free
session_open BEGIN "SELECT FROM lockstep.job WHERE name = 'held' FOR UPDATE"
named="backend $backend holds the row of job held in an open transaction ($user, psql"
remedy="SELECT pg_terminate_backend($backend)"
: >"$tmp/log"
"$LOCKSTEP_BIN" scheduler run -d "$db" 2>>"$tmp/log" &
pid=$!

case_begin 'a job whose row is held is not decided, and a job whose row is free fires'
eventually 30 fired free 1 || wrong "the free job has not fired: $(cat "$tmp/log")"
fired held 0 || wrong 'the held job has fired'
case_begin 'the health of the job names the session that holds its row'
detail=$(sql "SELECT detail FROM lockstep.job_health WHERE job = 'held' AND state = 'missed'")
[[ $detail == *"$named"* && $detail == *"$remedy"* ]] || wrong "job_health: $detail"
case_begin 'job test does not promise a firing, and names the session'
said=$(lockstep job test held -o json)
reason=$(jq -r '.[0].reason' <<<"$said")
[[ $reason == *"$named"* && $reason == *"$remedy"* ]] || wrong "job test: $said"
grep -q '"would_fire": *true' <<<"$said" && wrong "job test says that it would fire: $said"
case_begin 'the dispatcher logs the held row once'
eventually 30 logged 1 || wrong "the log: $(cat "$tmp/log")"
grep -q "event=job_row_held job=held schedule=s .*pg_terminate_backend($backend)" "$tmp/log" ||
    wrong "the log: $(cat "$tmp/log")"
due free
eventually 30 fired free 2 || wrong 'the free job does not fire any more'
sleep_until=$((SECONDS + 12)) # two more looks of the dispatcher
while [ $SECONDS -lt $sleep_until ]; do sleep 0.5; done
logged 1 || wrong "it is logged again: $(cat "$tmp/log")"
case_begin 'the job fires when the session has been ended as the remedy says'
sql "$remedy" >/dev/null
session_close
eventually 30 fired held 1 || wrong "the held job does not fire: $(cat "$tmp/log")"
told_to_end "$pid"
cases_end
exit $failed
