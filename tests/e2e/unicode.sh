#!/bin/bash
# Real input: examples/unicode, landed, published with --query and run by two executors, gives the facts that awk finds
# in the same files; every task ran once, and no order began before the one before it had ended.
# ctest: timeout=120 notsan
. "$(dirname "$0")/../support/e2e.bash"
example=$here/../../examples/unicode
export PATH="$LOCKSTEP_TEST_PGBIN:$PATH"
queue=unicode_$$

case_begin 'the example runs to its end: every task once, in order, within the bound'
lockstep queue create "$queue" --topic "$(scratch_name)" -q --create-topic --max-readers 6 >"$tmp/create" 2>&1 ||
    { cat "$tmp/create" >&2; exit 1; }
"$example/land.sh" "$db"
query=$(cat "$example/pipeline.sql")
staged=$(sql "SELECT count(*) || ' tasks in ' || count(DISTINCT \"order\") || ' orders' FROM ($query) AS staged")
run=$(lockstep publish --queue "$queue" --name unicode -q --query "$query")

executors 2 "$queue" 4
executors_wait || failed=1
log="(SELECT * FROM lockstep.execution_log WHERE queue = '$queue' AND run_id = '$run')"
ran=$(sql "SELECT count(DISTINCT seq) || ' tasks in ' || count(DISTINCT \"order\") || ' orders' FROM $log AS log")
[ "$ran" = "$staged" ] || wrong "staged were $staged, ran $ran"
sql "SELECT count(*) >= 100 AND count(DISTINCT \"order\") >= 6 FROM $log AS log" | grep -qx t ||
    wrong "the pipeline is too small: $ran"

findings=$(
    sql <<SQL
SELECT 'the run is ' || status || ' with ' || tasks || ' tasks, of which completed: ' || completed
FROM lockstep.run_status WHERE run_id = '$run' AND NOT (status = 'Completed' AND completed = tasks);

SELECT format('task %s, %s, attempt %s: %s %s', task_id, name, attempt, status, error)
FROM $log AS log WHERE status <> 'Completed' OR ended_at IS NULL OR ended_at < started_at;

SELECT format('task %s ran %s times', task_id, count(*)) FROM $log AS log GROUP BY task_id HAVING count(*) <> 1;

SELECT format('order %s began %s before the end of order %s', "order", ended - began, before)
FROM (SELECT "order", min(started_at) AS began, lag("order") OVER phases AS before,
             lag(max(ended_at)) OVER phases AS ended
      FROM $log AS log GROUP BY "order" WINDOW phases AS (ORDER BY "order")) AS phase
WHERE began < ended;

SELECT format('order %s names %s as the one before, which is %s', "order", named, coalesce(before, 0))
FROM (SELECT "order", previous_order AS named, lag("order") OVER (ORDER BY "order") AS before
      FROM $log AS log GROUP BY "order", previous_order) AS phase
WHERE named <> coalesce(before, 0);

SELECT format('%s tasks ran at once, the bound is 6', max(running))
FROM (SELECT sum(change) OVER (ORDER BY at, change ROWS UNBOUNDED PRECEDING) AS running
      FROM (SELECT started_at, 1 FROM $log AS log
            UNION ALL SELECT ended_at, -1 FROM $log AS log) AS changes (at, change)) AS bound
HAVING max(running) > 6;

SELECT 'a message was rejected: ' || reason || ' ' || coalesce(detail, '')
FROM lockstep.rejected WHERE queue = '$queue'
SQL
)
[ -z "$findings" ] || wrong "$findings"

sql "SELECT format('%s in %s s, by %s executors', '$ran', round(extract(epoch FROM max(ended_at) - min(started_at)), 1),
                   count(DISTINCT executor_id)) FROM $log AS log"

case_begin 'the views that the example publishes have the facts that awk finds in the same files'
if sql "$(cat "$example/facts.sql")" >"$tmp/facts" 2>"$tmp/error"; then
    tr '|' '\t' <"$tmp/facts" >"$tmp/published"
    "$example/facts.sh" >"$tmp/awk"
    facts=$(wc -l <"$tmp/awk")
    [ "$facts" -ge 500 ] || wrong "awk finds $facts facts only"
    diff -u --label awk --label published "$tmp/awk" "$tmp/published" >&2 || wrong 'the facts differ'
else
    wrong "the published views cannot be read: $(cat "$tmp/error")"
fi
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp/$queue".*.log
exit $failed
