#!/bin/bash
# Watches report over HTTP, with a token that does nothing else, or as a login that may call lockstep.ping. A request
# that is no report is refused with the form of a report.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name) looks=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
cat >"$tmp/jobs.json" <<END
{"jobs": [{"job": "backup", "watch": true, "schedules": [{"name": "hourly", "kind": "interval", "every": "1h"}]},
          {"job": "here", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}]}
END
lockstep job apply "$tmp/jobs.json" -q >/dev/null
person "$looks" lockstep_monitor
for role in ping monitor operator; do lockstep console token create "as-$role" --role $role -q >"$tmp/$role"; done
lockstep console token create as-producer --publish -q >"$tmp/producer"
console_start
with() { local who=$1; shift; api "$1" "$2" "${3:-}" -H "Authorization: Bearer $(cat "$tmp/$who")" "${@:4}"; }
# reported: the reports of the watch, the oldest first
reported() {
    sql "SELECT string_agg(concat_ws('|', status, reason, source), ', ' ORDER BY occurrence_id)
         FROM lockstep.occurrence WHERE job = 'backup'"
}
forget() {
    sql "DELETE FROM lockstep.job_occurrence;
         UPDATE lockstep.schedule SET next_at = date_trunc('hour', now()) - interval '1 h'" >/dev/null
}

case_begin 'a token of role ping reports that it has ended well, and that it has failed'
forget
with ping POST api/v1/ping/backup
expect 'without a body' "$status $(api_is '"\(.job) \(.status)"')" '200 backup ok'
expect 'when it is expected next' \
    "$(sql "SELECT '$(api_is .next_at)'::timestamptz = date_trunc('hour', now()) + interval '1 h'")" t
with ping POST api/v1/ping/backup '{"status": "fail", "detail": "disk full"}'
expect 'a failure' "$status $(api_is .status)" '200 fail'
expect 'the reports' "$(reported)" \
    'Completed|ping by lockstep_test, token as-ping, Failed|disk full|ping by lockstep_test, token as-ping'
expect 'the first one answers the latest time that has passed' \
    "$(sql "SELECT count(*) FROM lockstep.occurrence
        WHERE schedule = 'hourly' AND scheduled_for = date_trunc('hour', now()) AND status = 'Completed'")" 1
expect 'who watches it' "$(sql "SELECT state || ': ' || detail FROM lockstep.job_health WHERE job = 'backup'")" \
    'failed: disk full'
expect 'the log' "$(sql "SELECT string_agg(event, ' ' ORDER BY job_event_id) FROM lockstep.job_log
    WHERE job = 'backup' AND source = 'ping by lockstep_test, token as-ping'")" 'completed error'

case_begin 'a report that is sent twice with one key is one'
forget
for _ in 1 2; do
    with ping POST api/v1/ping/backup '{}' -H 'Idempotency-Key: night-1'
    expect 'the answer' "$status $(api_is .status)" '200 ok'
done
expect 'the reports' "$(reported)" 'Completed|ping by lockstep_test, token as-ping'

case_begin 'what is no report is refused, and the words that would be one are named'
forget
with ping POST api/v1/ping/nothing
expect 'a watch that there is not' "$status $(api_is '.detail, .hint' | paste -sd'|')" \
    '404 there is no job nothing|lockstep job list'
with ping POST 'api/v1/ping/backup?status=fail'
expect 'a status in the address' "$status $(api_is '"\(.field): \(.detail)"')" \
    '400 status: a change takes no parameter in its address'
expect 'which is no report' "$(reported)" ''
with ping POST api/v1/ping/here
expect 'a job that runs here' "$status $(api_is '.detail, .hint' | paste -sd'|')" \
    '409 job here is no watch: its runs are known|lockstep job show here'
for word in '"well"' '""' 7 '["ok"]'; do
    with ping POST api/v1/ping/backup "{\"status\": $word}"
    expect "$word" "$status $(api_is .field) $(api_is '.detail + .hint' | grep -c 'one of ok|fail')" '400 status 1'
done
with ping POST api/v1/ping/backup '{"state": "ok"}'
expect 'an unknown member' "$status $(api_is '.field, .hint' | paste -sd'|')" '400 state|It takes status, detail.'
with ping POST api/v1/ping/backup "{\"detail\": \"$(printf '%2001s' x)\"}"
expect 'a detail that is too long' "$status $(api_is .field)" '400 detail'
with ping GET api/v1/ping/backup
expect 'a look' "$status" 403
with operator GET api/v1/ping/backup
expect 'a method that there is not' "$status $(grep -ci '^allow: POST' "$tmp/headers")" '405 1'
expect 'none of it is a report' "$(reported)" ''

case_begin 'a token of role ping sees nothing and changes nothing'
events=$(sql 'SELECT count(*) FROM lockstep.event_log')
for path in api/v1/session api/v1/jobs/backup api/v1/stream api/v1/nothing metrics; do
    with ping GET "$path"
    expect "$path" "$status $(api_is .detail)" '403 this token reports to watches and does nothing else'
done
with ping POST "api/v1/queues/$q/pause" '{"reason": "x"}'
expect 'an action' "$status" 403
with ping POST "api/v1/queues/$q/runs" '{"tasks": [{"order": 1, "sql": "SELECT 1"}]}'
expect 'a run' "$status" 403
with ping GET api/v1/clusters
expect 'figures' "$status $(api_is '.items[0] | "\(.reachable) \(.signed_in) \(.figures)"')" '200 true false null'
expect 'nothing was done' "$(sql 'SELECT count(*) FROM lockstep.event_log')" "$events"

case_begin 'what may call lockstep.ping reports, too, and nothing else does'
forget
with operator POST api/v1/ping/backup
expect 'an operator' "$status" 200
with producer POST api/v1/ping/backup
expect 'a token that publishes' "$status" 200
with monitor POST api/v1/ping/backup
expect 'a token that looks' "$status $(api_is .hint)" \
    '403 Use a token that may: lockstep console token create NAME --role ping'
sign_in "$looks"
as POST api/v1/ping/backup
expect 'a login that looks' "$status $(api_is .hint)" "403 GRANT lockstep_worker TO $looks;"
sql "$(api_is .hint)" >/dev/null
as POST api/v1/ping/backup
expect 'the hint works' "$status" 200
api POST api/v1/ping/backup '' -b "$tmp/cookies"
expect 'not without the CSRF token' "$status" 403
api POST api/v1/ping/backup
expect 'nor without a token at all' "$status" 401
expect 'who has reported' \
    "$(sql "SELECT string_agg(source, '; ' ORDER BY occurrence_id) FROM lockstep.occurrence WHERE job = 'backup'")" \
    "ping by lockstep_test, token as-operator; ping by lockstep_test, token as-producer; ping by $looks"

case_begin 'one token does not fill the log: a hundred reports at once, then ten a second'
forget
{
    printf -- '-s\n-H "Authorization: Bearer %s"\n-w "%%{http_code} %%header{retry-after}\\n"\n-X POST\n' \
        "$(cat "$tmp/ping")"
    for _ in {1..400}; do printf 'url = "%sapi/v1/ping/backup"\noutput = /dev/null\n' "$url"; done
} >"$tmp/many"
curl -K "$tmp/many" >"$tmp/statuses"
expect 'each is taken, or told when to come again' "$(sort -u "$tmp/statuses" | paste -sd,)" '200 ,429 1'
expect 'at least a hundred are taken' "$(($(grep -c 200 "$tmp/statuses") >= 100))" 1
expect 'each that is taken is a report' "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'backup'")" \
    "$(grep -c 200 "$tmp/statuses")"
with operator POST api/v1/ping/backup
expect 'others need not wait' "$status" 200
eventually 20 eval 'with ping POST api/v1/ping/backup; [ "$status" = 200 ]'

case_begin 'a token that reports is made, listed and revoked as others'
said=$(lockstep console token create both --role ping --publish 2>&1 || echo "exit code $?")
expect 'it may not publish, too' "$(grep -c 'ping reports to watches and does nothing else$\|exit code 1' <<<"$said")" 2
roles=$(lockstep console token list -o json | jq -c '.[] | select(.name == "as-ping") | [.role, .publishes]')
expect 'its role' "$roles" \
    '["ping",false]'
with operator POST api/v1/tokens '{"name": "by-api", "role": "ping", "reason": "a backup"}'
expect 'by the API' "$status $(api_is .role)" '200 ping'
api_is .token >"$tmp/ping"
with ping POST api/v1/ping/backup
expect 'it reports' "$status" 200
with operator DELETE api/v1/tokens/by-api '{"reason": "over"}'
eventually 60 eval 'with ping POST api/v1/ping/backup; [ "$status" = 401 ]' || failed=1
expect 'the event log' \
    "$(sql "SELECT count(*) FROM lockstep.event_log
        WHERE event = 'token_created' AND detail = 'token by-api, ping: a backup'")" 1
console_stop
cases_end
exit $failed
