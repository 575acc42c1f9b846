#!/bin/bash
# The record of a failed attempt has every line of the server's report and the place in the task, and no advice of ours.
# Any text can be recorded: in other scripts, of any length, also of steps, commands and servers.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
http_start http
node=0 # a server that answers 417 to any Expect
if command -v node >/dev/null; then
    node -e 'require("http").createServer((q, a) => { q.resume(); q.on("end", () => a.end("node")); }).listen(0, "127.0.0.1", function () { console.log(this.address().port); })' >"$tmp/node" &
    eventually 10 test -s "$tmp/node" || exit 1
    node=$(cat "$tmp/node")
else
    echo 'no node here: not tried with its server'
fi
printf '[commands]\nfalse = /bin/false\n[http]\nallow = 127.0.0.1:%s, 127.0.0.1:%s\n' "$port" "${node/#0/1}" \
    >"$tmp/lockstep.conf"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
sql <<'SQL'
CREATE TABLE effect (n int);
CREATE FUNCTION says(n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING MESSAGE = repeat($a$ж$a$, n), DETAIL = repeat($a$€$a$, n),
        HINT = $a$x$a$ || repeat($a$я$a$, n), ERRCODE = $a$P0042$a$;
END $$;
CREATE FUNCTION "много_букв_в_имени_этой_функции"(n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF n = 0 THEN RAISE EXCEPTION $a$deep$a$; END IF;
    PERFORM "много_букв_в_имени_этой_функции"(n - 1);
END $$;
CREATE FUNCTION refuses()
RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING MESSAGE = $a$held$a$, ERRCODE = $a$55P03$a$; END $$;
CREATE FUNCTION inside() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM 1, nosuch FROM effect; END $$
SQL
task() {
    jq -cn --argjson order "${order:-1}" --arg name "$1" --argjson more "$2" '{order: $order, name: $name} + $more'
}
euros=$(printf '€%.0s' {1..67})
lines=$'SELECT 1,\n       "колонка" + nosuch_column,\n       2\nFROM effect'
{
    task long '{"sql": "SELECT says(900)"}'
    task 'longer than is kept' '{"sql": "SELECT says(100000)"}'
    task 'longer, in a block' '{"sql": ["SELECT 1", "SELECT says(100000)"]}'
    task deep '{"sql": "SELECT \"много_букв_в_имени_этой_функции\"(200)"}'
    task lines \
        '{"sql": "DO $x$BEGIN RAISE EXCEPTION USING MESSAGE = E'"'one\\\\ntwo\\\\nthree', DETAIL = E'd1\\\\nd2'"'; END$x$"}'
    task 'lines, pipelined' '{"sql": "SELECT (SELECT says(1)), '"'a\\nb'"'"}'
    task place "$(jq -n --arg sql "$lines" '{sql: $sql}')"
    task 'place in an array' "$(jq -n --arg sql "  SELECT 2; $lines" '{sql: ["SELECT 1", $sql]}')"
    task inside '{"sql": "SELECT inside()"}'
    task 'no table' '{"sql": "SELECT * FROM nosuch"}'
    task 'no schema' '{"sql": "CREATE TABLE nosuch.t (a int)"}'
    task 'no function' '{"sql": ["SELECT 1", "SELECT nosuch(1, 2)"]}'
    task 'no lock' '{"sql": "DO $x$BEGIN RAISE EXCEPTION USING MESSAGE = E'"'held'"', ERRCODE = '"'55P03'"'; END$x$"}'
    task 'no lock, pipelined' '{"sql": "SELECT refuses()"}'
    task 'no lock in a step' '{"steps": [{"name": "a", "sql": "SELECT refuses()"}]}'
    task 'step in sql' "$(jq -n --arg name "$euros" '{steps: [{name: $name, sql: "SELECT 1/0"}]}')"
    task 'step of a command' "$(jq -n --arg name "$euros" '{steps: [{name: $name, command: "false"}]}')"
    task redirect '{"type": "http", "url": "http://127.0.0.1:'"$port"'/far"}'
    task posts '{"type": "http", "url": "http://127.0.0.1:'"$port"'/echo/x", "method": "POST", "body": "{}"}'
    [ "$node" = 0 ] || task 'posts to node' '{"type": "http", "url": "http://127.0.0.1:'"$node"'/", "body": "{}"}'
    order=2 task after '{"sql": "INSERT INTO effect VALUES (1)"}'
} >"$tmp/tasks.jsonl"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2 --max-attempts 1 --on-failure continue >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 2
executors_wait || failed=1
case_begin 'a text of any length and script is kept of a failed attempt, as far as there is room for it'
told() {
    sql "SELECT $2 FROM lockstep.execution_log l JOIN lockstep.task t USING (task_id)
        LEFT JOIN lockstep.task_attempt a USING (task_id)
        WHERE l.run_id = '$run' AND t.name = '$1'"
}
expect 'each has failed once' "$(sql "SELECT l.status, count(*), max(l.attempt), sum(t.lost_num)
    FROM lockstep.execution_log l JOIN lockstep.task t USING (task_id) WHERE l.run_id = '$run' GROUP BY 1
    ORDER BY 1")" \
    $'Failed|18|1|0\nCompleted|'$((2 + (node > 0)))'|1|0'
expect 'a long text' "$(told long \
    "l.sqlstate, l.error = repeat('ж', 900), l.detail = repeat('€', 900), a.hint = 'x' || repeat('я', 900)")" \
    'P0042|t|t|t'
for name in 'longer than is kept' 'longer, in a block'; do
    expect "$name" "$(told "$name" \
        "l.error = repeat('ж', 4096), l.detail = repeat('€', 2730), a.hint = 'x' || repeat('я', 4095)")" 't|t|t'
done
expect 'a deep context' "$(told deep "l.error, octet_length(l.context) BETWEEN 8190 AND 8192")" 'deep|t'
expect 'all lines' "$(told lines "replace(l.error, E'\n', '/'), replace(l.detail, E'\n', '/')")" 'one/two/three|d1/d2'
case_begin 'a failed attempt names the line and the statement where it failed'
expect 'the place' "$(told place 'l.context')" "$(printf 'LINE 2:        "колонка" + nosuch_column,\n               ^')"
expect 'the place in an array' "$(told 'place in an array' 'l.context')" \
    "$(printf 'statement 3 of 3\nLINE 2:        "колонка" + nosuch_column,\n               ^')"
expect 'inside' \
    "$(told inside "l.error, split_part(l.context, E'\n', 1), split_part(l.context, E'\n', 2) ~ '^ +\^$'")" \
    'column "nosuch" does not exist|QUERY LINE 1: SELECT 1, nosuch FROM effect|t'
case_begin 'a failed attempt has no advice that is not of the server'
for name in 'no table' 'no schema' 'no function'; do
    expect "$name: no advice of ours" "$(told "$name" "a.hint ~ 'migrate|Grant'")" \
        "$([ "$name" = 'no function' ] && echo f)"
done
for name in 'no lock' 'no lock, pipelined' 'no lock in a step'; do
    expect "$name: no advice of ours" "$(told "$name" "l.sqlstate, l.error, a.hint IS NULL")" '55P03|held|t'
done
case_begin 'the statement of an array and the step that failed are named'
expect 'a statement of an array' "$(told 'no function' "split_part(l.context, E'\n', 1)")" 'statement 2 of 2'
expect 'steps' "$(told 'step in sql' "l.error, split_part(l.context, E'\n', 1)")" \
    "division by zero|step \"${euros:0:66}\" (1 of 1)"
expect 'steps of commands' "$(told 'step of a command' "split_part(l.context, E'\n', 1)")" \
    "step \"${euros:0:66}\" (1 of 1)"
case_begin 'texts of servers are kept'
expect 'redirect' "$(told redirect "l.error ~ 'status 302, a redirect, which is not followed, to /ж{99}$'")" t
[ "$node" = 0 ] || expect 'node' "$(told 'posts to node' 't.response')" node

case_begin 'notices, warnings and rows are kept with their own attempt, whether it succeeds or fails, and are bounded'
sql <<'SQL'
DELETE FROM effect;
CREATE FUNCTION notes(n int) RETURNS int LANGUAGE plpgsql AS $$
    BEGIN
        RAISE NOTICE $a$note %$a$, n USING DETAIL = $a$more$a$;
        RAISE WARNING $a$warning %$a$, n;
        RETURN n;
    END
$$;
CREATE FUNCTION chatters(n int)
RETURNS int LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..n LOOP RAISE NOTICE $a$ж%$a$, i; END LOOP; RETURN 0; END $$
SQL
long=$(printf 'n%.0s' {1..70})
{
    for ((i = 0; i < 40; i++)); do
        task "$i" \
            "$(jq -n --arg sql "$( ((i % 4)) && echo "SELECT notes($i)" || echo "SELECT $i AS quiet")" '{sql: $sql}')"
        ((i % 10 != 5)) || task "truncated $i" "{\"sql\": \"SELECT $i AS $long\"}"
        ((i % 10 != 7)) || task "fails $i" "{\"sql\": \"SELECT notes($i) / 0\"}"
    done
    task many '{"sql": "SELECT chatters(20000)"}'
    order=2 task rows '{"sql": "INSERT INTO effect SELECT n FROM generate_series(1, 7) AS n, pg_sleep(0.05)"}'
    order=3 task 'rows of several' \
        '{"sql": ["INSERT INTO effect VALUES (1), (2)", "DELETE FROM effect", "SELECT notes(0)"]}'
    order=4 task 'rows of steps' \
        '{"steps": [{"name": "a", "sql": "INSERT INTO effect VALUES (1), (2)"}, {"name": "b", "sql": "INSERT INTO effect VALUES (3)"}]}'
    order=5 task last '{"sql": "SELECT pg_sleep(0.02)"}'
} >"$tmp/tasks.jsonl"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2 --max-attempts 1 --on-failure continue >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 2
executors_wait || failed=1
log="(SELECT l.*, t.name AS task FROM lockstep.execution_log l JOIN lockstep.task t USING (task_id) WHERE l.run_id = '$run') x"
expect 'each notice with its own task' \
    "$(sql "SELECT count(*), bool_and(notices IS NOT DISTINCT FROM CASE WHEN n % 4 <> 0
        THEN format(E'NOTICE: note %s\nDETAIL: more\nWARNING: warning %s', n, n) END)
    FROM (SELECT notices, task::int AS n FROM $log WHERE task ~ '^[0-9]+$') y")" '40|t'
expect 'also of those that fail' "$(sql "SELECT count(*),
        bool_and(status = 'Failed' AND notices = format(E'NOTICE: note %s\nDETAIL: more\nWARNING: warning %s', n, n))
    FROM (SELECT status, notices, substr(task, 7)::int AS n FROM $log WHERE task ~ '^fails') y")" '4|t'
expect 'what is about the text of a task' \
    "$(sql "SELECT count(*), bool_and(notices ~ '^NOTICE: identifier \"n+\" will be truncated' AND notices !~ 'note')
        FROM $log WHERE task ~ '^truncated'")" '4|t'
expect 'no end of notices' "$(sql "SELECT octet_length(notices) BETWEEN 8150 AND 8250, notices ~ E'ж1\nNOTICE: ж2\n',
        notices ~ '\[1[0-9]{4} more\]$'
    FROM $log WHERE task = 'many'")" 't|t|t'
expect 'rows' "$(sql "SELECT task, rows FROM $log WHERE task ~ '^(rows|last)' ORDER BY task_id")" \
    $'rows|7\nrows of several|12\nrows of steps|3\nlast|1'
expect 'task show' "$(lockstep task show -o json "$(sql "SELECT task_id FROM $log WHERE task = 'rows of several'")" |
    jq -c '.task | (if type == "array" then .[0] else . end) | [.rows, .notices]')" \
    '[12,"NOTICE: note 0\nDETAIL: more\nWARNING: warning 0"]'
cases_end
exit $failed
