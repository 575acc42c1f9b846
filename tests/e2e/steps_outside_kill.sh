#!/bin/bash
# An executor is killed, or is frozen for longer than T2, at every point within and between steps that are SQL, commands
# and requests. Another one continues with the step whose record is missing. SQL has its effect once; a command or a
# request is done twice only where its end was not recorded, and no step before it is done again. An executor that wakes
# records nothing, and begins nothing. Several points at a time, each with a queue of its own. LOCKSTEP_TEST_POINTS
# names other ones.
# ctest: nosan long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
. "$here/probes.bash"
chmod 755 "$tmp"
http_start http
host=127.0.0.1:$port
printf '[commands]\nact = %s\n[command:act]\nkill_after = 300ms\n[http]\nallow = %s\n' "$here/../support/act" "$host" \
    >"$tmp/lockstep.conf"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
sql "CREATE TABLE effect (n int GENERATED ALWAYS AS IDENTITY, q text, step text);
     CREATE FUNCTION did(q text, step text) RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO effect (q, step)
     VALUES (q, step);
     END"

# a and d: SQL; b and e: commands; c: a request.
point_tasks() {
    local q=$1
    does() { printf '{"name": "%s", "sql": "SELECT did($1, $2)", "params": ["%s", "%s"]}' "$1" "$q" "$1"; }
    calls() { printf '{"name": "%s", "command": "act", "args": ["%s", "span", "0"]}' "$1" "$tmp/$q.act"; }
    if [ -n "${only:-}" ]; then
        printf '{"order": 1, "steps": [%s]}\n' "$only"
        return
    fi
    printf '{"order": 1, "steps": [%s, %s, {"name": "c", "url": "http://%s/echo/%s"}, %s, %s]}\n' "$(does a)" "$(calls b)" "$host" "$q" "$(does d)" "$(calls e)"
    printf '{"order": 2, "sql": "SELECT did('"'%s', 'after'"')"}\n' "$q"
}
point_run() {
    lockstep queue create "$1" -q --create-topic --max-readers 3
    point_tasks "$1" >"$tmp/$1.jsonl"
    lockstep publish --queue "$1" -q "$tmp/$1.jsonl" >/dev/null
}

# POINT=STEP: that is done twice, when it is killed there
points="step.begun= outside.begin= outside.begun= command.spawn= command.ended=b outside.record=b outside.recorded= step.done@2=
outside.begin@2= outside.begun@2= http.send= http.ended=c outside.record@2=c outside.recorded@2= step.done@3=
block.begun@2= block.completed@2= block.committed@2= step.done@4=
outside.begin@3= outside.begun@3= command.spawn@2= command.ended@2=e outside.record@3=e outside.recorded@3="

# go ACTION POINT...: all of them at once
go() {
    local action=$1 i queues=() at twice wanted got
    shift
    at=("${@%%=*}") twice=("${@##*=}")
    case_begin "the heir of these ends well ($action): ${at[*]}"
    points_inherited "$action" "${at[@]}"
    same() { [ "$2" = "$3" ] || point_wrong "${queues[i]}" "$1: $2, not $3"; }
    for i in "${!queues[@]}"; do
        got=$(
            sql "SELECT step FROM effect WHERE q = '${queues[i]}' ORDER BY n"
            awk '$1 == "start" { print $NF }' "$tmp/${queues[i]}.act"
            jq -r "select(.path == \"/echo/${queues[i]}\") | .key" "$tmp/http/requests" | sed 's/.*-//'
        )
        wanted=$(printf '%s\n' a b c d e after ${twice[i]})
        same 'effects' "$(sort <<<"$got" | paste -sd' ')" "$(sort <<<"$wanted" | paste -sd' ')"
        same 'the commands in their order' \
            "$(awk '$1 == "start" { print $NF }' "$tmp/${queues[i]}.act" | uniq | paste -sd' ')" 'b e'
        same 'keys of the request' \
            "$(jq -r "select(.path == \"/echo/${queues[i]}\") | .key" "$tmp/http/requests" | sort -u | wc -l)" 1
        same 'the row' "$(sql "SELECT t.status, t.step, t.attempt_num <= 2
            FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '${queues[i]}'
            ORDER BY t.task_id LIMIT 1")" 'Completed|e|t'
    done
    points_report \
        "$action at POINT: the task continues with the step whose record is missing, and repeats none before it" \
        "${at[@]}"
}

read -ra all <<<"$(tr '\n' ' ' <<<"${LOCKSTEP_TEST_POINTS:-$points}")"
for ((from = 0; from < ${#all[@]}; from += 16)); do
    go kill "${all[@]:from:16}"
done 2>/dev/null
[ -n "${LOCKSTEP_TEST_POINTS:-}" ] ||
    go stop outside.begin= outside.begun= command.spawn= command.ended=b outside.record=b outside.recorded= \
        step.done@2= http.send= http.ended=c outside.record@2=c step.done@3= outside.record@3=e 2>/dev/null

# late POINT STEP: it stands still just before it acts. When it wakes, another one has done the task, and its control
# thread has not notified the reader: that begins nothing all the same.
late() {
    local q=late_$RANDOM late heir
    case_begin "an executor that wakes at $1, when another one has done the task, begins nothing"
    only=${2//QUEUE/$q} point_run "$q"
    mkdir "$tmp/$q.hit"
    : >"$tmp/$q.act"
    LOCKSTEP_PROBE=$1=stop,incarnation.lost=hold LOCKSTEP_PROBE_DIR=$tmp/$q.hit LOCKSTEP_PROBE_LOG=$tmp/reached.$q \
        point_executor "$q" "$LOCKSTEP_BIN-probed" --queue "$q"
    late=$pid
    points_hit "$1" "$q"
    point_executor heir "$LOCKSTEP_BIN" --queue "$q"
    heir=$pid
    eventually 20 points_done || wrong 'the run has not ended'
    [ ! -s "$tmp/$q.wrong" ] || wrong "$(cat "$tmp/$q.wrong")"
    kill -CONT "$late"
    eventually 10 grep -qx outside.record "$tmp/reached.$q" || failed=1
    expect "late at $1: done" \
        "$(($(grep -c ^start "$tmp/$q.act" || true) + $(grep -c "/echo/$q\"" "$tmp/http/requests" || true)))" 1
    touch "$tmp/$q.hit/incarnation.lost.go"
    eventually 15 points_again "$q" || failed=1
    told_to_end "$late" "$heir"
}
if [ -z "${LOCKSTEP_TEST_POINTS:-}" ]; then
    late command.spawn '{"name": "b", "command": "act", "args": ["'"$tmp"'/QUEUE.act", "span", "0"]}'
    late http.send '{"name": "c", "url": "http://'"$host"'/echo/QUEUE"}'
fi
case_begin 'no lock is left'
no_locks_left
printf '%s points, %s seconds\n' "${#all[@]}" "$SECONDS"
cases_end
exit $failed
