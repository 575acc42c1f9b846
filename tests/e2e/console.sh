#!/bin/bash
# The console admits only logins with a right, answers their requests, carries out the actions of operators, and keeps
# each rule of its security.
# ctest: timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name)
looks=$(scratch_name)
acts=$(scratch_name)
nothing=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 >/dev/null
printf '%s\n' '{"order": 1, "sql": "SELECT 1", "name": "<script>alert(1)</script>"}' '{"order": 1, "sql": "SELECT 2"}' \
    '{"order": 2, "sql": "SELECT 3"}' >"$tmp/tasks"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks")
executors 1 "$q" 3
executors_wait
waiting=$(lockstep publish --queue "$q" -q --name waiting "$tmp/tasks")
person "$looks" lockstep_monitor
person "$acts" lockstep_operator
person "$nothing" ''

# Remedies: REMEDY_GRANT_SIGN_IN REMEDY_GRANT_LOOK REMEDY_INHERIT REMEDY_GRANT_CONNECT REMEDY_GRANT_ACT
# REMEDY_GRANT_CONSOLE REMEDY_TOKEN_ACT
case_begin 'no one comes in without a sign-in'
console_start
api GET api/v1/runs
expect 'a list' "$status $(api_is .title)" '401 Unauthorized'
api GET api/v1/session
expect 'a session' "$status" 401
api GET api/v1/stream
expect 'the stream' "$status" 401
api GET api/v1/runs '' -H 'Authorization: Bearer 0000000000000000000000000000000000000000000000000000000000000000'
expect 'a token that does not exist' "$status" 401
port=${url//[^0-9]/}
port=${port#127001}
api GET api/v1/runs '' \
    -H "Cookie: lockstep_session_$port=0000000000000000000000000000000000000000000000000000000000000000"
expect 'a cookie that does not exist' "$status" 401
api GET livez
expect 'livez' "$status" 200
api GET readyz
expect 'readyz' "$status" 200
api GET healthz
expect 'an address that leads nowhere' "$status" 404
api GET nothing '' -H 'Accept: text/html,*/*'
expect 'a browser gets the page that says so' "$status" 200
for page in $(grep -o "path: '[a-z]*" "$(dirname "$0")/../../console/web/pages/index.js" | cut -d"'" -f2 | sort -u) \
    ''; do
    api GET "$page"
    expect "page '$page'" "$status" 200
done

case_begin 'a wrong password and a login that does not exist are refused with the same words, and then that login waits'
fail() {
    eventually 20 eval \
        'api POST api/v1/session "{\"login\": \"'"$1"'\", \"password\": \"wrong\"}"; [ "$status" != 429 ]'
}
for _ in 1 2 3 4; do fail "$acts"; done
wrong=$answer
expect 'wrong password' "$status" 401
api POST api/v1/session "{\"login\": \"$acts\", \"password\": \"secret of $acts\"}"
expect 'at once again, even if right' "$status $(grep -ci '^retry-after: [1-9]' "$tmp/headers")" '429 1'
fail "nobody_$acts"
expect 'unknown login, which waits by itself' "$status $answer" "401 ${wrong//$acts/nobody_$acts}"
eventually 20 eval \
    'api POST api/v1/session "{\"login\": \"$nothing\", \"password\": \"secret of $nothing\"}"; [ "$status" != 429 ]'
expect 'no group' "$status $(api_is .hint)" \
    "403 To look: GRANT lockstep_monitor TO \"$nothing\"; to act: GRANT lockstep_operator TO \"$nothing\";"
sql "$(api_is .hint | grep -oE 'GRANT lockstep_monitor TO [^;]+;')"
eventually 60 eval 'sign_in "$nothing"; [ "$status" != 429 ]'
expect 'the hint works' "$status" 200
sql "ALTER ROLE $nothing NOINHERIT"
eventually 20 eval \
    'api POST api/v1/session "{\"login\": \"$nothing\", \"password\": \"secret of $nothing\"}"; [ "$status" != 429 ]'
expect 'a group that is not inherited' "$status $(api_is .detail)" \
    '403 the login does not inherit the rights of its group'
sql "ALTER ROLE $nothing INHERIT;
    REVOKE lockstep_monitor FROM $nothing;
    REVOKE CONNECT ON DATABASE ${db##*dbname=} FROM PUBLIC;
    GRANT CONNECT ON DATABASE ${db##*dbname=} TO $looks, $acts"
eventually 20 eval \
    'api POST api/v1/session "{\"login\": \"$nothing\", \"password\": \"secret of $nothing\"}"; [ "$status" != 429 ]'
expect 'no right to connect' "$status $(api_is .hint)" \
    "403 GRANT CONNECT ON DATABASE \"${db##*dbname=}\" TO \"$nothing\";"
sql "GRANT CONNECT ON DATABASE ${db##*dbname=} TO PUBLIC"
grep 'event=sign_in_refused' "$tmp/console.log" | grep -q 'password authentication failed' || {
    echo "the log does not say what the server said: $(grep sign_in_refused "$tmp/console.log" | head -3)"
    failed=1
}
api POST api/v1/session '{"login": "x"}'
expect 'no password' "$status" 400
api POST api/v1/session 'not json'
expect 'no JSON' "$status" 400
eventually 20 eval \
    'api POST api/v1/session "{\"login\": \"lockstep_test\", \"password\": \"anything\"}"; [ "$status" != 429 ]'
expect 'a server that asks for no password' "$status $(api_is .detail)" '403 the server did not ask for the password'

case_begin 'who may look looks, and cannot act'
eventually 60 eval 'sign_in "$looks"; [ "$status" != 429 ]'
expect 'signed in' "$status $(api_is '.login, .operator' | paste -sd' ')" "200 $looks false"
expect 'the cookie, which another console of this host does not take for its own' \
    "$(grep -i '^set-cookie:' "$tmp/headers" | grep -c "lockstep_session_$port=.*HttpOnly; SameSite=Strict")" 1
as GET api/v1/runs
expect 'runs' "$status $(api_is '[.items[].run_id] | join(" ")')" "200 $waiting $run"
expect 'the count' "$(api_is '"\(.count) \(.capped) \(.next)"')" '2 false null'
as GET "api/v1/runs/$run"
expect 'a run' "$(api_is '.run.status, .run.tasks' | paste -sd' ')" 'Completed 3'
as GET "api/v1/runs/$run/phases"
expect 'its phases' "$(api_is '[.items[] | "\(.order):\(.tasks):\(.state)"] | join(" ")')" '1:2:done 2:1:done'
as GET "api/v1/runs/$run/tasks?limit=2"
next=$(api_is .next)
expect 'its tasks' "$(api_is '[.items[].status] | join(" ")')" 'Completed Completed'
as GET "api/v1/runs/$run/tasks?limit=2&after=$next"
expect 'the next page' "$(api_is '"\(.items | length) \(.next)"')" '1 null'
as GET "api/v1/runs/$waiting/explain"
expect 'why it waits' "$status $(api_is '.lines | length > 0')" '200 true'
task=$(sql "SELECT min(task_id) FROM lockstep.task")
as GET "api/v1/tasks/$task"
expect 'a task without its SQL' "$(api_is '.task.payload, .task.hidden' | paste -sd' ')" 'null true'
as POST "api/v1/runs/$waiting/cancel" '{"reason": "may I?"}'
expect 'no action' "$status $(api_is .detail)" '403 this needs the group lockstep_operator'
expect 'and what lets it act' "$(api_is .hint)" "GRANT lockstep_operator TO \"$looks\"; then sign in again"
as DELETE api/v1/session
expect 'signed out' "$status" 200
as GET api/v1/runs
expect 'the cookie is void' "$status" 401

case_begin 'who may act acts, with a reason and the CSRF token'
fixed=1111111111111111111111111111111111111111111111111111111111111111
eventually 60 eval \
    'api POST api/v1/session "{\"login\": \"$acts\", \"password\": \"secret of $acts\"}" -b "lockstep_session_$port=$fixed" -c "$tmp/fresh"; [ "$status" != 429 ]'
expect 'a session has an id of its own, whatever the browser brought' \
    "$status $(grep -c lockstep_session "$tmp/fresh") $(grep -c "$fixed" "$tmp/fresh")" '200 1 0'
api GET api/v1/runs '' -b "lockstep_session_$port=$fixed"
expect 'what it brought is none' "$status" 401
sign_in "$acts"
old=$(cat "$tmp/cookies")
api POST "api/v1/runs/$waiting/cancel" '{"reason": "x"}' -b "$tmp/cookies"
expect 'without the CSRF token' "$status $(api_is .code)" '403 csrf'
as POST "api/v1/runs/$waiting/cancel" '{}'
expect 'without a reason' "$status $(api_is '.field, .detail, .hint' | paste -sd'|')" \
    '400 reason|reason is missing|a text of 1 to 2000 characters: why; it is recorded'
as POST "api/v1/runs/$waiting/cancel" '{"force": true}'
expect 'what is unknown is said first' "$status $(api_is '.field, .detail, .hint' | paste -sd'|')" \
    '400 force|there is no parameter force here|It takes reason.'
as POST "api/v1/runs/$waiting/cancel" '{"reason": "x", "force": true}'
expect 'an unknown field' "$status $(api_is .field)" '400 force'
as POST "api/v1/runs/$waiting/cancel" "{\"reason\": \"$(head -c 3000 /dev/zero | tr '\0' x)\"}"
expect 'a reason of 3,000 bytes' "$status $(api_is .field)" '400 reason'
printf '{"reason": "%s"}' "$(head -c 100000 /dev/zero | tr '\0' x)" >"$tmp/large"
as POST "api/v1/runs/$waiting/cancel" "@$tmp/large"
expect 'one of 100 kB' "$status $(api_is .field)" '400 reason'
as POST "api/v1/runs/$waiting/cancel" '{"reason": "a\u0000b"}'
expect 'a NUL in it' "$status $(api_is .detail | grep -c 'u0000 is not allowed')" '400 1'
printf '{"reason": "%s"}' "$(head -c 2000000 /dev/zero | tr '\0' x)" >"$tmp/large"
as POST "api/v1/runs/$waiting/cancel" "@$tmp/large"
expect 'JSON of 2 MB' "$status $(api_is .title)" '413 Content Too Large'
expect 'it says how much may be sent' "$(api_is '.hint')" \
    'Send at most 1048576 bytes; many tasks are published in several runs.'
as POST "api/v1/runs/$waiting/cancel" '{"reason": '
expect 'half a document' "$status $(api_is '.hint | length > 0')" '400 true'
as GET 'api/v1/runs?name=%ff'
expect 'no UTF-8' "$status $(api_is '.hint | length > 0')" '400 true'
as POST api/v1/runs/actions '{"action": "cancel", "runs": [], "filter": {}, "reason": "x"}'
expect 'both of what one is needed of' "$status $(api_is .detail)" '400 more than one of runs, filter is given'
as POST api/v1/runs/actions '{"action": "cancel", "filter": {"status": "Ended"}, "reason": "x"}'
expect 'a member that does not fit' "$status $(api_is .field)" '400 status'
as POST api/v1/runs/actions '{"action": "cancel", "runs": [null], "reason": "x"}'
expect 'an item that does not fit' "$status $(api_is .field)" '400 runs'
api POST "api/v1/runs/$waiting/cancel" '' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Content-Type: text/plain' \
    -d '{"reason": "x"}'
expect 'not JSON' "$status" 415
as GET "api/v1/runs/$waiting/cancel"
expect 'by GET' "$status $(grep -i '^allow:' "$tmp/headers" | tr -d '\r')" '405 Allow: POST'
as GET api/v1/runs/actions
expect 'a word, not a run' "$status $(grep -i '^allow:' "$tmp/headers" | tr -d '\r')" '405 Allow: POST'
expect 'nothing was changed' "$(sql "SELECT cancelled_at IS NULL FROM lockstep.run WHERE run_id = '$waiting'")" t
as POST "api/v1/runs/$waiting/cancel" '{"reason": "the wrong file"}'
expect 'cancelled' "$status" 200
expect 'by whom and why' "$(sql "SELECT actor || ': ' || detail FROM lockstep.event_log
    WHERE event = 'run_cancelled'" | grep -c "^$acts: .*the wrong file")" 1
as POST "api/v1/runs/$waiting/cancel" '{"reason": "again"}'
expect 'not possible any more, and what is' "$status $(api_is .detail) $(api_is '.hint | length > 0')" \
    "409 $(api_is .detail) true"
expect 'nothing was changed by it' "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'run_cancelled'")" 1
as GET "api/v1/tasks/$task"
expect 'a task with its SQL' "$(api_is '.task.hidden')" false
sign_in "$acts"
echo "$old" >"$tmp/cookies"
as GET api/v1/runs
expect 'a second sign-in has an id of its own, the first one stays' "$status" 200

case_begin 'parameters that are wrong are refused by name, and nothing else happens'
for wrong in 'limit=0' 'limit=-1' 'limit=1000000000' 'limit=x' 'after=tasks.7' 'after=runs.x' 'status=Nonsense' \
    'since=yesterday' 'since=2026-02-30T00:00:00Z' 'since=2026-01-01T00:00:00' 'since=' 'queue=' 'limit=1&limit=2' \
    'nonsense=1'; do
    as GET "api/v1/runs?$wrong"
    expect "$wrong" "$status" 400
done
# As docs/reference/states.md has them.
for state in Publishing Published Running Paused Completed PartiallyCompleted Failed Cancelled; do
    as GET "api/v1/runs?status=$state"
    expect "runs that are $state" "$status" 200
done
as GET 'api/v1/runs?name=%77ait%69ng'
expect 'a name that is percent-encoded' "$status $(api_is '[.items[].run_id] | join(" ")')" "200 $waiting"
as GET 'api/v1/%72uns?name=wait%2Bing+x'
expect 'a plus is a blank, and %2B a plus' "$status $(api_is .count)" '200 0'
as GET "api/v1/queues/%$(printf '%x' "'${q:0:1}")${q:1}/explain"
expect 'a path that is percent-encoded' "$status" 200
as GET 'api/v1/runs?name=%4'
expect 'half of a code' "$status" 400
as GET 'api/v1/runs?name=%00'
expect 'a NUL' "$status" 400
as GET 'jobs/a.b' ''
expect 'a page whose address has a dot' "$status $(grep -c '<base href="/">' <<<"$answer")" '200 1'
as GET 'api/v1/runs?name=%ff'
expect 'no UTF-8' "$status" 400
as GET 'api/v1/runs/nonsense'
expect 'no UUID' "$status $(api_is .field)" '400 run'
as GET 'api/v1/runs/00000000-0000-4000-8000-000000000000'
expect 'an unknown run' "$status $(api_is '.detail, .hint' | paste -sd'|')" \
    '404 run 00000000-0000-4000-8000-000000000000 is not in api/v1/runs|GET api/v1/runs lists what there is.'
for since in 0000-01-01T00:00:00-23:59 9999-12-31T23:59:60.1234567890123Z 2026-01-01t00:00:00z; do
    as GET "api/v1/runs?since=${since//+/%2B}"
    expect "$since" "$status" 200
done
as GET api/v1/nonsense
expect 'an unknown path' "$status" 404

case_begin 'requests of other hosts and other sites are refused'
api GET livez '' -H 'Host: evil.example'
expect 'DNS rebinding' "$status" 421
api GET livez '' -H "Host: localhost:${url//[^0-9]/}"
as GET api/v1/session
api GET api/v1/runs '' -b "$tmp/cookies" -H 'Origin: https://evil.example'
expect 'a page of another site' "$status" 403
api POST "api/v1/runs/$waiting/cancel" '{"reason": "x"}' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" \
    -H 'Sec-Fetch-Site: cross-site'
expect 'a form of another site' "$status" 403
api OPTIONS api/v1/runs '' -b "$tmp/cookies" -H 'Origin: https://evil.example'
expect 'no CORS' "$(grep -ci '^access-control-' "$tmp/headers")" 0
as GET api/v1/runs
for header in "content-security-policy: default-src 'self'" 'x-content-type-options: nosniff' \
    "x-frame-options: DENY"; do
    expect "$header" "$(grep -ci "^$header" "$tmp/headers")" 1
done
crlf=%0d%0aX-Evil:%201
as GET "api/v1/queues/a${crlf}b"
expect 'a name with ends of lines' "$status $(grep -ci '^x-evil' "$tmp/headers")" '404 0'
as GET "api/v1/runs?name=a$crlf&after=runs.1$crlf"
expect 'and a value' "$status $(grep -ci '^x-evil' "$tmp/headers")" '400 0'
for path in "assets/a$crlf" "a$crlf" "api/v1/a$crlf" "clusters/a$crlf/"; do
    as GET "$path"
    expect "and $path" "$(grep -ci '^x-evil' "$tmp/headers")" 0
done
as POST api/v1/queues/none/pause '{"reason": "a\r\nX-Evil: 1"}'
expect 'a reason' "$(grep -ci '^x-evil' "$tmp/headers")" 0
api GET assets/../../../../etc/passwd '' --path-as-is
expect 'path traversal' "$status" 404
api GET assets/%2e%2e%2f%2e%2e%2fetc/passwd '' --path-as-is
expect 'encoded path traversal' "$status" 404
head -c 1200000 /dev/zero | tr '\0' ' ' >"$tmp/large"
api POST api/v1/session "@$tmp/large"
expect 'a body above the limit' "$status" 413

case_begin 'answers have an ETag, and are made once for all who ask within a second'
as GET "api/v1/runs/$run"
tag=$(sed -nE 's/^ETag: (.*)\r/\1/Ip' "$tmp/headers")
api GET "api/v1/runs/$run" '' -b "$tmp/cookies" -H "If-None-Match: $tag"
expect 'not sent again' "$status $answer" '304 '
as GET 'api/v1/runs?limit=49'
tag=$(sed -nE 's/^ETag: (.*)\r/\1/Ip' "$tmp/headers")
api GET 'api/v1/runs?limit=49' '' -b "$tmp/cookies" -H "If-None-Match: $tag"
expect 'nor a list' "$status $answer" '304 '
api GET api/v1/openapi.json
tag=$(sed -nE 's/^ETag: (.*)\r/\1/Ip' "$tmp/headers")
expect 'nor the description of the API' "$status $(api_is '.servers[0].url')" '200 /api/v1'
expect 'each of its operations has a name of its own' \
    "$(api_is '[.paths[][].operationId] | length == (unique | length) and all(. != null)')" true
expect 'members without a meaning' "$(api_is '[.. | objects | select(has("properties")) | .properties | to_entries[] |
    select(.value | (has("description") or (tostring | contains("$ref"))) | not) | .key] | join(" ")')" ''
expect 'headers of which a meaning speaks' \
    "$(api_is '[.. | objects | .description? | strings | scan("X-[A-Za-z-]+")] | unique | join(" ")')" \
    "$(api_is '[.. | objects | select(.in? == "header") | .name | select(startswith("X-"))] | unique | join(" ")')"
api GET api/v1/openapi.json '' -H "If-None-Match: ${tag:-none}"
expect 'which is made once' "$status ${#answer}" "304 0"

case_begin 'a token does what its role may, until it is revoked'
token=$(lockstep console token create robot --role operator -q)
api POST "api/v1/runs/$waiting/cancel" '{"reason": "again"}' -H "Authorization: Bearer $token"
expect 'it may act: the state is asked, no CSRF token' "$status" 409
api POST "api/v1/queues/$q/pause" '{"reason": "by a program"}' -H "Authorization: Bearer $token"
expect 'it acts' "$status" 200
expect 'in its own name' \
    "$(sql "SELECT actor || ', ' || (SELECT q.paused_by FROM lockstep.queue q WHERE q.name = '$q')
        FROM lockstep.event_log WHERE event = 'queue_paused' ORDER BY event_id DESC LIMIT 1")" \
    'lockstep_test, token robot, lockstep_test, token robot'
lockstep queue resume "$q" -q
forge() {
    PGPASSWORD="secret of $acts" "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db user=$acts" \
        -c "SELECT set_config('lockstep.token', $1, false)" -c "SELECT lockstep.queue_pause('$q', 'forged')" \
        -c "SELECT lockstep.queue_resume('$q', 'forged')" 2>&1 | grep -i error || true
}
forge "'robot'"
forge "'$token'"
expect 'a name, or the token, is no proof of it' \
    "$(sql "SELECT string_agg(DISTINCT actor, ' ') FROM lockstep.event_log WHERE detail LIKE '%forged%'")" "$acts"
expect 'what proves it cannot be read' "$(forge '(SELECT encode(hash, $$hex$$) FROM lockstep.console_token LIMIT 1)' |
    grep -c 'permission denied for table console_token')" 1
expect 'it is not kept' "$(sql "SELECT count(*) FROM lockstep.console_token WHERE encode(hash, 'hex') = '$token'")" 0
expect 'listed' \
    "$(lockstep console token list -o json | jq -r '.[] | "\(.name) \(.role) \(.state) \(.last_used_at != null)"')" \
    'robot operator valid true'
proof=$(printf %s "$token" | sha256sum | cut -d' ' -f1)
forge "'$proof'"
expect 'the login is named, whatever its session sets' \
    "$(sql "SELECT actor FROM lockstep.event_log WHERE event = 'queue_paused' ORDER BY event_id DESC LIMIT 1")" \
    "$acts, token robot"
lockstep console token create viewer -q >"$tmp/viewer"
api POST "api/v1/queues/$q/pause" '{"reason": "by a program"}' -H "Authorization: Bearer $(cat "$tmp/viewer")"
expect 'a token that may look is told which one may act' \
    "$status $(api_is .hint | grep -o 'lockstep console token create .*')" \
    '403 lockstep console token create acts --role operator'
own=$(scratch_name)
person "$own" lockstep_monitor
kept_url=$url kept_console=$console kept_db=$db
db="$db user=$own password='secret of $own'"
console_start # its own login may look only
db=$kept_db
api POST "api/v1/queues/$q/pause" '{"reason": "x"}' -H "Authorization: Bearer $token"
expect 'a console whose login may not act' "$status $(api_is .hint)" \
    "403 GRANT lockstep_monitor, lockstep_operator TO \"$own\";"
sql "$(api_is .hint)"
api POST "api/v1/queues/$q/pause" '{"reason": "x"}' -H "Authorization: Bearer $token"
expect 'the hint works' "$status" 200
lockstep queue resume "$q" -q
console_stop
url=$kept_url console=$kept_console
lockstep console token revoke robot -q
forge "'$proof'"
expect 'a token that was revoked is not' \
    "$(sql "SELECT actor FROM lockstep.event_log WHERE event = 'queue_paused' ORDER BY event_id DESC LIMIT 1")" "$acts"
lockstep console token create guest -q >"$tmp/guest"
api POST "api/v1/runs/$waiting/cancel" '{"reason": "x"}' -H "Authorization: Bearer $(cat "$tmp/guest")"
expect 'a guest may look only' "$status" 403
sql "UPDATE lockstep.console_token SET expires_at = now() - interval '1 s' WHERE name = 'guest'"
eventually 60 eval 'api GET api/v1/runs "" -H "Authorization: Bearer $token"; [ "$status" = 401 ]'
eventually 60 eval 'api GET api/v1/runs "" -H "Authorization: Bearer $(cat "$tmp/guest")"; [ "$status" = 401 ]'

case_begin 'the stream says what happens, and misses nothing when it is taken up again'
curl -s -N -m 60 -b "$tmp/cookies" "${url}api/v1/stream" >"$tmp/stream" &
eventually 20 grep -q hello "$tmp/stream"
lockstep queue pause "$q" -q
eventually 20 grep -q queue_paused "$tmp/stream"
id=$(sed -nE '/^id: /{s/id: //;h};/queue_paused/{x;p}' "$tmp/stream" | head -n 1)
lockstep queue resume "$q" -q
curl -s -N -m 60 -b "$tmp/cookies" -H "Last-Event-ID: $id" "${url}api/v1/stream" >"$tmp/again" &
eventually 20 grep -q queue_resumed "$tmp/again"
expect 'not what it had' "$(grep -c queue_paused "$tmp/again" || true)" 0

case_begin 'a stream begins now, or where its client was, and ends with its session'
sign_in "$acts"
lockstep queue pause "$q" -q
from=$(sql 'SELECT max(event_id) FROM lockstep.event_log')
sql "INSERT INTO lockstep.event_log (event, detail)
    SELECT 'executor_changed', 'event ' || g FROM generate_series(1, 3000) g"
last=$(sql 'SELECT max(event_id) FROM lockstep.event_log')
for job in $(jobs -pr); do [ "$job" = "$console" ] || kill "$job" 2>/dev/null || true; done
listen() { # FILE [HEADER]
    : >"$1"
    curl -s -N -m 120 -b "$tmp/cookies" "${@:2}" "${url}api/v1/stream" >>"$1" &
}
listen "$tmp/near" -H "Last-Event-ID: $((last - 100))"
listen "$tmp/far" -H "Last-Event-ID: $from"
listen "$tmp/new"
eventually 30 grep -q "event $((3000))\"" "$tmp/near"
eventually 30 grep -q 'event: reset' "$tmp/far"
eventually 30 grep -q hello "$tmp/new"
expect 'who lacks few gets them' "$(grep -c 'executor_changed' "$tmp/near") $(grep -c reset "$tmp/near" || true)" \
    '100 0'
lockstep queue resume "$q" -q
eventually 30 grep -q queue_resumed "$tmp/far"
eventually 30 grep -q queue_resumed "$tmp/new"
sql "INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT e.event, q.queue_id, 'turn ' || g
    FROM lockstep.queue q, generate_series(1, 450) g, (VALUES ('queue_changed'), ('message_rejected')) AS e (event)
    WHERE q.name = '$q'"
eventually 30 eval '[ "$(grep -c "turn 450\"" "$tmp/new")" = 2 ]'
expect 'of many events of one kind about one object the last one' "$(grep -c '"turn ' "$tmp/new")" 2
expect 'who is new, or reads anew, gets nothing old' "$(cat "$tmp/far" "$tmp/new" | grep -c executor_changed || true)" 0

case_begin 'what a long transaction wrote is heard when it commits, or all is read again'
listen "$tmp/late"
eventually 30 grep -q hello "$tmp/late"
open_transaction() { # SQL: in a transaction that ends when $tmp/commit is there
    rm -f "$tmp/commit" "$tmp/written"
    {
        echo "BEGIN; $1;"
        echo "\\! touch $tmp/written"
        echo "\\! until [ -e $tmp/commit ]; do sleep 0.05; done"
        echo "COMMIT;"
    } |
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" >/dev/null &
    eventually 20 test -e "$tmp/written"
}
open_transaction "INSERT INTO lockstep.event_log (event, detail)
    SELECT 'executor_changed', 'long ' || g FROM generate_series(1, 400) g"
sql "INSERT INTO lockstep.event_log (event, detail) VALUES ('executor_changed', 'meanwhile')"
eventually 30 grep -q meanwhile "$tmp/late"
id=$(sed -nE '/^id: /{s/id: //;h};/meanwhile/{x;p}' "$tmp/late" | head -n 1)
touch "$tmp/commit"
eventually 30 grep -q '"long 400"' "$tmp/late"
expect 'each of them' "$(grep -oE '"long [0-9]+"' "$tmp/late" | sort -u | wc -l) $(grep -c reset "$tmp/late" || true)" \
    '400 0'
listen "$tmp/late_again" -H "Last-Event-ID: $id"
eventually 30 grep -q '"long 400"' "$tmp/late_again"
of_queue() { # TEXT
    echo "INSERT INTO lockstep.event_log (event, queue_id, detail)
        SELECT 'queue_changed', queue_id, '$1' FROM lockstep.queue WHERE name = '$q'"
}
open_transaction "$(of_queue 'a long one of the queue')"
sql "$(of_queue 'a short one of the queue')"
eventually 30 grep -q 'a short one of the queue' "$tmp/late"
touch "$tmp/commit"
eventually 30 is "SELECT count(*) FROM lockstep.event_log WHERE detail LIKE 'a % one of the queue'" 2
# A client that lacks both: the look that finds the late one has the later one, too, which the others have heard.
listen "$tmp/both" -H "Last-Event-ID: $(sql "SELECT min(event_id) - 1 FROM lockstep.event_log
    WHERE detail LIKE 'a % one of the queue'")"
eventually 30 grep -q 'a long one of the queue' "$tmp/late"
base=$(sql "SELECT setval(pg_get_serial_sequence('lockstep.event_log', 'event_id'), max(event_id) + 601) - 601
    FROM lockstep.event_log")
every_other() {
    echo "INSERT INTO lockstep.event_log (event_id, event, detail) OVERRIDING SYSTEM VALUE SELECT $base + g, 'executor_changed', '$1' FROM generate_series($2, 600, 2) g"
}
open_transaction "$(every_other odd 1)"
sql "$(every_other even 2)"
all_even() { [ "$(grep -c '"even"' "$tmp/late")" = 300 ]; }
eventually 30 all_even
touch "$tmp/commit"
eventually 30 grep -q 'event: reset' "$tmp/late"
as DELETE api/v1/session
expect 'signed out' "$status" 200
ended() { ! pgrep -f "curl -s -N -m 120 .*${url}api/v1/stream" >/dev/null; }
eventually 30 ended

case_begin 'a program whose session with PostgreSQL was ended is answered on a new one'
token=$(lockstep console token create second -q)
api GET api/v1/runs '' -H "Authorization: Bearer $token"
expect 'before' "$status" 200
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name = 'lockstep/console' AND datname = current_database()" >/dev/null
api GET api/v1/runs '' -H "Authorization: Bearer $token"
expect 'the first answer' "$status" 200

case_begin 'whether it lives is answered while all of its workers wait for the database'
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c 'BEGIN' -c 'LOCK TABLE lockstep.run' \
    -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
locker=$!
eventually 20 is "SELECT count(*) FROM pg_locks
    WHERE relation = 'lockstep.run'::regclass AND mode = 'AccessExclusiveLock' AND granted AND $own_locks" 1
asking=()
for _ in $(seq 24); do
    # Not what is kept from before.
    curl -s -m 60 -o /dev/null -H "Authorization: Bearer $token" "${url}api/v1/runs?limit=77" &
    asking+=($!)
done
eventually 20 is "SELECT count(*) > 0 FROM pg_locks
    WHERE relation = 'lockstep.run'::regclass AND NOT granted AND $own_locks" t
for _ in 1 2 3; do
    api GET livez '' -m 2
    expect 'it lives' "$status" 200
done
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_locks
    WHERE relation = 'lockstep.run'::regclass AND mode = 'AccessExclusiveLock' AND granted AND $own_locks" >/dev/null
wait "$locker" "${asking[@]}" || true

case_begin 'it ends when it is asked to, while clients ask and listen'
listen "$tmp/at_end" -H "Authorization: Bearer $token"
eventually 30 grep -q hello "$tmp/at_end"
eventually 30 grep -q '^: ' "$tmp/at_end" || { echo 'the stream has no heartbeat'; failed=1; }
: >"$tmp/asking"
python3 - "$url" >>"$tmp/asking" <<'END' &
import http.client, sys, urllib.parse
at = urllib.parse.urlparse(sys.argv[1])
asking = [http.client.HTTPConnection(at.hostname, at.port, timeout=20) for _ in range(4)]
try:
    while True:
        for one in asking:
            one.request('GET', '/livez')
            one.getresponse().read()
        print('asked', flush=True)
except (OSError, http.client.HTTPException):
    pass
END
asker=$!
eventually 30 grep -q asked "$tmp/asking"
console_stop
expect 'its exit' "$?" 0
wait "$asker"

case_begin 'what would be dangerous does not start'
refused() { "$LOCKSTEP_BIN" "$@" -s "postgres.conninfo=$db" console run 2>&1 | tail -n 2; }
expect 'a folder without the page' "$("$LOCKSTEP_BIN" -s "postgres.conninfo=$db" console run --listen 0 \
    --assets /nonexistent 2>&1 | grep -c '/nonexistent: there is no index.html')" 1
expect 'an address that is none, and the forms' "$("$LOCKSTEP_BIN" -s "postgres.conninfo=$db" console run \
    --listen foo 2>&1 | grep -c 'An address is a port (8330: of this host only), HOST:PORT')" 1
expect 'no sign-in for others' \
    "$(refused -s console.listen=0.0.0.0:0 -s console.login=none | grep -c 'login = none needs a loopback address')" 1
expect 'no TLS for others' "$(refused -s console.listen=0.0.0.0:0 | grep -c 'needs TLS')" 1
expect 'a base path without a slash' "$(refused -s console.base_path=x | grep -c 'begins and ends with a slash')" 1
expect 'a key without a certificate' "$(refused -s console.tls_key=/nonexistent | grep -c 'Set both')" 1
expect 'an address that is not ours' \
    "$(refused -s console.listen=192.0.2.1:8330 | grep -c 'not an address of this host')" 1
expect 'a path that cannot be' "$(refused -s console.listen=/nonexistent/socket | grep -c 'cannot listen')" 1
. "$here/../support/http.bash"
http_certificate
openssl genrsa -out "$tmp/other.pem" 2048 2>/dev/null
expect 'a key of another certificate' \
    "$(refused -s "console.tls_certificate=$tmp/cert.pem" -s "console.tls_key=$tmp/other.pem" | grep -c 'do not fit')" 1

case_begin 'TLS, a base path and a Unix socket'
console_start -s "console.tls_certificate=$tmp/cert.pem" -s "console.tls_key=$tmp/key.pem" \
    -s console.base_path=/lockstep/
expect 'a certificate of a day is announced' "$(grep -c 'event=certificate_expires' "$tmp/console.log")" 1
expect 'its address' "$(grep -c '^https://.*/lockstep/$' <<<"$url")" 1
api GET livez '' -k
expect 'over TLS, below its path' "$status" 200
eventually 60 eval \
    'api POST api/v1/session "{\"login\": \"$acts\", \"password\": \"secret of $acts\"}" -k; [ "$status" != 429 ]'
expect 'a secure cookie for its path' \
    "$(grep -i '^set-cookie:' "$tmp/headers" | grep -c 'Path=/lockstep/; HttpOnly; SameSite=Strict; Secure')" 1
url=${url%lockstep/} api GET livez '' -k
expect 'nothing beside its path' "$status" 404
busy=${url#https://127.0.0.1:}
expect 'a port in use' "$(refused -s "console.listen=${busy%%/*}" | grep -c 'Another process listens there')" 1
console_stop
"$LOCKSTEP_BIN" -s "postgres.conninfo=$db" -s "console.listen=$tmp/socket" -s console.login=none console run \
    2>"$tmp/socket.log" &
console=$!
eventually 30 grep -q console_started "$tmp/socket.log"
expect 'over a socket' "$(curl -s --unix-socket "$tmp/socket" http://localhost/api/v1/session | jq -r .login)" anonymous
expect 'its socket is in use' "$(refused -s "console.listen=$tmp/socket" | grep -c 'ss -lxp shows which')" 1
asked=$(curl -s --unix-socket "$tmp/socket" -H 'Content-Type: application/json' -d '{"reason": "x"}' "http://localhost/api/v1/queues/$q/pause")
expect 'what one who has not signed in lacks' "$(jq -r '"\(.status) \(.hint)"' <<<"$asked" |
    grep -c '^403 Use a token that may act, or .console. login = postgres')" 1
console_stop
expect 'its socket is gone' "$([ -e "$tmp/socket" ] && echo there)" ''

case_begin 'a console that asks for no sign-in does nothing for pages of other sites'
console_start -s console.login=none -s console.anonymous=operator
attack() { curl -s -m 30 -o /dev/null -w '%{http_code}' -X POST "${url}api/v1/$1" "${@:2}"; }
json=(-H 'Content-Type: application/json' --data-binary '{"reason": "x"}')
expect 'a form as text' "$(attack "queues/$q/pause" -H 'Content-Type: text/plain' --data-binary '{"reason": "x"}')" 415
expect 'a form' "$(attack "queues/$q/pause" -d 'reason=x')" 415
expect 'a body of no type' "$(attack "queues/$q/pause" -H 'Content-Type:' --data-binary '{"reason": "x"}')" 415
expect 'a page of another site' "$(attack "queues/$q/pause" -H 'Origin: https://evil.example' "${json[@]}")" 403
expect 'a page of no site' "$(attack "queues/$q/pause" -H 'Origin: null' "${json[@]}")" 403
expect 'one that names itself only so' "$(attack "queues/$q/pause" -H 'Sec-Fetch-Site: cross-site' "${json[@]}")" 403
expect 'a form without fields' "$(attack jobs/none/run -H 'Origin: https://evil.example')" 403
expect 'a name that leads here' "$(attack "queues/$q/pause" -H 'Host: evil.example' "${json[@]}")" 421
expect 'nothing was done' "$(sql "SELECT paused FROM lockstep.queue WHERE name = '$q'")" f
expect 'its own page' "$(attack "queues/$q/pause" -H "Origin: ${url%/}" "${json[@]}")" 200
console_stop
cases_end
exit $failed
