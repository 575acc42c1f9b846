#!/bin/bash
# A task that makes its transaction read-only prevents the record of its own end. That is its failure, and ends nothing
# else. A default of the tasks' login does not count: each session of theirs may write.
# ctest: timeout=60 nosan
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name)
e2e_roles=("$login")
sql <<SQL
CREATE ROLE $login LOGIN IN ROLE lockstep_task; ALTER ROLE $login SET default_transaction_read_only = on;
CREATE TABLE effect (n int); GRANT INSERT ON effect TO $login;
CREATE FUNCTION hidden()
RETURNS text LANGUAGE sql AS \$\$ SELECT pg_catalog.set_config('transaction_read_only', 'on', true) \$\$
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
while read -r task; do
    lockstep publish --queue "$q" -q - <<<"$task" >/dev/null
done <<'END'
{"order": 1, "name": "open", "sql": "SELECT set_config('transaction_read_only', 'on', true)"}
{"order": 1, "name": "hidden", "sql": "SELECT hidden()"}
{"order": 1, "name": "two", "sql": ["SELECT 1", "SELECT hidden()"]}
{"order": 1, "name": "bare", "transaction": false, "sql": "SET default_transaction_read_only = on"}
{"order": 1, "name": "after", "sql": "INSERT INTO effect VALUES (1)"}
END
case_begin 'a task that makes its transaction read-only fails for that, however it does it'
timeout 30 "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
    -s "postgres.task_conninfo=$db user=$login" --queue "$q" --readers 2 --until-idle 2>"$tmp/log" ||
    { echo "the executor ended with $?"; failed=1; }
why='the task has made its transaction read-only, so its end could not be recorded'
for name in open hidden two bare; do
    expect "$name" \
        "$(sql "SELECT t.status || '/' || t.attempt_num || '/' || t.lost_num || ' ' || a.sqlstate || ' ' || a.error
            FROM lockstep.task t LEFT JOIN lockstep.task_attempt a USING (task_id) WHERE t.name = '$name'")" \
        "Failed/1/0 25006 $why"
done
case_begin 'the task behind it writes, and no session is lost'
expect 'the one behind them' "$(sql "SELECT status FROM lockstep.task WHERE name = 'after'")" Completed
expect 'sessions that were lost' "$(grep -c event=reader_lost "$tmp/log")" 0
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp/log"
exit $failed
