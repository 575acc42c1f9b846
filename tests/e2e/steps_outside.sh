#!/bin/bash
# Tasks whose steps are SQL, commands and requests: each is recorded by itself, a retry continues with the step that
# failed, the time-out is for the whole attempt, and an executor takes such a task only if it is able to do all of it.
# steps_outside_kill.sh kills executors between them.
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
chmod 755 "$tmp"
http_start http
host=127.0.0.1:$port at=http://$host
printf '[executor]\nfrozen_after = 20s\nheartbeat = 200ms\n' |
    tee "$tmp/hosts.conf" "$tmp/all.conf" >"$tmp/commands.conf"
printf '[commands]\nact = %s %s\n[command:act]\nkill_after = 300ms\n' "$here/../support/act" "$tmp/act" |
    tee -a "$tmp/all.conf" >>"$tmp/commands.conf"
printf '[http]\nallow = %s\n' "$host" | tee -a "$tmp/all.conf" >>"$tmp/hosts.conf"
sql <<'SQL'
CREATE SEQUENCE late;
CREATE TABLE effect (n int GENERATED ALWAYS AS IDENTITY, task text, step text);
CREATE FUNCTION did(task text, step text) RETURNS void LANGUAGE sql
BEGIN ATOMIC INSERT INTO effect (task, step) VALUES (task, step); END
SQL
does() { printf '{"name": "%s", "sql": "SELECT did('"'%s', '%s'"')"}' "$2" "$1" "$2"; }
calls() { printf '{"name": "%s", "command": "act", "args": [%s]}' "$1" "$2"; }
asks() { printf '{"name": "%s", "url": "%s"}' "$1" "$2"; }
task() { # NAME STEPS [FIELDS]
    printf '{"order": %s, "name": "%s", "steps": [%s]%s}\n' "${order:-1}" "$1" "$2" "${3:-}"
}
once=', "max_attempts": 1' twice=', "max_attempts": 2, "retry_intervals": [0.05]'
{
    put_c="{\"name\": \"c\", \"url\": \"$at/echo/mixed\", \"method\": \"PUT\", \"body\": \"x\"}"
    task mixed "$(does mixed a), $(calls b '"span", "0"'), $put_c, $(does mixed d), $(calls e '"env"')" "$once"
    task 'sql last' "$(calls a '"env"'), $(does 'sql last' b)" "$once"
    long=$(printf 'n%.0s' {1..300})
    sends="{\"name\": \"send é\\n it\", \"url\": \"$at/echo/names\"}"
    task names "$sends, {\"name\": \"$long\", \"url\": \"$at/echo/long\"}" "$once"
    task fails "$(does fails a), $(calls b '"second"'), $(does fails c)" "$twice"
    task 'request fails' "$(does rf a), $(asks b "$at/retry/0"), $(calls c '"span", "0"')" "$twice"
    task refused "$(does refused a), $(asks b "$at/status/404"), $(does refused c)" ', "max_attempts": 5'
    task 'late command' "{\"name\": \"a\", \"sql\": [\"SELECT pg_sleep(0.4)\", \"SELECT did('lc', 'a')\"]}, $(calls b \
        '"nap", "60"'), $(does lc c)" "$twice, \"timeout\": 4"
    sleeps="SELECT pg_sleep(CASE nextval('late') WHEN 1 THEN 11 ELSE 0 END)"
    task 'late sql' \
        "$(calls a '"nap", "4"'), {\"name\": \"b\", \"sql\": [\"SELECT did('ls', 'b')\", \"$sleeps\"]}" \
        "$twice, \"timeout\": 12"
    task 'late request' "$(calls a '"span", "0.1"'), $(asks b "$at/slow/30"), $(does lr c)" "$once, \"timeout\": 3"
    order=2 task after "$(does after a), $(asks b "$at/echo/after")"
} >"$tmp/tasks.jsonl"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --on-failure continue >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
LOCKSTEP_CONFIG=$tmp/all.conf executors 1 "$q" 4
executors_wait || { cat "$tmp/$q".*.log; failed=1; }

effects() { sql "SELECT string_agg(step, ' ' ORDER BY n) FROM effect WHERE task = '$1'"; }
of() { sql "SELECT $2 FROM lockstep.task t WHERE t.name = '$1'"; }
state() { of "$1" "concat_ws('/', t.status, t.step, t.attempt_num, t.lost_num)"; }
seq() { of "$1" t.seq; }
# The steps that its commands did.
acted() { awk -v seq="$(seq "$1")" '$1 == "start" && $2 == seq { print $NF }' "$tmp/act" | paste -sd' '; }
asked() { jq -r "select(.path | endswith(\"$1\")) | .key" "$tmp/http/requests" | paste -sd' '; }
for name in mixed 'sql last' names fails 'request fails' refused 'late command' 'late sql' 'late request'; do
    echo "$name: $(state "$name")"
done >"$tmp/states"
expect 'outcomes' "$(cat "$tmp/states")" "mixed: Completed/e/1/0
sql last: Completed/b/1/0
names: Completed/$(printf 'n%.0s' {1..300})/1/0
fails: Completed/c/2/0
request fails: Completed/c/2/0
refused: Failed/b/1/0
late command: Completed/c/2/0
late sql: Completed/b/2/0
late request: Failed/b/1/0"
expect 'the type of such a task' "$(of mixed type)" sql
expect 'each step once' "$(effects mixed) / $(acted mixed) / $(asked mixed)" "a d / b / $run-0-c"
expect 'a command knows its step' "$(of mixed response | grep ^LOCKSTEP_STEP)" 'LOCKSTEP_STEP=e'
expect 'the answer of the last command or request stays' "$(of 'sql last' response | grep ^LOCKSTEP_STEP)" \
    'LOCKSTEP_STEP=a'
expect 'the key of a request names its step, in characters that a header may hold' "$(asked names)" \
    "$run-$(seq names)-send%20%C3%A9%0A%20it"
expect 'or its number' "$(asked long)" "$run-$(seq names)-#2"
expect 'a retry goes on with the command that failed' "$(effects fails) / $(acted fails)" 'a c / b b'
expect 'an attempt tells where it failed' "$(sql "SELECT a.error, a.context
    FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) WHERE t.name = 'fails'")" \
    'command act: exit code 3: not yet|step "b" (2 of 3)'
expect 'a retry goes on with the request that failed' "$(effects rf) / $(asked retry/0) / $(acted 'request fails')" \
    "a / $run-$(seq 'request fails')-b $run-$(seq 'request fails')-b / c"
expect 'what will never be better is not tried again' "$(effects refused) / $(of refused error)" \
    "a / http $host: status 404"
expect 'the time-out is for the whole attempt: a command' "$(effects lc) / $(acted 'late command')" 'a c / b b'
expect 'it is told where' "$(sql "SELECT a.error, split_part(a.context, E'\n', 1)
    FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) WHERE t.name LIKE 'late%' ORDER BY t.seq")" \
    'time-out: the attempt ran for longer than 4 s|step "b" (2 of 3)
time-out: the attempt ran for longer than 12 s|step "b" (2 of 2)
time-out: the attempt ran for longer than 3 s|step "b" (2 of 3)'
expect 'the time-out is for the whole attempt: SQL behind a command' "$(effects ls) / $(acted 'late sql')" 'b / a'
expect 'a request that is ended is not followed' "$(effects lr)" ''
expect 'all of the attempt is measured' "$(sql "SELECT a.ended_at - a.started_at BETWEEN '4 s' AND '20 s'
    FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) WHERE t.name = 'late command'")" t
expect 'the next phase waits for all steps' \
    "$(sql "SELECT min(t.started_at) FILTER (WHERE \"order\" = 2) > max(t.started_at
        + t.duration) FILTER (WHERE \"order\" = 1)
        FROM lockstep.task t")" t

case_begin 'an operator cancels the command of a step, and a retry continues with it'
executor() { # CONFIGURATION: its pid in $pid
    LOCKSTEP_CONFIG=$tmp/$1.conf "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
        --readers 2 2>>"$tmp/$1.log" &
    pid=$!
}
executor all; all=$pid
: >"$tmp/act"
task cancelled "$(does cancelled a), $(calls b '"once"'), $(does cancelled c)" "$once" >"$tmp/one.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/one.jsonl")
eventually 10 grep -qs '^start' "$tmp/act"
lockstep task cancel "$(of cancelled t.task_id)" -q >/dev/null
eventually 10 is "SELECT status FROM lockstep.task t WHERE t.name = 'cancelled'" Terminated || failed=1
while read -r p; do ! kill -0 "$p" 2>/dev/null || { echo "process $p is left"; failed=1; }; done <"$tmp/act.pids"
expect 'a cancelled step is not followed' "$(effects cancelled) / $(of cancelled t.step)" 'a / b'
eventually 10 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t
lockstep run retry "$run" -q >/dev/null
eventually 10 is "SELECT status FROM lockstep.task t WHERE t.name = 'cancelled'" Completed || failed=1
expect 'a retry goes on with it' "$(effects cancelled) / $(acted cancelled)" 'a c / b b'
lockstep replay --queue "$q" --run "$run" --mode all --execute --reason again -q >/dev/null 2>"$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
eventually 10 is "SELECT string_agg(step, ' ' ORDER BY n) FROM effect WHERE task = 'cancelled'" 'a c a c' || failed=1
eventually 10 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t

case_begin 'a command whose session is lost is done once'
# Its session is lost while a command runs: the command is done once, and the following steps are done.
: >"$tmp/act"
task session "$(does session a), $(calls b '"span", "1"'), $(calls c '"span", "0"'), $(does session d)" "$once" \
    >"$tmp/one.jsonl"
lockstep publish --queue "$q" -q "$tmp/one.jsonl" >/dev/null
eventually 10 grep -qs '^start' "$tmp/act"
expect 'sessions that are ended' "$(sql "SELECT count(pg_terminate_backend(s.pid))
    FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
    WHERE e.pid = $all AND s.kind = 'reader'")" 2
eventually 20 is "SELECT status FROM lockstep.task t WHERE t.name = 'session'" Completed || failed=1
expect 'each step once, in one attempt' "$(effects session) / $(acted session) / $(state session)" \
    'a d / b c / Completed/d/1/0'
kill -TERM "$all" && wait "$all"

case_begin 'executors that can do a part each do not pass a task on for ever'
# Executors that are able to do a part of it each: none does it, and they do not return it to each other without end.
: >"$tmp/act"
executor hosts; hosts=$pid
executor commands; commands=$pid
task both "$(does both a), $(calls b '"span", "0"'), $(asks c "$at/echo/both")" "$once" >"$tmp/one.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/one.jsonl")
nobody() {
    lockstep run explain "$run" -o jsonl | jq -r 'select(.reason == "task_nobody_able") | .sentence' | grep \
        -q "needs command:act, http:$host, which none of the executors of its queue (2) has, all of it, in its configuration"
}
eventually 20 nobody || { lockstep run explain "$run"; failed=1; }
lefts=$(cat "$tmp/hosts.log" "$tmp/commands.log" | grep -c 'event=task_left')
expect 'each has left it once at most' "$((lefts <= 2 && lefts >= 1))" 1
expect 'nothing of it is done' "$(effects both)$(acted both)$(asked both)" ''
executor all; all=$pid
eventually 20 is "SELECT status FROM lockstep.task t WHERE t.name = 'both'" Completed ||
    { lockstep run explain "$run"; failed=1; }
expect 'who is able does it' "$(effects both) / $(acted both) / $(asked both)" "a / b / $run-0-c"
expect 'it was left once at most' "$(cat "$tmp/hosts.log" "$tmp/commands.log" | grep -c 'event=task_left')" "$lefts"
kill -TERM "$hosts" "$commands" "$all"
wait "$hosts" && wait "$commands" && wait "$all" || { echo 'an executor did not end well'; failed=1; }

case_begin 'the example of the manual runs, from a folder whose name has a space, too'
unset LOCKSTEP_EXECUTOR_MAX_ATTEMPTS
cp -r "$here/../../examples/report" "$tmp/the report"
QUEUE=$(scratch_name)
export QUEUE
example() { timeout 60 "$tmp/the report/run.sh" "$db" "$LOCKSTEP_TEST_BROKERS" >"$tmp/example.log" 2>&1; }
example || failed=1
expect 'the example: what was posted' "$(grep -c '^told: {"report": "week"}$' "$tmp/example.log")" 1
expect 'the example: what was rendered' \
    "$(grep -c '^Sales of the week: week (run .*, step render)$' "$tmp/example.log")" 1
expect 'the example: its line' "$(sql "SELECT amount, told_at IS NOT NULL FROM report.line")" '280|t'
expect 'its attempts' \
    "$(sql "SELECT string_agg(t.name || ' ' || t.status || ' ' || t.attempt_num, ', ' ORDER BY t.seq)
        FROM lockstep.task t WHERE t.name IN ('sales of a week', 'report', 'tidy up')")" \
    'sales of a week Completed 1, report Completed 2, tidy up Completed 1'
[ "$failed" = 0 ] || cat "$tmp/example.log"

case_begin 'the example says that its receiver does not start, and a broken-off try is no obstacle to the next one'
lockstep queue delete "$QUEUE" --yes -q
sql 'SET client_min_messages = warning; DROP SCHEMA report CASCADE'
left() { sql "SELECT concat(to_regnamespace('report'), (SELECT name FROM lockstep.queue WHERE name = '$QUEUE'))"; }
broken_off() { # STATUS WORDS
    local status=0
    example || status=$?
    expect "$2: exit" "$status" "$1"
    grep -q "$2" "$tmp/example.log" || { cat "$tmp/example.log"; wrong "$2: not said"; }
    expect "$2: no schema and no queue are left" "$(left)" ''
}
PYTHON=$tmp/no_python broken_off 1 'does not run'
printf '#!/bin/sh\n[ "$1" = -c ]\n' >"$tmp/python_that_fails"
printf '#!/bin/sh\n[ "$1" = -c ] || exec sleep 600\n' >"$tmp/python_that_hangs"
chmod 755 "$tmp"/python_that_*
PYTHON=$tmp/python_that_fails broken_off 1 'the receiver has ended'
PYTHON=$tmp/python_that_hangs "$tmp/the report/run.sh" "$db" "$LOCKSTEP_TEST_BROKERS" >"$tmp/example.log" 2>&1 &
pid=$!
eventually 20 is "SELECT to_regnamespace('report') IS NOT NULL" t || wrong 'it does not begin'
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
expect 'after SIGTERM: exit' "$status" 130
expect 'after SIGTERM: no schema and no queue are left' "$(left)" ''
example || { cat "$tmp/example.log"; wrong 'the next try fails'; }
no_locks_left
cases_end
exit $failed
