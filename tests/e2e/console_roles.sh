#!/bin/bash
# The rights over the whole of the console's API: each method of each path of its OpenAPI document is requested as each
# kind of client. Without a sign-in every request is answered with 401, but for the public ones. Changes are answered
# with 403 for monitors, and for a cookie without its CSRF token. Publishing also needs lockstep_producer. A token that
# reports to watches does nothing else.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name) looks=$(scratch_name) acts=$(scratch_name) publishes=$(scratch_name) nothing=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
run=$(lockstep publish --queue "$q" -q - <<<'{"order": 1, "sql": "SELECT 1"}')
daemon --queue "$q" --readers 1
eventually 60 run_is "$run" Completed
lockstep job apply - \
    -q <<<"{\"job\": \"nightly\", \"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}" >/dev/null
sql "INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text)
     SELECT 'nightly', 'missed', now(), now(), now(), now(), 'sentence';
     INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
     SELECT queue_id, 1000, 'bad_json', 'detail', '\xff00' FROM lockstep.queue" >/dev/null
person "$looks" lockstep_monitor
person "$acts" lockstep_operator
person "$publishes" lockstep_producer
person "$nothing" ''
robot=$(lockstep console token create robot --role monitor -q)
watchman=$(lockstep console token create watchman --role ping -q)
console_start -b "$LOCKSTEP_TEST_BROKERS"
names=$(jq -n --arg queue "$q" --arg run "$run" --arg task "$(sql 'SELECT min(task_id) FROM lockstep.task')" \
    --arg alert "$(sql 'SELECT min(alert_id) FROM lockstep.job_alert')" \
    --arg rejected "$(sql 'SELECT min(rejected_id) FROM lockstep.rejected_message')" \
    --arg executor "$(sql 'SELECT min(executor_id::text) FROM lockstep.executor')" \
    '{$queue, $run, $task, $alert, $rejected, $executor, job: "nightly", schedule: "none", replay: "1",
        token: "robot", pid: "1"}')

# who NAME LEVEL PUBLISHES HEADERS
who() { jq -nc --arg who "$1" --arg level "$2" --argjson publishes "$3" --argjson headers "$4" '$ARGS.named'; }
# signed_in NAME [CSRF]: the headers of a web session; CSRF instead of its token
signed_in() {
    sign_in "$1"
    jq -nc --arg cookie "$(awk '$6 ~ /^lockstep_session/ { print $6 "=" $7 }' "$tmp/cookies")" --arg csrf "${2-$csrf}" \
        '{Cookie: $cookie, "X-CSRF-Token": $csrf}'
}
# asks WHO...: the differences between the answers and the table
asks() { python3 "$here/../support/console_roles.py" "$url" "$names" "$@" 2>&1; }
methods="$(lockstep console openapi | jq '[.paths[] | length] | add') methods of paths"

case_begin 'without a sign-in only what is for everyone is answered'
expect 'answers' "$(asks "$(who nobody none false '{}')")" "$methods"

case_begin 'who may look reads everything and changes nothing'
before=$(sql "SELECT count(*) FROM lockstep.event_log")
expect 'a person' "$(asks "$(who looks monitor false "$(signed_in "$looks")")")" "$methods"
expect 'a token' "$(asks "$(who robot monitor false "{\"Authorization\": \"Bearer $robot\"}")")" "$methods"
expect 'nothing was done' "$(sql "SELECT count(*) - $before FROM lockstep.event_log")" 0

case_begin 'a token that reports to watches does nothing else'
expect 'answers' "$(asks "$(who watchman ping false "{\"Authorization\": \"Bearer $watchman\"}")")" "$methods"

case_begin 'who may act changes everything but what needs the right to publish, too'
expect 'answers' "$(asks "$(who acts operator false "$(signed_in "$acts")")")" "$methods"

case_begin 'the cookie of one who may act changes nothing without the CSRF token'
before=$(sql "SELECT count(*) FROM lockstep.event_log")
expect 'answers' "$(asks "$(who forged operator false "$(signed_in "$acts" '')")")" "$methods"
expect 'nothing was done' "$(sql "SELECT count(*) - $before FROM lockstep.event_log")" 0

case_begin 'one who is in neither group does not come in, even if it may publish'
for login in "$publishes" "$nothing"; do
    eventually 20 eval \
        'api POST api/v1/session "{\"login\": \"$login\", \"password\": \"secret of $login\"}"; [ "$status" != 429 ]'
    expect 'sign-in' "$status $(api_is .detail)" \
        '403 the login is a member of neither lockstep_monitor nor lockstep_operator'
done
console_stop
told_to_end "$daemon"
cases_end
exit $failed
