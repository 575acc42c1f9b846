# tests/e2e/ledger.bash: tasks that write down when they ran, and the checker of the promises over what they wrote and
# over lockstep.execution_log. Sourced after tests/support/shell.bash; it has what checks.bash has.

. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.bash"

# work(ord, seq, seconds): the work of a task; its row is part of the task's own transaction.
ledger_create() {
    sql <<'SQL'
CREATE TABLE ledger (q text, ord bigint, seq bigint, started timestamptz, ended timestamptz);
CREATE FUNCTION work(q text, ord bigint, seq bigint, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE started timestamptz := clock_timestamp();
BEGIN
    PERFORM pg_sleep(seconds);
    INSERT INTO ledger VALUES (q, ord, seq, started, clock_timestamp());
END $$
SQL
}

# hold_create [ROLE]: makes hold(text), a function that waits for a row with its text in the table let_go. ROLE may read
# that table.
hold_create() {
    sql <<'SQL'
CREATE TABLE let_go (what text);
CREATE FUNCTION hold(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM public.let_go l WHERE l.what = hold.what) LOOP PERFORM pg_sleep(0.01); END LOOP;
END $$
SQL
    [ $# = 0 ] || sql "GRANT SELECT ON let_go TO $1"
}

# ledger_tasks QUEUE SEED PHASES MOST_TASKS MOST_MS: JSON Lines, unsorted within what publish may sort; a tenth of the
# tasks takes the way through an explicit transaction (DO), the sizes are skewed so that small and large phases meet.
ledger_tasks() {
    awk -v q="$1" -v seed="$2" -v phases="$3" -v most="$4" -v ms="$5" 'BEGIN {
        srand(seed); order = 0; n = 0
        for (p = 0; p < phases; p++) {
            order += 1 + int(rand() * 100); tasks = 1 + int(most * rand() ^ 3)
            for (t = 0; t < tasks; t++) {
                call = sprintf("work('\''%s'\'', %d, %d, %.4f)", q, order, n++, rand() < 0.5 ? 0 : rand() * ms / 1000)
                if (rand() < 0.1) call = "DO $$BEGIN PERFORM " call "; END$$"; else call = "SELECT " call
                printf "{\"order\": %d, \"sql\": \"%s\"}\n", order, call
            }
        }
    }'
}

# ledger_check QUEUE BOUND: prints what is wrong, one line each; nothing when all promises were kept. ledger_wrong: the
# same, of tables that are analysed.
ledger_check() {
    sql 'ANALYZE' # fresh tables of many rows
    ledger_wrong "$@"
}

ledger_wrong() {
    sql <<SQL
-- strict order, as the tasks saw it and as the log says
WITH p AS (SELECT ord, min(started) AS s, max(ended) AS e FROM ledger WHERE q = '$1' GROUP BY ord),
     d AS (SELECT ord, s, lag(e) OVER (ORDER BY ord) AS before FROM p)
SELECT 'ledger: order ' || ord || ' began ' || before - s || ' before the end of the one before' FROM d
WHERE s < before;
WITH p AS (SELECT run_id, "order" AS ord, min(started_at) AS s, max(ended_at) AS e FROM lockstep.execution_log
           WHERE queue = '$1' AND status = 'Completed' GROUP BY 1, 2),
     d AS (SELECT ord, s, lag(e) OVER (PARTITION BY run_id ORDER BY ord) AS before FROM p)
SELECT 'log: order ' || ord || ' began ' || before - s || ' before the end of the one before' FROM d WHERE s < before;
-- exactly once, nothing lost
SELECT 'task ' || t.seq || ' of order ' || t."order" || ' has ' || count(l.seq) || ' effects'
FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
LEFT JOIN ledger l ON l.q = q.name AND l.ord = t."order" AND l.seq = t.seq
WHERE q.name = '$1' AND t.status = 'Completed' GROUP BY t.task_id, t.seq, t."order" HAVING count(l.seq) <> 1;
SELECT 'an effect without a completed task: seq ' || l.seq FROM ledger l WHERE l.q = '$1' AND NOT EXISTS (
    SELECT FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = l.q AND t.seq = l.seq AND t."order" = l.ord AND t.status = 'Completed');
SELECT 'run ' || r.run_no || ': the end counts ' || r.end_tasks || ' tasks, there are ' || count(t.task_id)
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) LEFT JOIN lockstep.task t USING (run_no)
WHERE q.name = '$1' GROUP BY r.run_no, r.end_tasks HAVING count(t.task_id) <> r.end_tasks;
-- bounded
WITH e AS (SELECT started AS at, 1 AS d FROM ledger WHERE q = '$1'
           UNION ALL SELECT ended, -1 FROM ledger WHERE q = '$1'),
     s AS (SELECT sum(d) OVER (ORDER BY at, d ROWS UNBOUNDED PRECEDING) AS running FROM e)
SELECT 'ran ' || max(running) || ' tasks at once, the bound is $2' FROM s HAVING max(running) > $2;
-- nothing left over
SELECT 'a lock is left: ' || l.* FROM pg_locks l
WHERE l.locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
SQL
}

# executors N QUEUE READERS: N executors in the background that end when the queue is idle; pids in $executors
executors() {
    local i
    executors=()
    for ((i = 0; i < $1; i++)); do
        "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$2" --readers "$3" \
            --until-idle 2>"$tmp/$2.$i.log" &
        executors+=($!)
    done
}

# Each must have ended well.
executors_wait() {
    local pid status=0
    for pid in "${executors[@]}"; do
        wait "$pid" || { echo "executor $pid ended with $?"; status=1; }
    done
    return $status
}
