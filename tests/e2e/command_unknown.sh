#!/bin/bash
# An executor that does not know a command, or may not call a host, leaves such tasks to executors that do. Without such
# an executor explain names the cause, and an executor that starts with the command continues. Phases of SQL, commands
# and requests keep their order over several executors, also when the whole run is replayed.
# ctest: notsan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
chmod 755 "$tmp"
ledger_create
http_start http
host=127.0.0.1:$port
touch "$tmp/none.conf"
printf '[commands]\nact = %s %s\n' "$here/../support/act" "$tmp/ledger" | tee "$tmp/all.conf" >"$tmp/command.conf"
printf '[http]\nallow = %s\n' "$host" >>"$tmp/all.conf"
executor() { # CONFIGURATION OPTIONS...: its pid in $pid
    LOCKSTEP_CONFIG=$tmp/$1.conf "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" \
        --readers 2 "${@:2}" 2>>"$tmp/$1.log" &
    pid=$!
}
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --max-attempts 1
awk -v q="$q" -v host="$host" 'BEGIN {
    srand(7); n = 0
    for (order = 10; order <= 80; order += 10)
        for (t = 0; t < 1 + int(rand() * 6); t++) {
            kind = order == 40 ? 1 : int(rand() * 3) # one phase of nothing but commands
            if (kind == 0) printf "{\"order\": %d, \"sql\": \"SELECT work('\''%s'\'', %d, %d, %.3f)\"}\n", order, q, order, n, rand() / 20
            if (kind == 1) printf "{\"order\": %d, \"command\": \"act\", \"args\": [\"span\", \"%.3f\"]}\n", order, rand() / 20
            if (kind == 2) printf "{\"order\": %d, \"url\": \"http://%s/slow/%.3f\"}\n", order, host, rand() / 20
            n++
        }
}' >"$tmp/tasks.jsonl"
tasks=$(wc -l <"$tmp/tasks.jsonl")
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")

case_begin 'explain names the commands that no executor has in its configuration, until one starts that has them all'
executor none; none=$pid
why() {
    lockstep run explain "$run" -o jsonl | jq -r 'select(.reason == "task_nobody_able") | .sentence' | grep -q "$1"
}
eventually 30 why \
    "needs \(command:act\|http:$host\), which none of the executors of its queue (1) has in its configuration" ||
    { lockstep run explain "$run"; failed=1; }
executor command; command=$pid
eventually 30 why "needs http:$host, which none of the executors of its queue (2) has" ||
    { lockstep run explain "$run"; failed=1; }
executor all; all=$pid
done_well() { is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed; }
eventually 40 done_well || { lockstep run explain "$run"; tail -3 "$tmp"/*.log; exit 1; }

case_begin 'tasks of SQL, commands and requests are done once each, in the order of their phases, by several executors'
# Each done once, and no phase began before the end of the one before, by their own notes (one host, one
# clock).
check() { # WHEN
    expect "$1: effects" \
        "$(grep -c ^end "$tmp/ledger") $(wc -l <"$tmp/http/requests") $(sql "SELECT count(*) FROM ledger")" \
        "$(grep -c command "$tmp/tasks.jsonl") $(grep -c url "$tmp/tasks.jsonl") $(grep -c sql "$tmp/tasks.jsonl")"
    expect "$1: types and attempts" \
        "$(sql "SELECT count(DISTINCT type), max(attempt_num), sum(lost_num) FROM lockstep.task")" "3|${2:-1}|0"
    sql "DROP TABLE IF EXISTS span; CREATE TABLE span AS SELECT seq, min(at) AS s, max(at) AS e
         FROM (VALUES $(awk '{ printf "%s(%s, %.6f)", (NR > 1 ? ", " : ""), $2, $5 / 1e9 }' "$tmp/ledger"))
             AS v (seq, at) GROUP BY 1" 2>/dev/null
    too_soon=$(
        sql <<'SQL'
WITH x AS (SELECT t."order" AS o, s.s, s.e FROM span s JOIN lockstep.task t USING (seq)
           UNION ALL SELECT ord, extract(epoch FROM started), extract(epoch FROM ended) FROM ledger
           UNION ALL SELECT t."order", extract(epoch FROM t.started_at), extract(epoch FROM t.started_at + t.duration)
                     FROM lockstep.task t WHERE type = 'http'),
     p AS (SELECT o, min(s) AS s, max(e) AS e FROM x GROUP BY o),
     d AS (SELECT o, s, lag(e) OVER (ORDER BY o) AS before FROM p)
SELECT count(*) FILTER (WHERE s < before), count(*) FROM d
SQL
    )
    expect "$1: phases that began too soon" "$too_soon" '0|8'
}
check first
case_begin 'an executor that is not able to run a task leaves it, and reports each need once'
for log in none command; do
    expect "$log: what it left, each task once at most" "$(($(grep -c 'event=task_left' "$tmp/$log.log") <= tasks))" 1
done
expect 'told once for each need' \
    "$(sql "SELECT count(*) = count(DISTINCT (executor_no, detail)), count(DISTINCT executor_no)
        FROM lockstep.event_log WHERE event = 'task_left'")" 't|2'

case_begin 'a replay of the whole run does each task once more, in the same order'
: >"$tmp/ledger"
: >"$tmp/http/requests"
sql 'TRUNCATE ledger'
lockstep replay --queue "$q" --run "$run" --mode all --execute --reason test >/dev/null 2>"$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
eventually 40 done_well || { lockstep run explain "$run"; failed=1; }
check again 2
told_to_end "$none" "$command" "$all"
cases_end
exit $failed
