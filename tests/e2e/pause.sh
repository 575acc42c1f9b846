#!/bin/bash
# A paused run holds up no other run where runs are concurrent: messages behind its own are claimed, and their runs end,
# also past the lookahead. The paused tasks run when the run is resumed, in order, each task once, although executors
# died meanwhile. Where runs are serial the later ones wait, and explain names the reason.
# ctest: timeout=180 long
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
# hold(): a task that runs until its key is in let_go; mend(): one that fails until the test has mended it.
sql <<'SQL'
CREATE TABLE let_go (q text, n int);
CREATE TABLE mended (q text);
CREATE FUNCTION hold(q text, o int, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE started timestamptz := clock_timestamp();
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go l WHERE l.q = hold.q AND l.n = hold.n) LOOP PERFORM pg_sleep(0.01); END LOOP;
    INSERT INTO ledger VALUES (q, o, n, started, clock_timestamp());
END $$;
CREATE FUNCTION mend(q text, o int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM mended m WHERE m.q = mend.q) THEN RAISE EXCEPTION 'not mended'; END IF;
    INSERT INTO ledger VALUES (q, o, n, clock_timestamp(), clock_timestamp());
END $$
SQL
publish() { lockstep publish --queue "$q" -q "$@"; }
reasons() { lockstep "$@" -o json | jq -r '[.[].reason] | join(" ")'; }
told() { # the actual state of a run
    sql "SELECT event, task_id, detail FROM lockstep.event_log JOIN lockstep.run USING (run_no)
        WHERE run_id = '$1' AND event <> 'phase_opened' ORDER BY event_id"
    counts "$1"
    lockstep run explain "$1"
    tail -20 "$tmp/daemon.log"
    exit 1
}
counts() {
    sql "SELECT string_agg(n || ' ' || status, ', ' ORDER BY status) FROM (SELECT t.status, count(*) AS n
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1' GROUP BY 1) c"
}
ended() {
    eventually 30 is "SELECT status FROM lockstep.run WHERE run_id = '$1' AND ended_at IS NOT NULL" "$2" || told "$1"
}
paused() { eventually 15 is "SELECT status FROM lockstep.run WHERE run_id = '$1'" Paused || told "$1"; }
at_end() {
    eventually 60 is "SELECT count(*) FROM lockstep.run WHERE run_id = '$1' AND end_offset IS NOT NULL" 1 ||
        told "$1"
}
at_work="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockstep/reader' AND state = 'active'
      AND query LIKE 'SELECT hold(%' AND datname = current_database()"
running() { eventually 15 is "$at_work" 1 || { lockstep queue explain "$q"; tail -20 "$tmp/daemon.log"; exit 1; }; }
# wrong RUN: order and effects of one run; its tasks wrote themselves into the ledger by seq
wrong() {
    sql <<SQL
WITH p AS (SELECT ord, min(started) AS s, max(ended) AS e FROM ledger WHERE q = '$1' GROUP BY ord),
     d AS (SELECT ord, s, lag(e) OVER (ORDER BY ord) AS before FROM p)
SELECT 'order ' || ord || ' of $1 began before the end of the one before' FROM d WHERE s < before;
SELECT 'seq ' || t.seq || ' of $1 has ' || count(l.seq) || ' effects'
FROM lockstep.task t JOIN lockstep.run r USING (run_no)
LEFT JOIN ledger l ON l.q = '$1' AND l.ord = t."order" AND l.seq = t.seq
WHERE r.name = '$1' GROUP BY t.task_id
HAVING count(l.seq) <> CASE WHEN max(t.status::text) = 'Completed' THEN 1 ELSE 0 END
SQL
}
# long LABEL ORDERS A: the first phase is one task that is let go by hand (FIRST), then ORDERS phases of 3
long() {
    local n=1 o
    echo "{\"order\": 1, \"sql\": \"SELECT $3('$1', 1, 0)\"}"
    for ((o = 2; o <= $2 + 1; o++)); do
        for _ in 1 2 3; do echo "{\"order\": $o, \"sql\": \"SELECT work('$1', $o, $n, 0)\"}"; n=$((n + 1)); done
    done
}

q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --runs concurrent --lookahead 3 --max-attempts 1
daemon --queue "$q" --readers 3

case_begin 'a paused run keeps no later run from its end, also past the lookahead'
long a 20 hold >"$tmp/a.jsonl"
long b 20 work | sed "s/work('b', 1, 0)/work('b', 1, 0, 0)/" >"$tmp/b.jsonl"
a=$(publish "$tmp/a.jsonl" --name a)
running
lockstep run pause "$a" --reason 'look first' >/dev/null
b=$(publish "$tmp/b.jsonl" --name b)
ended "$b" Completed
expect 'the paused one has not moved' \
    "$(sql "SELECT status || ' ' || completed FROM lockstep.run_status WHERE run_id = '$a'")" 'Paused 0'
at_end "$a"
expect 'all of it is recorded, nobody has it' "$(sql "SELECT count(*), count(*) FILTER (WHERE token IS NOT NULL),
        count(*) FILTER (WHERE executor_no IS NOT NULL)
    FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$a'")" '61|1|1'
expect 'explain of the paused run' "$(reasons run explain "$a" | grep -c 'run_paused')" 1
expect 'explain of its queue' "$(reasons queue explain "$q" | grep -c 'run_paused')" 1
expect 'explain of a task of it' "$(reasons task explain \
    "$(sql "SELECT max(task_id) FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$a'")" |
    grep -c 'run_paused')" 1
expect 'the lookahead is not full' "$(reasons queue explain "$q" | grep -c lookahead || true)" 0
lockstep run explain "$a" | grep -q 'is paused by .*: look first' ||
    { echo 'run explain does not say by whom'; failed=1; }
sql "INSERT INTO let_go VALUES ('a', 0)"
eventually 10 is "SELECT completed FROM lockstep.run_status WHERE run_id = '$a'" 1
expect 'what comes after it does not open' "$(sql "SELECT count(*)
    FROM lockstep.phase JOIN lockstep.run USING (run_no) WHERE run_id = '$a' AND opened_at IS NOT NULL")" 1

case_begin 'a paused run continues though its executor was killed and none was there when it was resumed'
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
lockstep run resume "$a" -q >/dev/null
daemon --queue "$q" --readers 3
ended "$a" Completed
expect 'a, b' "$(wrong a; wrong b)" ''
expect 'each once' \
    "$(sql "SELECT string_agg(q || n, ' ' ORDER BY q) FROM (SELECT q, count(*) AS n FROM ledger GROUP BY q) x")" \
    'a61 b61'

case_begin 'a run that its policy or an operator paused is cancelled or resumed while others run'
lockstep queue set "$q" -q --on-failure pause
{ long c 20 mend; } >"$tmp/c.jsonl"
c=$(publish "$tmp/c.jsonl" --name c)
paused "$c"
long d 20 mend >"$tmp/d.jsonl"
d=$(publish "$tmp/d.jsonl" --name d)
paused "$d"
sed "s/'b'/'e'/" "$tmp/b.jsonl" >"$tmp/e.jsonl"
e=$(publish "$tmp/e.jsonl" --name e)
ended "$e" Completed
at_end "$c"
at_end "$d"
expect 'explain names the failure' "$(reasons run explain "$c" | grep -c run_paused_by_failure)" 1
expect 'nothing of it has opened' "$(sql "SELECT count(*) FROM lockstep.phase JOIN lockstep.run USING (run_no)
    WHERE run_id IN ('$c', '$d') AND opened_at IS NOT NULL")" 2
sql "INSERT INTO mended VALUES ('c')"
lockstep run retry "$c" >/dev/null
lockstep run cancel "$d" --reason 'not needed' >/dev/null
ended "$c" Completed
ended "$d" Cancelled
expect 'c, d, e' "$(wrong c; wrong d; wrong e)" ''
expect 'nothing of d ran' "$(counts "$d")" '1 Failed, 60 Cancelled'

case_begin 'a run that is paused before its first message is claimed keeps nothing behind it waiting'
lockstep queue set "$q" -q --on-failure stop
lockstep queue pause "$q" -q
sed "s/'b'/'f'/" "$tmp/b.jsonl" >"$tmp/f.jsonl"
sed "s/'b'/'g'/" "$tmp/b.jsonl" >"$tmp/g.jsonl"
f=$(publish "$tmp/f.jsonl" --name f)
g=$(publish "$tmp/g.jsonl" --name g)
lockstep run pause "$f" >/dev/null
lockstep queue resume "$q" -q
ended "$g" Completed
at_end "$f"
expect 'nothing of it has opened' "$(sql "SELECT count(*) FROM lockstep.phase JOIN lockstep.run USING (run_no)
    WHERE run_id = '$f' AND opened_at IS NOT NULL")" 0
lockstep run resume "$f" >/dev/null
ended "$f" Completed
expect 'f, g' "$(wrong f; wrong g)" ''

case_begin 'where runs are serial the later one waits, and explain says for what'
# Serial: the later run waits, and explain names the reason; cancelled, the paused one lets it by, though most of it is
# not claimed. Made concurrent in the middle of that: those that begin from then on do not wait.
lockstep queue set "$q" -q --runs serial
long h 20 hold >"$tmp/h.jsonl"
h=$(publish "$tmp/h.jsonl" --name h)
running
lockstep run pause "$h" >/dev/null
sed "s/'b'/'i'/" "$tmp/b.jsonl" >"$tmp/i.jsonl"
sed "s/'b'/'j'/" "$tmp/b.jsonl" >"$tmp/j.jsonl"
i=$(publish "$tmp/i.jsonl" --name i)
sql "INSERT INTO let_go VALUES ('h', 0)"
eventually 10 is "SELECT completed FROM lockstep.run_status WHERE run_id = '$h'" 1
expect 'explain of the later run' "$(reasons run explain "$i")" 'run_paused run_unclaimed lookahead phase_before'
lockstep run cancel "$h" >/dev/null
ended "$h" Cancelled
ended "$i" Completed
expect 'h, i' "$(wrong h; wrong i)" ''
sed "s/'h'/'k'/" "$tmp/h.jsonl" >"$tmp/k.jsonl"
k=$(publish "$tmp/k.jsonl" --name k)
running
lockstep run pause "$k" >/dev/null
j=$(publish "$tmp/j.jsonl" --name j)
lockstep queue set "$q" -q --runs concurrent
ended "$j" Completed
sql "INSERT INTO let_go VALUES ('k', 0)"
lockstep run resume "$k" >/dev/null
ended "$k" Completed
expect 'j, k' "$(wrong j; wrong k)" ''

case_begin 'very many messages of a paused run cost no memory, and are continued without delay'
many=${LOCKSTEP_TEST_PAUSED:-15000}
sql 'CREATE TABLE counted (n int)'
padding=$(printf '%03000d' 0)
{
    echo "{\"order\": 1, \"sql\": \"SELECT hold('m', 1, 0)\"}"
    for ((n = 1; n <= many; n++)); do
        echo '{"order": 2, "sql": "INSERT INTO counted VALUES (2)", "description": "'$padding'"}'
    done
    for ((n = 1; n <= many / 100; n++)); do
        echo "{\"order\": $((n + 2)), \"sql\": \"INSERT INTO counted VALUES ($((n + 2)))\"}"
    done
} >"$tmp/m.jsonl"
kib() { awk '/VmRSS/ {print $2}' "/proc/$daemon/status"; }
claimed() { eventually 60 is "SELECT tasks >= $1 FROM lockstep.run WHERE run_id = '$m'" t || told "$m"; }
m=$(publish "$tmp/m.jsonl" --name m)
running
lockstep run pause "$m" >/dev/null
claimed $((many / 3))
before=$(kib)
at_end "$m"
after=$(kib)
# A sanitizer keeps what was freed.
grep -q '__[at]san_init' "$LOCKSTEP_BIN" || [ $((after - before)) -lt 15000 ] ||
    { echo "memory: $before KiB with a third of $many tasks paused, $after KiB with all"; failed=1; }
from=$SECONDS
sql "INSERT INTO let_go VALUES ('m', 0)"
lockstep run resume "$m" >/dev/null
eventually 120 is "SELECT status FROM lockstep.run WHERE run_id = '$m' AND ended_at IS NOT NULL" Completed || told "$m"
echo "$many paused tasks and $((many / 100)) phases ran in $((SECONDS - from)) s; KiB of the executor: $before, $after, $(kib)"
expect 'each once' "$(sql 'SELECT count(*) FROM counted')" $((many + many / 100))
kill -TERM "$daemon"
wait "$daemon" || { echo "the executor ended with $?"; failed=1; }
no_locks_left
grep -E 'incarnation_lost|level=error' "$tmp/daemon.log" && failed=1
cases_end
[ $failed = 0 ] || tail -30 "$tmp/daemon.log"
exit $failed
