#!/bin/bash
# An error of a task is recorded whole, and the run's policy is applied: stop cancels the later phases, continue does
# not.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"

# run POLICY: publishes $tmp/tasks.jsonl on a fresh queue and runs it to its end; $q and $run.
run() {
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers 4 --on-failure "$1" >/dev/null
    run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
    executors 2 "$q" 4
    executors_wait || { cat "$tmp/$q".*.log; failed=1; }
}

sql 'CREATE TABLE effect (q text, n int)'
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 10, "name": "good", "sql": "INSERT INTO effect VALUES ('x', 1)"}
{"order": 20, "name": "bad", "sql": "INSERT INTO effect SELECT 'x', 2 / 0"}
{"order": 20, "name": "sibling", "sql": "INSERT INTO effect VALUES ('x', 3)"}
{"order": 30, "name": "later", "sql": "INSERT INTO effect VALUES ('x', 4)"}
{"order": 40, "name": "last", "sql": "INSERT INTO effect VALUES ('x', 5)"}
END
run stop
expect 'stop: run' "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" Failed
grep -h ' event=task_failed ' "$tmp/$q".*.log | grep -q "run=$run task=[0-9]* name=bad sqlstate=22012 error=" ||
    { echo "the log does not name what failed"; failed=1; }
# Only the executor whose own statement reports the end logs it; none names the run by its number.
! grep -h ' event=run_ended ' "$tmp/$q".*.log | grep -v "run=$run status=Failed" ||
    { echo "the log does not name the run that ended"; failed=1; }
expect 'stop: tasks' "$(sql "SELECT string_agg(t.name || '=' || t.status, ' ' ORDER BY t.task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" \
    'good=Completed bad=Failed sibling=Completed later=Cancelled last=Cancelled'
expect 'stop: effects' "$(sql "SELECT string_agg(n::text, ' ' ORDER BY n) FROM effect")" '1 3'
expect 'stop: what was raised' \
    "$(sql "SELECT sqlstate, error FROM lockstep.execution_log WHERE run_id = '$run' AND status = 'Failed'")" \
    '22012|division by zero'

sql 'DELETE FROM effect'
run continue
expect 'continue: run' "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" PartiallyCompleted
expect 'continue: effects' "$(sql "SELECT string_agg(n::text, ' ' ORDER BY n) FROM effect")" '1 3 4 5'

case_begin 'message, detail and context of the server are recorded verbatim'
sql "CREATE FUNCTION raise() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN
        RAISE EXCEPTION 'no such account' USING ERRCODE = 'P0042', DETAIL = 'account 7', HINT = 'open it';
    END\$\$"
echo '{"order": 1, "sql": "SELECT raise()"}' >"$tmp/tasks.jsonl"
run stop
expect 'attempt' "$(sql "SELECT a.sqlstate, a.error, a.detail, a.hint, a.context
    FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run'")" \
    'P0042|no such account|account 7|open it|PL/pgSQL function raise() line 2 at RAISE'

case_begin 'two attempts fail, the third succeeds, and there is one effect'
sql 'CREATE SEQUENCE tries; DELETE FROM effect'
echo '{"order": 1, "max_attempts": 3, "retry_intervals": [0.05], "sql": "INSERT INTO effect SELECT '"'r'"', 1 / (nextval('"'tries'"') / 3)::int"}
{"order": 2, "sql": "INSERT INTO effect VALUES ('"'r'"', 9)"}' >"$tmp/tasks.jsonl"
run stop
expect 'retry: attempts' "$(sql "SELECT string_agg(attempt || '=' || status, ' ' ORDER BY task_id, attempt)
    FROM lockstep.execution_log WHERE run_id = '$run'")" \
    '1=Error 2=Error 3=Completed 1=Completed'
expect 'retry: effects' "$(sql "SELECT string_agg(n::text, ' ' ORDER BY n) FROM effect")" '1 9'

case_begin 'a task that fails in a batch takes no other one with it'
# Short tasks are sent ahead in batches: one that fails, at its statement or only at its commit, takes no other one with
# it.
sql "DELETE FROM effect; CREATE TABLE late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO late VALUES (1)"
awk 'BEGIN {
    for (n = 0; n < 400; n++)
        printf "{\"order\": 1, \"sql\": \"INSERT INTO %s\"}\n", n % 7 == 3 ? "effect SELECT '\''b'\'', " n " / 0" : n % 31 == 5 ? "late VALUES (1)" : "effect VALUES ('\''b'\'', " n ")"
}' >"$tmp/tasks.jsonl"
run continue
expect 'batch: good tasks have one effect each' \
    "$(sql "SELECT count(*), count(DISTINCT n), (SELECT count(*) FROM late) FROM effect")" '332|332|1'
expect 'batch: attempts' "$(sql "SELECT status, coalesce(sqlstate, ''), count(*), max(attempt)
    FROM lockstep.execution_log WHERE run_id = '$run' GROUP BY 1, 2 ORDER BY 1, 2")" \
    'Failed|22012|57|1
Failed|23505|11|1
Completed||332|1'
expect 'batch: nothing lost' \
    "$(sql "SELECT sum(lost_num) FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE run_id = '$run'")" 0

case_begin 'a text whose objects have changed since it was prepared is no failure'
sql 'CREATE TABLE shape (n int)'
s='{"order": 1, "sql": "SELECT * FROM shape"}'
printf '%s\n' "$s" "$s" "$s" "$s" '{"order": 1, "sql": "ALTER TABLE shape ADD m text"}' "$s" "$s" "$s" "$s" \
    '{"order": 2, "sql": "ALTER TABLE shape ALTER n TYPE text"}' "$s" >"$tmp/tasks.jsonl"
sed -i '$s/1/3/' "$tmp/tasks.jsonl"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1 >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 1
executors_wait || failed=1
expect 'prepared: outcomes' \
    "$(sql "SELECT status, count(*), max(attempt) FROM lockstep.execution_log WHERE run_id = '$run' GROUP BY 1")" \
    'Completed|11|1'

case_begin 'transaction control lets no effect out without its record'
sql 'DELETE FROM effect; CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$BEGIN INSERT INTO effect VALUES ('"'c'"', 1); COMMIT; END$$'
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "sql": "INSERT INTO effect VALUES ('c', 2); COMMIT; SELECT 1/0"}
{"order": 1, "sql": "CALL commits()"}
{"order": 1, "sql": ["INSERT INTO effect VALUES ('c', 3)", "ROLLBACK"]}
{"order": 1, "sql": "SELECT 1; SELECT 1/0"}
{"order": 1, "sql": "VACUUM effect"}
{"order": 1, "sql": "COPY effect FROM STDIN"}
{"order": 1, "sql": "PREPARE TRANSACTION 'x'"}
{"order": 1, "sql": "DO $$BEGIN INSERT INTO effect VALUES ('c', 4); COMMIT; END$$"}
{"order": 1, "sql": "/* a comment */ ((SELECT 1)); INSERT INTO effect VALUES ('c', 5)"}
{"order": 1, "sql": "VACUUM effect", "transaction": false}
{"order": 1, "sql": "INSERT INTO effect VALUES ('c', $1)", "params": [6]}
{"order": 1, "sql": ["INSERT INTO effect VALUES ('c', $1)", "INSERT INTO effect VALUES ('c', $1)"], "params": [[7], [8]]}
END
run continue
expect 'control: statuses' "$(sql "SELECT string_agg(t.seq || '=' || t.status, ' ' ORDER BY t.seq)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" \
    '0=Failed 1=Failed 2=Failed 3=Failed 4=Failed 5=Failed 6=Failed 7=Failed 8=Completed 9=Completed 10=Completed 11=Completed'
expect 'control: effects' "$(sql "SELECT string_agg(n::text, ' ' ORDER BY n) FROM effect")" '5 6 7 8'

case_begin 'a task cannot fake the record of itself or of others'
# A task cannot fake the record of itself, nor of others, with the names of the executor's prepared statements: not in
# its text, not in a block or a function, and not by a statement that it leaves prepared.
role=$(scratch_name)
sql "CREATE ROLE $role; GRANT INSERT, SELECT ON effect TO $role; DELETE FROM effect"
sql <<'SQL'
CREATE FUNCTION fakes() RETURNS void LANGUAGE plpgsql AS $f$
DECLARE s record; types text;
BEGIN
    FOR s IN SELECT p.name, p.parameter_types AS types FROM pg_prepared_statements p WHERE NOT p.from_sql LOOP
        EXECUTE format($$DEALLOCATE %I$$, s.name);
        EXECUTE format($$PREPARE %I %s AS SELECT 1$$, s.name,
                       $$($$ || nullif(array_to_string(s.types, $$,$$), $$$$) || $$)$$);
    END LOOP;
    FOREACH types IN ARRAY ARRAY[$$complete (bigint, uuid, timestamptz)$$, $$commit$$, $$commit_and_chain$$,
                                 $$begin$$, $$definitions_changed (boolean)$$] LOOP
        BEGIN
            EXECUTE $$PREPARE reader_$$ || types || $$ AS SELECT 1$$;
        EXCEPTION WHEN duplicate_prepared_statement THEN
        END;
    END LOOP;
END $f$
SQL
for n in 1 2 3 4 5 6; do
    echo '{"order": '"$n"', "sql": ["SELECT 1", "INSERT INTO effect VALUES ('"'f', $n"')"]}'
    echo '{"order": '"$n"', "sql": "INSERT INTO effect VALUES ('"'f', $n"'0)"}'
    case $n in
    1) echo '{"order": 1, "sql": ["SELECT fakes()", "INSERT INTO effect VALUES ('"'f', 11"')"]}' ;;
    2) echo '{"order": 2, "sql": "WITH x AS (SELECT fakes()) INSERT INTO effect SELECT '"'f', 12"' FROM x"}' ;;
    3) echo '{"order": 3, "sql": ["INSERT INTO effect VALUES ('"'f', 13"')", "DO $$BEGIN PERFORM fakes(); END$$"]}' ;;
    4)
        echo '{"order": 4, "steps": [{"name": "a", "sql": "SELECT fakes()"}, {"name": "b", "sql": "INSERT INTO effect VALUES ('"'f', 14"')"}]}'
        ;;
    5)
        echo '{"order": 5, "transaction": false, "sql": ["SELECT fakes()", "INSERT INTO effect VALUES ('"'f', 15"')"]}'
        ;;
    esac
done >"$tmp/tasks.jsonl"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1 >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 1
executors_wait || failed=1
expect 'faked: outcomes' "$(sql "SELECT status, count(*), max(attempt), max(error) FROM lockstep.execution_log
    WHERE run_id = '$run' GROUP BY 1")" 'Completed|17|1|'
expect 'faked: effects' "$(sql "SELECT string_agg(n::text, ' ' ORDER BY n) FROM effect")" \
    '1 2 3 4 5 6 10 11 12 13 14 15 20 30 40 50 60'

case_begin 'texts of several statements, with parameters, with a role, and with COPY run'
sql 'DELETE FROM effect'
cat >"$tmp/tasks.jsonl" <<END
{"order": 1, "sql": ["SELECT 1; SELECT 2", "INSERT INTO effect VALUES ('m', \$1)"], "params": [[], [5]]}
{"order": 1, "sql": ["SET LOCAL ROLE $role", "INSERT INTO effect VALUES (current_user, 6)"]}
{"order": 1, "sql": "SET ROLE $role; INSERT INTO effect VALUES (current_user, 7)", "transaction": false}
{"order": 1, "sql": "COPY effect FROM STDOUT"}
{"order": 1, "sql": "COPY effect TO STDIN"}
{"order": 1, "sql": "SET U&\"transaction_read_only\" = on"}
END
run continue
expect 'spellings' "$(sql "SELECT string_agg(t.seq || '=' || t.status || ' ' || t.attempt_num, ' ' ORDER BY t.seq)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" \
    '0=Completed 1 1=Completed 1 2=Completed 1 3=Failed 1 4=Failed 1 5=Failed 1'
expect 'spellings: effects' "$(sql "SELECT string_agg(replace(q, '$role', 'role') || n, ' ' ORDER BY n) FROM effect")" \
    'm5 role6 role7'
sql "DROP OWNED BY $role; DROP ROLE $role"

case_begin 'state that a task leaves in its session does not reach the next task'
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "sql": "SET work_mem = '77MB'"}
{"order": 2, "sql": "CREATE TEMPORARY TABLE mine (a int)"}
{"order": 3, "sql": "SELECT set_config('search_path', 'pg_catalog', false)"}
{"order": 4, "sql": "SELECT pg_advisory_lock(47110815)"}
{"order": 5, "sql": "LISTEN something"}
{"order": 6, "sql": "PREPARE p AS SELECT 1"}
{"order": 7, "sql": "DO $$BEGIN IF current_setting('work_mem') = '77MB' OR to_regclass('pg_temp.mine') IS NOT NULL OR current_setting('search_path') = 'pg_catalog' OR EXISTS (SELECT FROM pg_listening_channels()) OR EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'p') OR EXISTS (SELECT FROM pg_locks WHERE objid = 47110815 AND locktype = 'advisory') THEN RAISE EXCEPTION 'something was left'; END IF; END$$"}
END
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 1 >/dev/null
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 1
executors_wait || failed=1
expect 'hygiene' "$(sql "SELECT status, error FROM lockstep.run_status r WHERE run_id = '$run'")" 'Completed|0'
cases_end
exit $failed
