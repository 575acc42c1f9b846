#!/bin/bash
# replay --mode failed with conditions and idempotency keys: failed tasks and those that were cancelled for them run. A
# task that ran in spite of the failure, or because of it, has done its work and does not run again, as with run retry.
# No task runs whose key another one has.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
. "$here/replay.bash"
sql 'CREATE TABLE effect (n text); CREATE TABLE mended (n text)'
queue() { q=$(scratch_name); lockstep queue create "$q" -q --create-topic --max-readers 4; }
go() { executors 1 "$q" 4; executors_wait || { cat "$tmp/$q".*.log; failed=1; }; }
run() { run=$(lockstep publish --queue "$q" -q "$@" "$tmp/tasks.jsonl"); go; }
tasks() {
    sql "SELECT r.status || ': ' || string_agg(concat_ws('=', t.name, t.status, t.skipped), ' ' ORDER BY t.seq)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1' GROUP BY r.run_no"
}
effects() { sql "SELECT string_agg(n, ' ' ORDER BY n) FROM effect"; sql 'DELETE FROM effect'; }
line() {
    printf '{"order": %s, "name": "%s", "sql": "INSERT INTO effect VALUES ('"'%s'"')"%s}\n' "$1" "$2" "$2" \
        "${3:+, $3}"
}
bad() {
    printf '{"order": %s, "name": "%s", "sql": "INSERT INTO effect SELECT '"'%s'"' || 1 / count(*) FROM mended"%s}\n' \
        "$1" "$2" "$2" "${3:+, $3}"
}

case_begin 'under stop a replay of failed tasks decides conditions again'
queue
{
    bad 10 bad
    line 10 sibling
    line 20 plain
    line 20 clean '"condition": "always"'
    line 20 alarm '"condition": "failure"'
    bad 30 late '"condition": "always"'
    line 40 last
} >"$tmp/tasks.jsonl"
run
expect 'failed' "$(tasks "$run")" \
    'Failed: bad=Failed sibling=Completed plain=Cancelled clean=Completed alarm=Completed late=Failed last=Cancelled'
expect 'effects' "$(effects)" 'alarm clean sibling'
expect 'said' "$(replay --run "$run" --mode failed)" \
    '10:reopen:failed:1 10:skip:done:1 20:reopen:cancelled:1 20:skip:done:2 30:reopen:failed:1 40:reopen:cancelled:1'
sql 'INSERT INTO mended VALUES (1)'
replay --run "$run" --mode failed --execute --reason mended >/dev/null || { cat "$tmp/said"; failed=1; }
go
expect 'replayed' "$(tasks "$run")" \
    'Completed: bad=Completed sibling=Completed plain=Completed clean=Completed alarm=Completed late=Completed last=Completed'
expect 'what had not run' "$(effects)" 'bad1 last late1 plain'

case_begin 'when the task fails again, a task that runs because of a failure is not run twice'
sql 'DELETE FROM mended'
{
    line 5 early '"condition": "failure"'
    bad 10 bad
    line 20 alarm '"condition": "failure"'
    line 30 last
} >"$tmp/tasks.jsonl"
run
expect 'failed' "$(tasks "$run")" 'Failed: early=Cancelled=condition bad=Failed alarm=Completed last=Cancelled'
expect 'effects' "$(effects)" alarm
replay --run "$run" --mode failed --execute --reason again >/dev/null || { cat "$tmp/said"; failed=1; }
go
expect 'failed again' "$(tasks "$run")" 'Failed: early=Cancelled=condition bad=Failed alarm=Completed last=Cancelled'
expect 'no effect' "$(effects)" ''
expect 'one attempt more' "$(sql "SELECT attempt_num FROM lockstep.task JOIN lockstep.run USING (run_no)
    WHERE run_id = '$run' AND task.name = 'bad'")" 2

case_begin 'a replay of a run has its own keys again, unless another run took them'
queue
{
    line 1 a '"key": "a"'
    line 1 a2 '"key": "a"'
    bad 2 b '"key": "b"'
    line 3 c '"key": "c"'
    line 4 d
} >"$tmp/tasks.jsonl"
run
first=$run
expect 'failed' "$(tasks "$run")" 'Failed: a=Completed a2=Cancelled=duplicate b=Failed c=Cancelled d=Cancelled'
replay --run "$run" --mode failed --execute --reason again >/dev/null || { cat "$tmp/said"; failed=1; }
go
expect 'failed again' "$(tasks "$run")" 'Failed: a=Completed a2=Cancelled=duplicate b=Failed c=Cancelled d=Cancelled'
sql 'INSERT INTO mended VALUES (1)'
run
expect 'another run does it' "$(tasks "$run")" \
    'Completed: a=Cancelled=duplicate a2=Cancelled=duplicate b=Completed c=Completed d=Completed'
expect 'effects' "$(effects)" 'a b1 c d'
expect 'said' "$(replay --run "$first" --mode failed)" \
    '1:skip:done:1 1:skip:duplicate:1 2:skip:duplicate:1 3:skip:duplicate:1 4:reopen:cancelled:1'
replay --run "$first" --mode failed --execute --reason 'the rest' >/dev/null || { cat "$tmp/said"; failed=1; }
go
expect 'the rest of the first' "$(tasks "$first")" \
    'Failed: a=Completed a2=Cancelled=duplicate b=Failed c=Cancelled d=Completed'
expect 'whose keys it had' "$(effects)" d
cases_end
exit $failed
