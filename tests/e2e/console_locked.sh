#!/bin/bash
# A request that waits for the database waits for as long as one statement may take, and holds up no other request. An
# answer for one person is not shown to another. A statement whose client has left is cancelled.
# ctest: timeout=180
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name) looks=$(scratch_name) sees=$(scratch_name) acts=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
person "$looks" lockstep_monitor
person "$sees" lockstep_monitor
person "$acts" "lockstep_operator, lockstep_producer"
sql "GRANT pg_monitor TO $sees" >/dev/null
token=$(lockstep console token create robot -q)
reports=$(lockstep console token create reporter --role ping -q)
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "backup", "watch": true, "schedules": [{"name": "hourly", "kind": "interval", "every": "1h"}]}]}
END
# locks TABLE: has it until lets_go
locks() {
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c 'BEGIN' -c "LOCK TABLE $1 IN ACCESS EXCLUSIVE MODE" \
        -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
    locker=$! locked=$1
    eventually 20 is "SELECT count(*) FROM pg_locks
        WHERE relation = '$1'::regclass AND mode = 'AccessExclusiveLock' AND granted AND $own_locks" 1
}
lets_go() {
    sql "SELECT count(pg_terminate_backend(pid)) FROM pg_locks
        WHERE relation = '$locked'::regclass AND mode = 'AccessExclusiveLock' AND granted AND $own_locks" >/dev/null
    wait "$locker" || true
}
waits() {
    eventually 20 is "SELECT count(*) > 0 FROM pg_locks
        WHERE relation = '$locked'::regclass AND NOT granted AND $own_locks" t
}
# asks N PATH: at once, by the processes ${asking[@]}; answered: how many got which status, and whether within the time
# of one statement
asks() {
    : >"$tmp/asked"
    asking=()
    for _ in $(seq "$1"); do
        curl -s -m 60 -o /dev/null -w '%{http_code} %{time_total}\n' -H "Authorization: Bearer $token" "$url$2" \
            >>"$tmp/asked" &
        asking+=($!)
    done
}
answered() {
    awk '{ print $1, ($2 < 8) }' "$tmp/asked" | sort | uniq -c | sed 's/^ *//'
}
# at_once LIMIT OUTCOME: the outcome of requests that were made at the same time, or of a later try with a document of
# its own. A console that lets requests wait for two statements in a row is late at each try.
at_once() {
    local try
    for try in 0 1 2; do
        [ "$try" = 0 ] || asks 48 "api/v1/rejected?limit=$(($1 + try))"
        wait "${asking[@]}" || true
        [ "$(answered)" != "$2" ] || break
    done
    answered
}

case_begin 'those who wait for one document get the outcome of its one making, and keep no one out'
console_start
asks 48 api/v1/rejected
at_once 20 '48 200 1' >"$tmp/outcome"
expect 'not locked' "$(cat "$tmp/outcome")" '48 200 1'
locks lockstep.rejected_message
asks 48 'api/v1/rejected?limit=8'
waits
for path in livez readyz; do
    api GET $path '' -m 2
    expect "$path meanwhile" "$status" 200
done
sign_in "$acts"
expect 'who signs in' "$status" 200
as GET api/v1/runs
expect 'and looks at another page' "$status" 200
at_once 30 '48 503 1' >"$tmp/outcome"
expect 'all of them get this answer at the same time' "$(cat "$tmp/outcome")" '48 503 1'

case_begin 'what a lock held up is not shown for long once it is old'
asks 1 'api/v1/rejected?limit=7'
waits
sleep 2
lets_go
wait "${asking[@]}"
expect 'it came late' "$(answered)" '1 200 1'
sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT queue_id, 0, 'json', 'it came meanwhile', 'x' FROM lockstep.queue WHERE name = '$q'" >/dev/null
items() { curl -s -m 20 -H "Authorization: Bearer $token" "${url}api/v1/rejected?limit=7" | jq '.items | length'; }
has_it() { [ "$(items)" = 1 ]; }
began=$SECONDS
curl -s -m 20 -o "$tmp/reported" -X POST -H "Authorization: Bearer $reports" "${url}api/v1/ping/backup"
kept=$(items)
# The answer took two seconds to make and is kept for ten.
[ $((SECONDS - began)) -gt 5 ] || expect 'a report of a watch changes no answer that is kept' "$kept" 0
expect 'the report' "$(sql "SELECT status FROM lockstep.occurrence WHERE job = 'backup'")" Completed
eventually 15 has_it || failed=1
[ $((SECONDS - began)) -le 25 ] || { echo "it was shown for $((SECONDS - began)) s"; failed=1; }
locks lockstep.rejected_message

case_begin 'it stops at once although a statement waits'
# The statement may wait for 5 s: a console that waits for it is late at each try.
for try in 1 2 3 4 5; do
    [ "$try" = 1 ] || console_start
    asks 24 'api/v1/rejected?limit=9'
    waits
    began=$(sql "SELECT min(query_start) FROM pg_stat_activity JOIN pg_locks l USING (pid)
        WHERE relation = '$locked'::regclass AND NOT granted AND datname = current_database()")
    console_stop
    expect 'its exit' "$?" 0
    took=$(sql "SELECT clock_timestamp() - '$began'::timestamptz")
    wait "${asking[@]}" || true
    [ "$(sql "SELECT '$took' < interval '4.5 s'")" != t ] || break
done
expect "$took, and less than a statement may take" "$(sql "SELECT '$took' < interval '4.5 s'")" t
lets_go

case_begin 'what a login sees by its own rights is not shown to another'
console_start
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c "SET application_name = 'lockstep/test'" \
    -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
sleeper=$!
eventually 20 eval \
    '[ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"'lockstep/test'"'")" = 1 ]'
sees_state() {
    as GET api/v1/system
    api_is '[.sessions[] | select(.application_name == "lockstep/test") | .state] | tostring'
}
sign_in "$sees"
expect 'who may' "$(sees_state)" '["active"]'
sign_in "$looks"
expect 'who may not, within the time that an answer is kept' "$(sees_state)" '[null]'
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'lockstep/test'" >/dev/null
wait "$sleeper" || true

case_begin 'what a session runs that is in the way is shown to those who may see payloads, and by their own rights'
lockstep publish --queue "$q" -q - <<<'{"order": 1, "sql": "SELECT 1"}' >/dev/null
open=$(lockstep publish --queue "$q" -q --name open - <<<'{"order": 1, "sql": "SELECT pg_sleep(600)"}')
daemon --queue "$q" --readers 1
eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
task=$(sql "SELECT max(task_id) FROM lockstep.task")
session_open "BEGIN" "SELECT 1 FROM lockstep.run WHERE run_id = '$open' FOR SHARE" \
    "SELECT 1 FROM lockstep.task WHERE task_id = $task FOR SHARE" \
    "SELECT pg_advisory_lock(lockstep.lock_class('phase'), 2 * max(phase_id)::int) FROM lockstep.phase"
echo "SELECT 'a parameter of a task';" >&"$session"
eventually 20 is "SELECT query FROM pg_stat_activity WHERE pid = $backend" "SELECT 'a parameter of a task';"
held="backend $backend holds"
# says PATH: whether all of its sentences about the session show the query, none of them, or all say that it is hidden.
# How many there are depends on how long other sessions have waited.
says() {
    as GET "$1"
    [ "$status" = 200 ] || { echo "$status $answer"; return; }
    api_is "[.. | (.sentence?, .text?) | strings | select(contains(\"$held\"))] | map(if contains(\"a parameter\") then \"shown\" elif contains(\"the query is hidden\") then \"hidden\" else \"left out\" end) | unique | join(\" and \")"
}
looked() {
    says "api/v1/queues/$q/explain"
    says "api/v1/runs/$open/explain"
    says "api/v1/tasks/$task/explain"
    says api/v1/system
}
console_stop # an answer that took half a second to make is kept for ten: no answer from above is left
console_start
both=$(scratch_name)
person "$both" "lockstep_operator, pg_monitor"
sign_in "$both"
two() {
    as GET "api/v1/queues/$q/explain" &&
        [ "$(api_is "[.. | .sentence? | strings | select(contains(\"$held\"))] | length >= 2")" = true ]
}
eventually 20 two || failed=1 # of a row that nothing waits for it is said after 5 s
expect 'who may act' "$(looked | paste -sd,)" shown,shown,shown,shown
sign_in "$acts"
expect 'who may act and does not see the queries of others in PostgreSQL, within the time that an answer is kept' \
    "$(looked | paste -sd,)" 'left out,left out,left out,left out'
sign_in "$sees"
expect 'who may look, although PostgreSQL lets it see queries' "$(looked | paste -sd,)" hidden,hidden,hidden,hidden
session_close
console_stop
console_start -s console.show_payloads=on
sign_in "$sees"
says api/v1/tasks/$task/explain >/dev/null
expect 'payloads are shown' "$(api_is '[.lines[].sentence | select(contains("is hidden"))] | length')" 0

case_begin 'while the database is asked about one who listens, all who listen hear what happens'
: >"$tmp/stream"
curl -s -N -m 120 -H "Authorization: Bearer $token" "${url}api/v1/stream" >"$tmp/stream" &
listener=$!
eventually 20 grep -q hello "$tmp/stream"
# heard N: an event of this number came while the same statement still waited for the lock
wait_of() {
    sql "SELECT a.pid || ' ' || a.query_start FROM pg_stat_activity a JOIN pg_locks l USING (pid)
        WHERE l.relation = 'lockstep.console_token'::regclass AND NOT l.granted AND a.query ~ 'console_token'
          AND a.datname = current_database()
        LIMIT 1"
}
heard() {
    local waiting
    eventually 20 eval '[ -n "$(wait_of)" ]'
    waiting=$(wait_of)
    sql "SELECT lockstep.queue_$2('$q', 'event $1')" >/dev/null
    eventually 20 grep -q "event $1" "$tmp/stream"
    [ -n "$waiting" ] && [ "$(wait_of)" = "$waiting" ]
}
locks lockstep.console_token
# One such statement lasts for 5 s; a machine that is too busy to send within that time gets another one.
heard 1 pause || heard 2 resume || heard 3 pause || heard 4 resume || wrong 'no event came while the statement waited'

case_begin 'few requests wait with tokens that have to be checked, and the others are refused within a second'
: >"$tmp/asked"
asking=()
for i in $(seq 10); do
    curl -s -m 60 -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $(printf '%064d' "$i")" \
        "${url}api/v1/runs" >>"$tmp/asked" &
    asking+=($!)
done
eventually 20 eval '[ "$(grep -c 503 "$tmp/asked")" -ge 5 ]'
api GET api/v1/runs '' -H "Authorization: Bearer $(printf '%064d' 11)"
expect 'one more' "$status $(api_is '.hint') $(grep -ci '^retry-after: [1-9]' "$tmp/headers")" \
    '503 Try again in a moment. 1'
lets_go
wait "${asking[@]}" || true
expect 'those that could be looked up are unknown, the rest were refused' "$(sort -u "$tmp/asked" | paste -sd' ')" \
    '401 503'
kill "$listener"
wait "$listener" 2>/dev/null || true
sql "SELECT lockstep.queue_resume('$q', 'for what follows')" >/dev/null

case_begin 'an Idempotency-Key is for one query'
sign_in "$acts"
publish() {
    api POST "api/v1/queues/$q/runs?name=$1" '' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: same' \
        -H 'Content-Type: application/jsonl' --data-binary '{"order": 1, "sql": "SELECT 1"}'
}
publish one
expect 'one' "$status" 200
first=$answer
publish one
expect 'again' "$status $answer" "200 $first"
publish two
expect 'another' "$status $(api_is .detail)" '409 the key was used for another request'

case_begin 'a change whose client leaves before it was made is not made'
locks lockstep.queue
api POST "api/v1/queues/$q/pause" '{"reason": "left"}' -m 1 -b "$tmp/cookies" -H "X-CSRF-Token: $csrf"
expect 'it left' "$status" 'curl: 28'
eventually 20 is "SELECT count(*) FROM pg_locks
    WHERE relation = 'lockstep.queue'::regclass AND NOT granted AND $own_locks" 0
lets_go
expect 'not paused' \
    "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_paused' AND detail = 'left'")" 0

case_begin 'a person whose session with PostgreSQL was ended is asked to sign in again, at once'
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE usename = '$acts' AND datname = current_database()" >/dev/null
as GET 'api/v1/runs?limit=7'
expect 'the first answer' "$status $(api_is .hint)" '401 Sign in again.'
for key in '' 'Idempotency-Key: ended'; do
    sign_in "$acts"
    sql "SELECT count(pg_terminate_backend(pid, 20000)) FROM pg_stat_activity
        WHERE usename = '$acts' AND datname = current_database()" >/dev/null
    api POST "api/v1/queues/$q/pause" '{"reason": "ended"}' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H "$key"
    expect "to a change: $key" "$status $(api_is .hint)" '401 Sign in again.'
done

case_begin 'a change whose session is lost at its commit may have been made, and its key makes it once'
sql "CREATE FUNCTION public.ends() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER ends AFTER UPDATE ON lockstep.queue
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.ends()" >/dev/null
pauses() { api POST "api/v1/queues/$q/pause" '{"reason": "lost"}' "$@"; } # CURL_ARGS...
told() { echo "$status $(api_is '.detail | sub(": .*"; "")') $(api_is .hint)"; }
unknown='503 it is not known whether the change was made'
keyless="$unknown Check whether it was made before you repeat it. Next time send an Idempotency-Key."
keyed="$unknown Repeat it with the same Idempotency-Key, which makes it once, or check whether it was made."
sign_in "$acts"
pauses -b "$tmp/cookies" -H "X-CSRF-Token: $csrf"
expect 'a person' "$(told)" "$keyless"
as GET api/v1/session
expect 'who has to sign in again' "$status" 401
sign_in "$acts"
pauses -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: lost'
expect 'a person, with a key' "$(told)" "$keyed"
robot=$(lockstep console token create actor --role operator -q)
pauses -H "Authorization: Bearer $robot"
expect 'a program' "$(told)" "$keyless"
sql "DROP TRIGGER ends ON lockstep.queue; DROP FUNCTION public.ends()" >/dev/null
sign_in "$acts"
for time in first second; do
    pauses -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: lost'
    expect "the $time time again" "$status $(api_is .changed)" '200 true'
done

case_begin 'a page may have the name of a file: that of a job'
for path in jobs/load.json jobs/a.txt; do
    api GET $path
    expect "$path" "$status $(grep -ci '^content-type: text/html' "$tmp/headers")" '200 1'
done
api GET console.js
expect 'a file in the wrong place' "$status" 404
console_stop
cases_end
exit $failed
