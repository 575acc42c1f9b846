#!/bin/bash
# Replay: its preview, its effect in each mode and with each kind of range, and its refusals.
# ctest: timeout=120 notsan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/replay.bash"
replay_create
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
publish() { tasks "$@" >"$tmp/work.jsonl"; lockstep publish --queue "$q" -q "$tmp/work.jsonl"; }

case_begin 'a replay shows what it would do and changes nothing'
flaw 20
a=$(publish a 10:3 20:2 30:2)
executors 1 "$q" 4
executors_wait || failed=1
flaw_mended
between=$(sql "SELECT clock_timestamp()")
b=$(publish b 10:2 40:3)
executors 2 "$q" 4
executors_wait || failed=1
expect 'before' "$(run_status "$a") $(run_status "$b")" 'Failed Completed'

# A preview changes nothing, for any request.
everything() {
    sql <<'SQL'
SELECT md5(string_agg(x, ' ' ORDER BY x)) FROM (
SELECT t::text AS x FROM lockstep.task t
UNION ALL SELECT r::text FROM lockstep.run r
UNION ALL SELECT p::text FROM lockstep.phase p
UNION ALL SELECT q::text FROM lockstep.queue q UNION ALL SELECT e::text FROM lockstep.event_log e
UNION ALL SELECT y::text FROM lockstep.replay y UNION ALL SELECT a::text FROM lockstep.task_attempt a) s
SQL
}
was=$(everything)
all=(--from-offset earliest --to-offset latest)
expect 'missing' "$(replay "${all[@]}")" \
    '10:skip:done:3 20:skip:failed:2 30:skip:cancelled:2 10:skip:done:2 40:skip:done:3'
expect 'failed' "$(replay "${all[@]}" --mode failed)" \
    '10:skip:done:3 20:reopen:failed:2 30:reopen:cancelled:2 10:skip:done:2 40:skip:done:3'
expect 'all' "$(replay "${all[@]}" --mode all)" \
    '10:reopen:done:3 20:reopen:failed:2 30:reopen:cancelled:2 10:reopen:done:2 40:reopen:done:3'
expect 'offsets' "$(replay --from-offset 2 --to-offset 4 --mode all)" '10:reopen:done:1 20:reopen:failed:1'
expect 'until a time' "$(replay --to-time "$between" --mode all)" \
    '10:reopen:done:3 20:reopen:failed:2 30:reopen:cancelled:2'
expect 'from a time' "$(replay --from-time "$between" --mode all)" '10:reopen:done:2 40:reopen:done:3'
expect 'a run' "$(replay --run "$b" --mode all)" '10:reopen:done:2 40:reopen:done:3'
expect 'a run by the beginning of its id' "$(replay --run "${a:0:13}" --mode failed)" \
    '10:skip:done:3 20:reopen:failed:2 30:reopen:cancelled:2'
expect 'a phase' "$(replay --run "$a" --phase 20 --mode failed)" '20:reopen:failed:2'
expect 'looking changes nothing' "$(everything)" "$was"

case_begin 'mode failed runs failed tasks again, and those that were cancelled for them'
since=$(sql "SELECT clock_timestamp()")
replay "${all[@]}" --mode failed --execute --reason 'the flaw is mended' >/dev/null || { cat "$tmp/said"; failed=1; }
executors 2 "$q" 4
executors_wait || failed=1
expect 'failed: the run' "$(run_status "$a")" Completed
expect 'failed: effects' "$(effects a) $(effects b)" '1x7 1x5'
in_order a "$since" | grep . && failed=1
expect 'failed: attempts' \
    "$(sql "SELECT string_agg(DISTINCT t.\"order\" || '=' || t.attempt_num || '/' || t.max_attempts, ' ')
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$a'")" \
    '10=1/1 20=2/2 30=1/1'
expect 'the log says why and who' "$(sql "SELECT actor = session_user AND detail LIKE '%: the flaw is mended'
    FROM lockstep.event_log WHERE event = 'replay_begun'")" t

case_begin 'mode all of one run runs its tasks once more, and the log keeps the attempts before'
since=$(sql "SELECT clock_timestamp()")
replay --run "$b" --mode all --execute --reason 'once more' >/dev/null || { cat "$tmp/said"; failed=1; }
executors 2 "$q" 4
executors_wait || failed=1
expect 'all: effects' "$(effects a) $(effects b)" '1x7 2x5'
in_order b "$since" | grep . && failed=1
expect 'all: both attempts are in the log' \
    "$(sql "SELECT count(*) FROM lockstep.execution_log WHERE run_id = '$b' AND status = 'Completed'")" 10
expect 'all: ended again' "$(run_status "$b")" Completed

case_begin 'a phase can be replayed by itself'
replay --run "$b" --phase 10 --mode all --execute --reason 'the first phase only' >/dev/null ||
    { cat "$tmp/said"; failed=1; }
executors 1 "$q" 4
executors_wait || failed=1
expect 'a phase: effects' "$(effects b)" '2x3 3x2'
expect 'a phase: the run has ended' "$(run_status "$b")" Completed

case_begin 'two failed runs of a serial queue run again one after the other'
flaw 20
flaw 60
c=$(publish c 20:2 30:2)
d=$(publish d 50:2 60:2 70:2)
executors 2 "$q" 4
executors_wait || failed=1
flaw_mended
since=$(sql "SELECT clock_timestamp()")
replay "${all[@]}" --mode failed --execute --reason 'both' >/dev/null || { cat "$tmp/said"; failed=1; }
executors 2 "$q" 4
executors_wait || failed=1
expect 'two runs' "$(run_status "$c") $(run_status "$d") $(effects c) $(effects d)" 'Completed Completed 1x4 1x6'
expect 'in log order' "$(sql "SELECT (SELECT max(ended) FROM ledger WHERE q = 'c') <= (SELECT min(started) FROM ledger
    WHERE q = 'd' AND started > '$since')")" t

case_begin 'a task for a failure that did not come is named as such, and judged again in mode all'
printf '{"order": 10, "sql": "SELECT 1"}\n{"order": 20, "sql": "SELECT 1", "condition": "failure"}\n' >"$tmp/work.jsonl"
n=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 4
executors_wait || failed=1
expect 'missing' "$(replay --run "$n")" '10:skip:done:1 20:skip:not_needed:1'
expect 'all' "$(replay --run "$n" --mode all)" '10:reopen:done:1 20:reopen:not_needed:1'
grep -q '2 messages would be run, 0 skipped' "$tmp/said" || { cat "$tmp/said"; failed=1; }

case_begin 'a replay is refused while a later phase is at work, and continues when it is not'
lockstep queue set "$q" -q --on-failure continue >/dev/null
flaw 10
tasks e 10:1 >"$tmp/work.jsonl"
printf '{"order": 20, "sql": "SELECT hold()"}\n' >>"$tmp/work.jsonl"
e=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
executors 1 "$q" 4
eventually 20 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$e' AND t.status = 'Processing'" 1
flaw_mended
status=0
lockstep replay --queue "$q" --run "$e" --mode failed --execute --reason 'too early' >/dev/null 2>"$tmp/said" ||
    status=$?
expect 'refused' "$status $(grep -c 'its later order 20 is at work' "$tmp/said")" '7 1'
id=$(sql "SELECT replay_id FROM lockstep.replay WHERE ended_at IS NULL")
grep -q -- "--resume $id" "$tmp/said" || { echo "no hint how to go on:"; cat "$tmp/said"; failed=1; }
sql "INSERT INTO gate_open VALUES (1)"
executors_wait || failed=1
expect 'refused: nothing was done' "$(effects e)" ''
replay --resume "$id" >/dev/null || { cat "$tmp/said"; failed=1; }
executors 1 "$q" 4
executors_wait || failed=1
expect 'then done' "$(effects e) $(run_status "$e")" '1x1 Completed'
sql "SELECT 'a lock is left: ' || l.* FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())" |
    grep . && failed=1
cases_end
exit $failed
