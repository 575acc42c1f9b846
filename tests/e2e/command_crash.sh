#!/bin/bash
# A running command ends when its executor is killed, is frozen and wakes, loses a session or is stopped, when its
# runner is killed, and when an operator cancels it. No process of it is left before the next attempt begins.
# ctest: timeout=90 long notsan
. "$(dirname "$0")/../support/e2e.bash"
chmod 755 "$tmp"

# task NAME VERB...: a queue of its own, with one task that runs the command, whose files are $tmp/NAME*
task() {
    name=$1 q=$(scratch_name)
    shift
    cat >"$tmp/$name.conf" <<END
[commands]
act = $here/../support/act $tmp/$name
[command:act]
kill_after = 400ms
[executor]
frozen_after = ${frozen:-10s}
heartbeat = 200ms
drain_timeout = ${drain:-30s}
END
    lockstep queue create "$q" -q --create-topic --max-readers 2 --max-attempts 1 --on-failure continue
    printf '{"order": 1, "name": "it", "command": "act", "args": [%s]}\n%s{"order": 2, "sql": "SELECT 1"}\n' \
        "$(printf '"%s"\n' "$@" | paste -sd,)" "${beside:-}" >"$tmp/$name.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/$name.jsonl")
}
# executor LOG OPTIONS...: in the background, its pid in $pid
executor() {
    local log=$1
    shift
    LOCKSTEP_CONFIG=$tmp/$name.conf "${binary:-$LOCKSTEP_BIN}" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
        --queue "$q" --readers 2 "$@" 2>>"$tmp/$name.$log.log" &
    pid=$!
}
begun() { eventually 20 grep -qs "^start" "$tmp/$name"; }
none_left() { local p; while read -r p; do ! kill -0 "$p" 2>/dev/null || return 1; done <"$tmp/$name.pids"; }
it() {
    sql "SELECT $1 FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run' AND t.name = 'it'"
}
ended() { is "SELECT status FROM lockstep.run WHERE run_id = '$run'" "$1"; }
check() { # WANTED: status/attempt/lost of the task, when the run has ended as Completed or $2
    eventually 30 ended "${2:-Completed}" || failed=1
    expect "$name: the task" "$(it "t.status || '/' || t.attempt_num || '/' || t.lost_num")" "$1"
    [ ! -e "$tmp/$name.overlap" ] || { echo "$name: $(cat "$tmp/$name.overlap")"; failed=1; }
    none_left || wrong "$name: processes are left"
}
leave() { told_to_end "$1"; }

case_begin 'a command whose executor is killed has left no process when the next attempt begins'
task killed once
executor a; a=$pid
begun
executor b; b=$pid
kill -9 "$a"
check Completed/2/1
expect "$name: what it said" "$(it t.response)" 'attempt 2'
leave "$b"

case_begin 'the runner ends a command whose executor stands still, before another executor takes the task over'
frozen=2s
task frozen once
executor a; a=$pid
begun
kill -STOP "$a"
# T1 is one second: by then the runner has ended it, and no executor has adopted the task
eventually 10 none_left
expect "$name: not taken over yet" "$(it "t.attempt_num")" 1
executor b; b=$pid
check Completed/2/1
kill -CONT "$a"
leave "$b"
leave "$a"

case_begin 'an executor that wakes before it records a command records nothing when another one has done it again'
task zombie span 0
frozen=
mkdir "$tmp/zombie.hit"
binary=$LOCKSTEP_BIN-probed LOCKSTEP_PROBE=outside.record=stop LOCKSTEP_PROBE_DIR=$tmp/zombie.hit executor a; a=$pid
eventually 20 test -f "$tmp/zombie.hit/outside.record.hit"
executor b; b=$pid
touch "$tmp/zombie.pids"
check Completed/2/1
kill -CONT "$a"
eventually 20 grep -q 'event=incarnation_lost' "$tmp/zombie.a.log"
expect "$name: the task" "$(it "t.status || '/' || t.attempt_num || '/' || t.lost_num")" Completed/2/1
expect "$name: it was done twice" "$(grep -c ^end "$tmp/zombie")" 2
leave "$b"
leave "$a"

case_begin 'a command continues when the sessions of the readers are ended'
task reader span 1
executor a; a=$pid
begun
touch "$tmp/reader.pids"
expect "$name: sessions that are ended" "$(sql "SELECT count(pg_terminate_backend(s.pid))
    FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
    WHERE e.pid = $a AND s.kind = 'reader'")" 2
check Completed/1/0
expect "$name: it was done once" "$(grep -c ^end "$tmp/reader")" 1
leave "$a"

case_begin 'an executor that loses its control session ends its command, and the attempt is not counted as lost'
task control once
executor a; a=$pid
begun
sql "SELECT pg_terminate_backend(s.pid) FROM lockstep.executor_session s JOIN lockstep.executor e USING (executor_no)
    WHERE e.pid = $a AND s.kind = 'control'" >/dev/null
check Completed/2/0 # the executor gave it up itself: that is not counted
leave "$a"

case_begin 'a command whose runner is killed has failed, and the command of another runner continues'
beside=$'{"order": 1, "name": "beside", "command": "act", "args": ["span", "2"]}\n' task runner once
executor a; a=$pid
eventually 20 grep -qs '^start 0 ' "$tmp/runner" && eventually 20 grep -qs '^start 1 ' "$tmp/runner"
own=$(sed -n 's/^start 0 1 \([0-9]*\) .*/\1/p' "$tmp/runner")
kill -9 "$(ps -o ppid= -p "$own")"
eventually 30 is "SELECT t.status FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND t.name = 'it'" Failed || failed=1
none_left || wrong "$name: processes are left"
expect "$name: the task" "$(it "t.status || ': ' || t.error")" \
    'Failed: command act: its runner ended (signal 9): whether it was done is unknown'
eventually 30 ended PartiallyCompleted || failed=1
expect "$name: the command of another runner goes on" \
    "$(sql "SELECT t.status FROM lockstep.task t WHERE t.name = 'beside'") $(grep -c '^end 1 ' "$tmp/runner")" \
    'Completed 1'
leave "$a"

case_begin 'an operator cancels a command, and no process of it is left'
task cancelled once
executor a; a=$pid
begun
eventually 10 lockstep task cancel -q "$(it t.task_id)" --reason 'not wanted' >/dev/null
eventually 30 is "SELECT t.status FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND t.name = 'it'" Terminated || failed=1
none_left || wrong "$name: processes are left"
leave "$a"

case_begin 'an executor that is to end waits for its command'
task drained span 1
executor a; a=$pid
begun
touch "$tmp/drained.pids"
leave "$a"
expect "$name: the task" "$(it "t.status || '/' || t.attempt_num")" Completed/1

case_begin 'an executor that is to end gives its command up after drain_timeout'
drain=200ms task drained_late once
executor a; a=$pid
begun
leave "$a"
none_left || wrong "$name: processes are left"
executor b --until-idle; b=$pid
check Completed/2/0
wait "$b" || failed=1
cases_end
exit $failed
