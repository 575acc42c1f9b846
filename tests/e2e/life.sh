#!/bin/bash
# The life of a task with real executors: how often it is tried and for which errors, the server's faults, not_before,
# conditions, idempotency keys, the policy of a single run. tests/sql/life.sql has the decision of each function.
# ctest: long
. "$(dirname "$0")/../support/e2e.bash"
unset LOCKSTEP_EXECUTOR_MAX_ATTEMPTS

queue() { # OPTIONS...: a fresh one, $q
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers 4 --retry-intervals 0.05 "$@" >/dev/null
}
go() { # N: executors that run it to its end
    executors "$1" "$q" 4
    executors_wait || { cat "$tmp/$q".*.log; failed=1; }
}
run() { # OPTIONS...: publishes $tmp/tasks.jsonl, runs it; $run
    run=$(lockstep publish --queue "$q" -q "$@" "$tmp/tasks.jsonl")
    go 2
}
tasks() {
    sql "SELECT string_agg(concat_ws('=', t.name, t.status, t.skipped), ' ' ORDER BY t.task_id)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '${1:-$run}'"
}
status() { sql "SELECT status FROM lockstep.run WHERE run_id = '${1:-$run}'"; }
effects() { sql "SELECT string_agg(n, ' ' ORDER BY n) FROM effect"; sql 'DELETE FROM effect'; }
sql 'CREATE TABLE effect (n text, at timestamptz DEFAULT clock_timestamp()); CREATE SEQUENCE tries'
# A session that changes a task's row sets the time.
sql <<'SQL'
CREATE TABLE unstamped (task_id bigint, query text);
CREATE FUNCTION unstamped() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN
        INSERT INTO public.unstamped VALUES (NEW.task_id, current_query());
        RETURN NULL;
        END$$;
CREATE TRIGGER unstamped AFTER UPDATE ON lockstep.task
FOR EACH ROW WHEN (NEW IS DISTINCT FROM OLD AND NEW.updated_at <= OLD.updated_at) EXECUTE FUNCTION unstamped()
SQL

case_begin 'a task is tried three times unless the setting, the queue or the task differs, and once if a retry cannot help'
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "name": "plain", "sql": "SELECT 1 / 0"}
{"order": 1, "name": "own", "sql": "SELECT 1 / 0", "max_attempts": 4}
{"order": 1, "name": "syntax", "sql": "SELEKT 1"}
{"order": 1, "name": "undefined", "sql": "INSERT INTO nowhere VALUES (1)"}
{"order": 1, "name": "wanted", "sql": "INSERT INTO nowhere VALUES (1)", "retry_on": ["42P01"]}
{"order": 1, "name": "unwanted", "sql": "SELECT 1 / 0", "retry_on": ["all", "-22012"]}
END
attempts() {
    sql "SELECT string_agg(t.name || '=' || t.attempt_num, ' ' ORDER BY t.task_id)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'"
}
queue
run
expect 'default' "$(attempts)" 'plain=3 own=4 syntax=1 undefined=1 wanted=3 unwanted=1'
expect 'attempts are kept' "$(sql "SELECT count(*) FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id)
    WHERE t.name = 'plain'")" 3
LOCKSTEP_EXECUTOR_MAX_ATTEMPTS=2 run
expect 'setting' "$(attempts)" 'plain=2 own=4 syntax=1 undefined=1 wanted=2 unwanted=1'
lockstep queue set "$q" -q --max-attempts 1 --retry-on 42 >/dev/null
LOCKSTEP_EXECUTOR_MAX_ATTEMPTS=2 run
expect 'queue' "$(attempts)" 'plain=1 own=1 syntax=1 undefined=1 wanted=1 unwanted=1'
expect 'shown' \
    "$(lockstep queue show "$q" -o json | jq -r '.queue | "\(.max_attempts) \(.retry_intervals) \(.retry_on)"')" \
    '1 0.05 42'
lockstep queue set "$q" -q --max-attempts default --retry-on all,-0A,-28,-3D,-3F,-42
LOCKSTEP_EXECUTOR_MAX_ATTEMPTS=2 run
expect 'as the executors say, again' "$(attempts)" 'plain=2 own=4 syntax=1 undefined=1 wanted=2 unwanted=1'
for bad in '--max-attempts many' '--max-attempts -1' '--retry-on 4' '--retry-on all,42p01' '--retry-on every' \
    '--retry-intervals 1,,2' '--retry-intervals -1' '--retry-intervals 1e10' \
    "--retry-intervals $(seq -s, 1 10000)"; do
    # shellcheck disable=SC2086
    lockstep queue set "$q" $bad >"$tmp/out" 2>&1 && { echo "taken: $bad"; failed=1; }
    grep -qE 'hint:|must be' "$tmp/out" || { cat "$tmp/out"; failed=1; }
done

case_begin 'an attempt that the server fails is put off and does not count'
sql <<'SQL'
CREATE FUNCTION full_once() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('tries') = 1 THEN
        COPY (SELECT repeat('x', 100000)) TO '/dev/full';
    END IF;
    INSERT INTO effect VALUES ('full');
END
$$
SQL
echo '{"order": 1, "name": "full", "sql": "SELECT full_once()", "max_attempts": 1}' >"$tmp/tasks.jsonl"
queue
run
expect 'server: run' "$(status) $(effects)" 'Completed full'
expect 'server: task' "$(sql "SELECT attempt_num, lost_num, max_attempts FROM lockstep.task WHERE name = 'full'")" \
    '2|0|2'
expect 'server: attempt' "$(lockstep task show "$(sql "SELECT task_id FROM lockstep.task WHERE name = 'full'")" \
    -o json | jq -r '.attempts[0] | "\(.status) \(.sqlstate)"')" 'lost 53100'
echo '{"order": 1, "name": "raises", "sql": "DO $$BEGIN RAISE $a$disk full$a$ USING ERRCODE = $a$53100$a$; END$$", "max_attempts": 2}' \
    >"$tmp/tasks.jsonl"
run
expect 'server: not what the task raises' \
    "$(sql "SELECT status, attempt_num, lost_num FROM lockstep.task WHERE name = 'raises'")" 'Failed|2|0'

case_begin 'a task with not_before does not start earlier, and the next phase waits for it'
soon=$(date -u -d '+2 seconds' +%FT%T.%3NZ)
late=$(date -u -d '+1 hour' +%FT%T.%3NZ)
cat >"$tmp/tasks.jsonl" <<END
{"order": 1, "name": "now", "sql": "INSERT INTO effect VALUES ('a now')"}
{"order": 1, "name": "soon", "sql": "INSERT INTO effect VALUES ('b soon')", "not_before": "$soon"}
{"order": 1, "name": "late", "sql": "INSERT INTO effect VALUES ('c late')", "not_before": "$late"}
{"order": 2, "name": "next", "sql": "INSERT INTO effect VALUES ('d next')"}
{"order": 3, "name": "past", "sql": "INSERT INTO effect VALUES ('e past')", "not_before": "1999-12-31T23:59:59Z"}
END
queue
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 2 "$q" 4
eventually 60 is "SELECT count(*) FROM effect" 2
expect 'not_before: explained' \
    "$(lockstep run explain "$run" -o json | jq -r '[.[].reason] | index("task_not_before") != null')" true
expect 'not_before: it waits' "$(sql "SELECT status, executor_no IS NULL FROM lockstep.task WHERE name = 'late'")" \
    'Pending|t'
sql "SELECT lockstep.task_retry(task_id) FROM lockstep.task WHERE name = 'late'" >/dev/null # its time is now
executors_wait || failed=1
expect 'not_before: order' \
    "$(sql "SELECT count(*), max(at) FILTER (WHERE n < 'd') < min(at) FILTER (WHERE n = 'd next'),
            max(at) FILTER (WHERE n = 'd next') < max(at) FILTER (WHERE n = 'e past')
        FROM effect")" '5|t|t'
expect 'not_before: kept' "$(sql "SELECT at >= '$soon' FROM effect WHERE n = 'b soon'")" t
sql 'DELETE FROM effect'

case_begin 'a task with a condition runs after a failure under stop'
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 10, "name": "bad", "sql": "SELECT 1 / 0", "max_attempts": 1}
{"order": 10, "name": "sibling", "sql": "SELECT pg_sleep(0.2); INSERT INTO effect VALUES ('sibling')"}
{"order": 20, "name": "v1", "sql": "INSERT INTO effect VALUES ('v1')", "transaction": false}
{"order": 20, "name": "v2", "sql": "INSERT INTO effect VALUES ('v2')", "transaction": false}
{"order": 20, "name": "clean", "sql": "INSERT INTO effect SELECT 'clean ' || count(*) FROM effect WHERE n <> 'alarm'", "condition": "always"}
{"order": 20, "name": "v3", "sql": "INSERT INTO effect VALUES ('v3')", "transaction": false}
{"order": 20, "name": "alarm", "sql": "INSERT INTO effect VALUES ('alarm')", "condition": "failure"}
{"order": 30, "name": "later", "sql": "INSERT INTO effect VALUES ('later')"}
{"order": 40, "name": "last", "sql": "INSERT INTO effect VALUES ('last')", "condition": "failure"}
END
queue
run
expect 'stop: run' "$(status)" Failed
expect 'stop: tasks' "$(tasks)" \
    'bad=Failed sibling=Completed v1=Cancelled v2=Cancelled clean=Completed v3=Cancelled alarm=Completed later=Cancelled last=Completed'
# The cancelled tasks were in the hands of executors: nothing of it may have been started, though nothing would take its
# effect back.
expect 'stop: effects' "$(effects | sed 's/clean [12]/clean/')" 'alarm clean last sibling'
expect 'stop: order' \
    "$(sql "SELECT bool_and(l.started_at >= e.ended_at) FROM lockstep.execution_log e, lockstep.execution_log l
    WHERE e.run_id = '$run' AND l.run_id = '$run' AND e.\"order\" < l.\"order\"")" t
# As if what it needs were there now.
sql "UPDATE lockstep.task SET payload = replace(payload, '1 / 0', '1'), updated_at = clock_timestamp()
    WHERE name = 'bad'"
lockstep run retry "$run" -q --queue "$q" --reason 'repaired' >/dev/null
go 2
expect 'retry: run' "$(status)" Completed
expect 'retry: effects' "$(effects)" 'later v1 v2 v3'

case_begin 'a task with a condition does not run when nothing failed, and runs under continue'
sed -i 's,1 / 0,1,' "$tmp/tasks.jsonl"
queue
run
expect 'good: run' "$(status)" Completed
expect 'good: tasks' "$(tasks)" \
    'bad=Completed sibling=Completed v1=Completed v2=Completed clean=Completed v3=Completed alarm=Cancelled=condition later=Completed last=Cancelled=condition'
sql 'DELETE FROM effect'
sed -i '1s,SELECT 1,SELECT 1 / 0,' "$tmp/tasks.jsonl"
run --on-failure continue
expect 'continue: run' "$(status)" PartiallyCompleted
expect 'continue: tasks' "$(tasks)" \
    'bad=Failed sibling=Completed v1=Completed v2=Completed clean=Completed v3=Completed alarm=Completed later=Completed last=Completed'
expect 'the policy was the run'"'"'s' "$(sql "SELECT string_agg(on_failure, ' ' ORDER BY run_no)
    FROM lockstep.run JOIN lockstep.queue q USING (queue_id, on_failure) WHERE q.name = '$q'")" stop
sql 'DELETE FROM effect'

case_begin 'a condition is decided when the executor has died, and when no executor has the phase'
queue
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
LOCKSTEP_PROBE_DIR=$tmp LOCKSTEP_PROBE='gate.seen=kill' "$LOCKSTEP_BIN-probed" executor run -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 --until-idle 2>"$tmp/killed" &
wait $! 2>/dev/null && { echo 'it was not killed'; failed=1; }
go 1
expect 'killed: tasks' "$(tasks)" \
    'bad=Failed sibling=Completed v1=Cancelled v2=Cancelled clean=Completed v3=Cancelled alarm=Completed later=Cancelled last=Completed'
# Whichever of the phase came first.
expect 'killed: effects' "$(effects | sed 's/clean [12]/clean/')" 'alarm clean last sibling'

case_begin 'under the policy pause later runs of a serial queue wait, and explain says so'
echo '{"order": 1, "name": "bad", "sql": "SELECT 1 / 0", "max_attempts": 1}
{"order": 2, "name": "after", "sql": "INSERT INTO effect VALUES ('"'after'"')"}' >"$tmp/tasks.jsonl"
queue
run=$(lockstep publish --queue "$q" -q --on-failure pause "$tmp/tasks.jsonl")
echo '{"order": 1, "name": "other", "sql": "INSERT INTO effect VALUES ('"'other'"')"}' >"$tmp/tasks.jsonl"
other=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 4
eventually 20 is "SELECT status FROM lockstep.run WHERE run_id = '$run'" Paused
eventually 20 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$other'" 1
expect 'pause: the other one' "$(lockstep run explain "$other" -o json |
    jq -r '[.[].reason] | "\(index("run_before") != null) \(index("run_paused_by_failure") != null)"')" 'true true'
expect 'pause: nothing runs' "$(sql 'SELECT count(*) FROM effect')" 0
lockstep run resume "$run" -q --reason 'not needed' >/dev/null
executors_wait || failed=1
expect 'pause: runs' "$(status) $(status "$other") $(effects)" 'PartiallyCompleted Completed after other'
lockstep publish --queue "$q" --resume "$run" --on-failure stop "$tmp/tasks.jsonl" >"$tmp/out" 2>&1 &&
    { echo 'a policy was taken for a resumed run'; failed=1; }
grep -q 'keeps the policy' "$tmp/out" || { cat "$tmp/out"; failed=1; }

case_begin 'a task whose key is done is not done again, and the rest of a failed run is'
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "name": "a", "key": "a", "sql": "INSERT INTO effect VALUES ('a')"}
{"order": 1, "name": "a2", "key": "a", "sql": "INSERT INTO effect VALUES ('a2')"}
{"order": 2, "name": "b", "key": "b", "max_attempts": 1, "sql": "INSERT INTO effect SELECT 'b' || 1 / (nextval('tries') % 2)"}
{"order": 3, "name": "c", "key": "c", "sql": "INSERT INTO effect VALUES ('c')"}
END
queue
sql "SELECT setval('tries', 1)" >/dev/null
run
first=$run
expect 'keys: the first run' "$(status) $(tasks)" 'Failed a=Completed a2=Cancelled=duplicate b=Failed c=Cancelled'
run
expect 'keys: once more' "$(status) $(tasks)" \
    'Completed a=Cancelled=duplicate a2=Cancelled=duplicate b=Completed c=Completed'
expect 'keys: one effect each' "$(effects)" 'a b1 c'
lockstep run retry "$first" -q --queue "$q" >"$tmp/out" 2>&1 && { echo 'retried though its keys are taken'; failed=1; }
lockstep task retry "$(sql "SELECT task_id FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE run_id = '$first' AND t.name = 'b'")" >"$tmp/out" 2>&1 && failed=1
grep -q 'its key "b" is that of task' "$tmp/out" || { cat "$tmp/out"; failed=1; }
sql "SELECT setval('tries', 2)" >/dev/null
lockstep replay --queue "$q" --run "$run" --mode all --execute --reason again -q >"$tmp/out" 2>&1 ||
    { cat "$tmp/out"; failed=1; }
go 1
expect 'keys: a replay of all finds its own' "$(status) $(effects)" 'Completed b1 c'

case_begin 'more phases than the lookahead are passed when they have nothing to run: duplicates, tasks declared done'
keyed() {
    for i in {1..7}; do
        echo '{"order": '"$i"', "key": "'"$1$i"'", "sql": "INSERT INTO effect VALUES ('"'$i'"')"}'
    done
}
keyed k >"$tmp/tasks.jsonl"
queue --lookahead 2
run
expect 'each once' "$(status) $(effects)" 'Completed 1 2 3 4 5 6 7'
run
expect 'all of them duplicates' \
    "$(status) $(sql "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
        WHERE r.run_id = '$run' AND t.skipped = 'duplicate'") $(effects)" 'Completed 7 '
{
    echo '{"order": 1, "name": "long", "sql": "DO $$BEGIN FOR i IN 1..6000 LOOP EXIT WHEN EXISTS (SELECT FROM declared); PERFORM pg_sleep(0.01); END LOOP; END$$"}'
    for i in {2..6}; do echo '{"order": '"$i"', "name": "t'"$i"'", "sql": "INSERT INTO effect VALUES ('"'$i'"')"}'; done
} >"$tmp/tasks.jsonl"
sql 'CREATE TABLE declared ()'
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 4
eventually 30 is "SELECT count(*) FROM lockstep.task t WHERE t.name IN ('t2', 't3')" 2
for name in t2 t3; do
    lockstep task complete "$(sql "SELECT task_id FROM lockstep.task t WHERE t.name = '$name'")" --reason 'by hand' \
        -q >/dev/null
done
sql 'INSERT INTO declared DEFAULT VALUES'
executors_wait || { cat "$tmp/$q".*.log; failed=1; }
expect 'declared done' "$(status) $(effects)" 'Completed 4 5 6'
expect 'each opening has its line' "$(sql "SELECT string_agg(detail, ' ' ORDER BY at)
    FROM lockstep.event_log JOIN lockstep.run USING (run_no) WHERE run_id = '$run' AND event = 'phase_opened'")" \
    'order 1 order 2 order 3 order 4 order 5 order 6'

case_begin 'such phases are passed when a replay makes them and no executor has anything to claim'
keyed r >"$tmp/tasks.jsonl"
queue --lookahead 2
run
run
effects >"$tmp/out"
sql "DELETE FROM lockstep.task WHERE run_no = (SELECT run_no FROM lockstep.run WHERE run_id = '$run');
    DELETE FROM lockstep.run WHERE run_id = '$run'"
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.log" &
timeout 30 "$LOCKSTEP_BIN" replay -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --from-offset earliest \
    --to-offset latest --mode missing --execute --reason lost >"$tmp/said" 2>&1 ||
    { cat "$tmp/said" "$tmp/$q.log"; failed=1; }
jobs_end
expect 'each once' "$(cat "$tmp/out")" '1 2 3 4 5 6 7'
expect 'replayed' "$(status) $(sql "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND t.skipped = 'duplicate'") $(effects)" 'Completed 7 '

case_begin 'a last phase of duplicates ends after the retry of the phase before it'
sql 'CREATE SEQUENCE again MINVALUE 0'
{
    echo '{"order": 1, "sql": "SELECT pg_sleep(0.4 * nextval('"'again'"')), 1 / currval('"'again'"')"}'
    echo '{"order": 2, "key": "k1", "sql": "INSERT INTO effect VALUES ('"'2'"')"}'
} >"$tmp/tasks.jsonl"
queue --max-attempts 2
echo '{"order": 1, "key": "k1", "sql": "INSERT INTO effect VALUES ('"'1'"')"}' >"$tmp/first.jsonl"
lockstep publish --queue "$q" -q "$tmp/first.jsonl" >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
go 1
expect 'ended' "$(status) $(effects)" 'Completed 1'

case_begin 'a task of the last phase that is due later runs though many phases of another run have opened'
queue --runs concurrent
{
    echo '{"order": 1, "sql": "SELECT pg_sleep(1.5)"}'
    echo '{"order": 2, "not_before": "'"$(date -u -d '+3 seconds' \
        +%FT%TZ)"'", "sql": "INSERT INTO effect VALUES ('"'late'"')"}'
} >"$tmp/tasks.jsonl"
for i in {1..20}; do echo '{"order": '"$i"', "sql": "SELECT 1"}'; done >"$tmp/other.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
lockstep publish --queue "$q" -q "$tmp/other.jsonl" >/dev/null
go 1
expect 'it runs' "$(status) $(effects)" 'Completed late'

case_begin 'bad input is refused with its name, and nothing is lost'
k() { head -c "$1" /dev/zero | tr '\0' k; }
bad=('"retry_intervals": ['"$(seq -s, 1 10000)"']' '"timeout": -1' '"not_before": "294277-01-01T00:00:00Z"'
    '"key": "'"$(k 10240)"'"' '"retry_on": ["never"]' '"condition": "maybe"')
field=(retry_intervals timeout not_before key retry_on condition)
queue --on-failure continue
{
    for i in "${!bad[@]}"; do
        printf '{"order": 1, "previous_order": 0, "sql": "SELECT 1", %s}\n' "${bad[i]}"
        printf '{"order": 1, "previous_order": 0, "sql": "INSERT INTO effect VALUES ('"'%s'"')"}\n' "${field[i]}"
    done
    echo '{"type": "end"}'
} | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
go 1
expect 'bad: what is good runs' "$(effects)" 'condition key not_before retry_intervals retry_on timeout'
expect 'bad: each is kept, with its bytes' \
    "$(sql "SELECT count(*), bool_and(convert_from(m.raw, 'UTF8') LIKE '{\"order\": 1, %' AND length(m.raw) > 60)
        FROM lockstep.rejected r JOIN lockstep.rejected_message m USING (rejected_id) WHERE r.queue = '$q'")" '6|t'
for i in "${!bad[@]}"; do
    expect "bad: ${field[i]} is named" \
        "$(sql "SELECT count(*) FROM lockstep.rejected WHERE queue = '$q' AND detail LIKE '%\$.${field[i]}%'")" 1
    printf '{"order": 1, "sql": "SELECT 1", %s}\n' "${bad[i]}" >"$tmp/tasks.jsonl"
    lockstep publish --queue "$q" "$tmp/tasks.jsonl" >"$tmp/out" 2>&1 && { echo "published: ${field[i]}"; failed=1; }
    grep -qF "\$.${field[i]}" "$tmp/out" || { cat "$tmp/out"; failed=1; }
done
expect 'every change is stamped' "$(sql 'SELECT * FROM unstamped')" ''
cases_end
exit $failed
