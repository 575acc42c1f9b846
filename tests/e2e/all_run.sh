#!/bin/bash
# The answers of `lockstep all run`: its executor answers at [metrics] listen and its console at its own address, each
# with livez, readyz and numbers that promtool and a real Prometheus accept.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
token=$(lockstep console token create prometheus -q)
LOCKSTEP_MONITOR_EVERY=500ms "$LOCKSTEP_BIN" all run --queue "$q" --readers 2 --listen 0 -s metrics.listen=0 -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" >/dev/null 2>"$tmp/all.log" &
all=$!
eventually 40 grep -q event=metrics_served "$tmp/all.log" || cat "$tmp/all.log"
eventually 40 grep -q event=console_started "$tmp/all.log" || cat "$tmp/all.log"
port=$(sed -n 's,.*event=metrics_served.* url=http://\([^/]*\)/.*,\1,p' "$tmp/all.log")
console=$(sed -nE 's,.*event=console_started url=http://([^/]*)/.*,\1,p' "$tmp/all.log")
get() { curl -s -m 20 -H "Authorization: Bearer $token" "http://$1/$2"; }
is_ready() { [ "$(get "$1" readyz)" = ready ]; }

case_begin 'it lives, and it is ready, at both of its addresses'
expect 'two addresses' "$([ "$port" != "$console" ] && echo two)" two
for at in "$port" "$console"; do
    expect "$at lives" "$(get "$at" livez)" alive
    eventually 40 is_ready "$at" || failed=1
done

case_begin 'its numbers have what its executor has done, and what the installation is'
run=$(echo '{"order": 1, "sql": "SELECT 1"}' | lockstep publish -q --queue "$q" -)
eventually 40 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Completed
has() { get "$1" metrics >"$tmp/text" && grep -qE "$2" "$tmp/text"; } # ADDRESS REGEX
eventually 40 has "$port" "^lockstep_tasks_total\{queue=\"$q\",type=\"sql\",outcome=\"completed\"\} 1$" || failed=1
for at in "$port" "$console"; do
    eventually 40 has "$at" "^lockstep_runs_total\{queue=\"$q\",status=\"Completed\"\} 1$" || failed=1
    eventually 40 has "$at" "^lockstep_executors\{queue=\"$q\",state=\"running\"\} 1$" || failed=1
done
expect 'the console answers with a token only' \
    "$(curl -s -m 20 -o /dev/null -w '%{http_code}' "http://$console/metrics")" 401

case_begin 'promtool finds nothing wrong with its numbers'
for at in "$port" "$console"; do
    get "$at" metrics >"$tmp/text"
    promtool check metrics <"$tmp/text" >"$tmp/promtool" 2>&1 || { failed=1; cat "$tmp/promtool"; }
    expect "warnings of $at" "$(cat "$tmp/promtool")" ''
done

case_begin 'a real Prometheus scrapes both addresses'
cat >"$tmp/prometheus.yml" <<END
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: port, static_configs: [{targets: ['$port']}]}
  - {job_name: console, authorization: {credentials: $token}, static_configs: [{targets: ['$console']}]}
END
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" --web.listen-address=127.0.0.1:0 \
    2>"$tmp/prometheus.log" &
prometheus=$!
eventually 40 grep -q 'msg="Listening on"' "$tmp/prometheus.log" || cat "$tmp/prometheus.log"
asks=$(sed -n 's/.*msg="Listening on" address=//p' "$tmp/prometheus.log" | head -n 1)
scraped() { curl -s -m 20 "http://$asks/api/v1/query" --data-urlencode "query=$1" | jq -r \
    '[.data.result[] | "\(.metric.job) \(.value[1])"] | sort | join(", ")'; }
scrapes() { [ "$(scraped "$1")" = "$2" ]; }
eventually 40 scrapes up 'console 1, port 1' || { scraped up; failed=1; }
eventually 40 scrapes "lockstep_runs_total{queue=\"$q\",status=\"Completed\"}" 'console 1, port 1' || { scraped \
    lockstep_runs_total; failed=1; }
eventually 40 scrapes "lockstep_tasks_total{queue=\"$q\"} > 0" 'port 1' || { scraped lockstep_tasks_total; failed=1; }
kill -TERM "$prometheus"
wait "$prometheus" || true

case_begin 'it ends in order'
kill -TERM "$all"
code=0
wait "$all" || code=$?
expect 'its exit' "$code" 0
cases_end
exit $failed
