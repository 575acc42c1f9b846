#!/bin/bash
# The [metrics] port: the answers of each daemon, which promtool and a real Prometheus accept, and numbers for each
# panel of the dashboard.
# ctest: slow nosan long
. "$(dirname "$0")/../support/e2e.bash"
root=$here/../..
q=$(scratch_name) bad=$(scratch_name)
lockstep queue create "$q" -q --create-topic
lockstep queue create "$bad" -q --create-topic
idle=$(scratch_name) # no executor serves it: its run stays open
lockstep queue create "$idle" -q --create-topic
echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish -q --queue "$idle" - >/dev/null
LOCKSTEP_MONITOR_EVERY=500ms
export LOCKSTEP_MONITOR_EVERY
# daemon NAME ARGS...: runs in the background; its address in ${at[NAME]}
declare -A at pids
daemon() {
    "$LOCKSTEP_BIN" "${@:2}" -s metrics.listen=0 -s scheduler.enabled=off -X statistics.interval.ms=500 -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/$1.log" &
    pids[$1]=$!
    eventually 40 grep -q event=metrics_served "$tmp/$1.log"
    at[$1]=$(sed -n 's,.*event=metrics_served.* url=\(http://[^/]*\)/.*,\1,p' "$tmp/$1.log")
}
get() { curl -s -m 20 "${at[$1]}$2"; }
status() { curl -s -m 20 -o /dev/null -w '%{http_code}' "${@:2}" "${at[$1]}"; }
is_ready() { [ "$(get "$1" /readyz)" = ready ]; }

daemon executor executor run --queue "$q" --queue "$bad"
daemon scheduler scheduler run
printf '[commands]\npage = /bin/true\n[alert:page]\ncommand = page\n' >"$tmp/monitor.conf"
daemon monitor monitor run --config "$tmp/monitor.conf"
token=$(lockstep console token create prometheus -q)
daemon console -s "postgres.conninfo=$db" console run --listen 0
eventually 40 grep -q event=console_started "$tmp/console.log"
own=$(sed -nE 's,.*event=console_started url=http://([^/]*)/.*,\1,p' "$tmp/console.log") # its port for people, where a token is asked for

case_begin 'each daemon says that it lives, and that it is ready'
for name in executor scheduler monitor console; do
    expect "$name lives" "$(get $name /livez)" alive
    eventually 40 is_ready $name || failed=1
    case ${at[$name]} in http://127.0.0.1:*) ;; *) expect "$name listens" "${at[$name]}" 'http://127.0.0.1:PORT' ;; esac
done

case_begin 'another path is not found, and nothing but GET is answered'
at[other]=${at[executor]}/other
expect 'another path' "$(status other)" 404
at[post]=${at[executor]}/metrics
expect 'POST' "$(status post -X POST -d x=1)" 405

case_begin 'an executor is not ready while one of its queues is no queue'
gone=$(scratch_name) kept=$(scratch_name)
lockstep queue create "$gone" -q --create-topic
lockstep queue create "$kept" -q --create-topic
daemon none executor run --queue "$gone" --queue "$kept"
eventually 40 is_ready none || failed=1
eventually 40 grep -q 'event=executor_started' "$tmp/none.log" # one that finds no queue at all ends
lockstep queue delete "$gone" --yes -q
not_ready() {
    [ "$(curl -s -m 20 -o "$tmp/ready" -w '%{http_code}' "${at[none]}/readyz")" = 503 ] &&
        grep -q "^queue $gone: " "$tmp/ready"
}
eventually 40 not_ready || { cat "$tmp/ready"; failed=1; }
kill -TERM "${pids[none]}"
wait "${pids[none]}" || failed=1

case_begin 'a count of nothing is shown as 0, so that its first change is seen'
has() { get "$1" /metrics >"$tmp/text" && grep -qE "$2" "$tmp/text"; } # DAEMON REGEX: a line of its text
for reason in bad_json duplicate refused_by_database tags; do
    has executor "^lockstep_rejected_total\{queue=\"$bad\",reason=\"$reason\"\} 0$" || wrong "no $reason with 0"
done
for status in Completed PartiallyCompleted Failed Cancelled; do
    has monitor "^lockstep_runs_total\{queue=\"$bad\",status=\"$status\"\} 0$" || wrong "no $status with 0"
done

case_begin 'finished work is counted'
lockstep job apply - -q <<END >/dev/null
{"job": "tick", "queue": "$q", "overlap": "allow",
 "tasks": [{"order": 1, "sql": "SELECT 1"}, {"order": 2, "sql": "SELECT 2"}], "schedules": [{"name": "second", "kind": "interval", "every": "1s"}]}
END
lockstep job apply - -q <<END >/dev/null
{"job": "tock", "queue": "$q",
 "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "day", "kind": "interval", "every": "1d"}]}
END
for i in 1 2 3; do echo "no message $i"; done | kcat -P -b "$LOCKSTEP_TEST_BROKERS" -t "$bad" -p 0
eventually 40 has executor "^lockstep_tasks_total\{queue=\"$q\",type=\"sql\",outcome=\"completed\"\} [1-9]" || failed=1
eventually 40 has executor "^lockstep_barrier_seconds_count\{queue=\"$q\"\} [1-9]" || failed=1
eventually 40 has executor "^lockstep_rejected_total\{queue=\"$bad\",reason=\"[a-z_]+\"\} 3$" || failed=1
eventually 40 has executor "^lockstep_queue_lag_messages\{queue=\"$q\"\} [0-9]" || failed=1
eventually 40 has executor '^lockstep_kafka_broker_up\{broker="[0-9]+"\} 1$' || failed=1
eventually 40 has scheduler '^lockstep_schedule_fired_total [1-9]' || failed=1
for name in executor scheduler monitor console; do
    eventually 40 has $name "^lockstep_runs_total\{queue=\"$q\",status=\"Completed\"\} [1-9]" || failed=1
    eventually 40 has $name '^lockstep_job_last_success_timestamp_seconds\{job_name="tick"\} [1-9]' || failed=1
    eventually 40 has $name "^lockstep_executors\{queue=\"$q\",state=\"running\"\} 1$" || failed=1
done
if get scheduler /metrics | grep '^lockstep_tasks_total'; then failed=1; fi # it runs none

case_begin 'a run that was published and has not begun has the word of the views'
expect 'the view' "$(sql "SELECT status FROM lockstep.run_status WHERE queue = '$idle'")" Published
eventually 40 has scheduler "^lockstep_runs_open\{queue=\"$idle\",status=\"Published\"\} 1$" ||
    { grep runs_open "$tmp/text"; failed=1; }

case_begin 'lost attempts are counted as the database counts them, and those of a cancelled run are not'
lossy=$(scratch_name)
lockstep queue create "$lossy" -q --create-topic --max-readers 12
daemon lossy executor run --queue "$lossy" --readers 12
for n in $(seq 12); do echo '{"order": 1, "sql": "SELECT pg_sleep(600)"}'; done >"$tmp/long.jsonl"
run=$(lockstep publish -q --queue "$lossy" "$tmp/long.jsonl")
all_run() {
    is "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep(600%'" 12
}
eventually 40 all_run || wrong 'the tasks do not run'
lockstep run cancel "$run" -q >/dev/null
eventually 40 run_is "$run" Cancelled || wrong 'it is not cancelled'
ended() { [ "$(grep -cE 'event=attempt_(lost|stopped)' "$tmp/lossy.log")" = 12 ]; }
eventually 40 ended || wrong 'not all attempts have ended'
has lossy "^lockstep_attempts_lost_total\{queue=\"$lossy\"\} 0$" || wrong "$(grep attempts_lost "$tmp/text")"
echo '{"order": 1, "sql": "SELECT pg_terminate_backend(pg_backend_pid())"}' >"$tmp/self.jsonl"
if lockstep publish -q --queue "$lossy" --wait "$tmp/self.jsonl" >/dev/null; then wrong 'its end is no loss'; fi
lost=$(sql "SELECT sum(t.lost_num) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$lossy'")
[ "$lost" -gt 0 ] || wrong 'the database counts none'
has lossy "^lockstep_attempts_lost_total\{queue=\"$lossy\"\} $lost$" ||
    wrong "not $lost: $(grep attempts_lost "$tmp/text")"
told_to_end "${pids[lossy]}"

case_begin 'promtool finds nothing wrong in the text of any daemon'
for name in executor scheduler monitor console; do
    get $name /metrics | promtool check metrics >"$tmp/lint" 2>&1 || { cat "$tmp/lint"; failed=1; }
done

case_begin 'the alert rules do what their cases say'
(cd "$root/contrib/prometheus" && promtool check rules alerts.yml && promtool test rules alerts_test.yml) \
    >"$tmp/rules" 2>&1 || { cat "$tmp/rules"; failed=1; }

case_begin 'Prometheus scrapes each daemon, and each panel of the dashboard has numbers'
targets=$(printf '"%s",' "${at[executor]#http://}" "${at[scheduler]#http://}" "${at[monitor]#http://}" "${at[console]#http://}")
cat >"$tmp/prometheus.yml" <<END
global: {scrape_interval: 1s}
rule_files: ["$(realpath "$root/contrib/prometheus/alerts.yml")"]
scrape_configs:
- {job_name: lockstep, static_configs: [{targets: [${targets%,}]}]}
- {job_name: console, authorization: {credentials: $token}, static_configs: [{targets: ["$own"]}]}
END
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" --web.listen-address=127.0.0.1:0 \
    2>"$tmp/prometheus.log" &
pids[prometheus]=$!
eventually 40 grep -q 'msg="Listening on"' "$tmp/prometheus.log"
at[prometheus]=http://$(sed -n 's/.*msg="Listening on" address=//p' "$tmp/prometheus.log" | head -n 1)
all_up() {
    [ "$(get prometheus /api/v1/targets | jq '[.data.activeTargets[] | select(.health == "up")] | length')" = 5 ]
}
eventually 40 all_up || { get prometheus /api/v1/targets; failed=1; }
python3 "$here/../support/panels.py" "${at[prometheus]}" "$root/contrib/grafana/lockstep.json" \
    "$root/contrib/prometheus/alerts.yml" 60 || failed=1

case_begin 'the dashboard has a line for each job'
of_panel() { # FIELD
    jq -r --arg f "$1" '.panels[] | select(.title == "Since the last success of each job") | .targets[0][$f]' \
        "$root/contrib/grafana/lockstep.json"
}
expr=$(of_panel expr) label=$(of_panel legendFormat | tr -d '{}')
lines() {
    curl -s -m 20 -G "${at[prometheus]}/api/v1/query" --data-urlencode "query=$expr" |
        jq -r --arg l "$label" '[.data.result[].metric[$l]] | sort | join(" ")'
}
lines_are() { [ "$(lines)" = "$1" ]; }
eventually 40 lines_are 'tick tock' || wrong "the lines: $(lines)"

case_begin 'daemons and their ports end in order'
for name in prometheus executor scheduler monitor console; do
    kill -TERM "${pids[$name]}"
    wait "${pids[$name]}" || { [ $name = prometheus ] || { tail -n 5 "$tmp/$name.log"; failed=1; }; }
done

case_begin 'an address that is in use ends the start with a hint'
python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(600)' >"$tmp/port" &
pids[used]=$!
eventually 40 test -s "$tmp/port"
if lockstep scheduler run -s "metrics.listen=$(cat "$tmp/port")" 2>"$tmp/used"; then failed=1; fi
grep -q 'hint:' "$tmp/used" || { cat "$tmp/used"; failed=1; }
kill "${pids[used]}"
wait "${pids[used]}" 2>/dev/null || true
cases_end
exit $failed
