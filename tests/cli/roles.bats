#!/usr/bin/env bats
# What an administrator does for Lockstep, as docs/how-to/install.md says it, and what `check` and `check --security`
# say of it.
# ctest: timeout=120

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    admin=$db
    logins=(etl_executor etl_task etl_publisher etl_oncall etl_monitor etl_worker etl_console)
    forget
    sql 'CREATE SCHEMA etl; CREATE TABLE etl.t (v int)'
    # The block of the page, word for word.
    awk '/^## Roles and grants/ { on = 1 }
         on && /^```$/ && block { exit }
         block { print }
         on && /^```sql$/ { block = 1 }' \
        "$BATS_TEST_DIRNAME/../../docs/how-to/install.md" >"$BATS_TEST_TMPDIR/roles.sql"
    grep -q 'CREATE ROLE etl_executor' "$BATS_TEST_TMPDIR/roles.sql"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$BATS_TEST_TMPDIR/roles.sql"
    queue=$(scratch_name)
}

teardown() {
    db=$admin
    forget
    scratch_drop
}

# These logins have names that the page gives them; an earlier run may have left them.
forget() {
    local login
    for login in "${logins[@]}"; do
        sql "DO \$\$
            BEGIN
                IF to_regrole('$login') IS NOT NULL THEN
                    DROP OWNED BY $login CASCADE;
                    DROP ROLE $login;
                END IF;
            END
        \$\$"
    done
}
as() { db="$admin user=$1"; }
# checked OPTIONS...: the findings of check as the executor, "result subject: finding" a line
checked() {
    as etl_executor
    LOCKSTEP_POSTGRES_TASK_CONNINFO="$admin user=etl_task" lockstep check -o json "$@" \
        >"$BATS_TEST_TMPDIR/check" 2>/dev/null && status=0 || status=$?
    db=$admin
    jq -r '.[] | "\(.result) \(.subject): \(.finding)"' "$BATS_TEST_TMPDIR/check" >"$BATS_TEST_TMPDIR/lines"
}
# Nobody else takes advisory locks afterwards.
keep_locks() {
    db=$admin
    lockstep migrate roles --show-sql --advisory >"$BATS_TEST_TMPDIR/advisory.sql"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$BATS_TEST_TMPDIR/advisory.sql"
}
found() { grep -F -- "$1" "$BATS_TEST_TMPDIR/lines" || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }; }

# Runs each hint of the findings with one of these subjects, as it is printed.
hints_run() { # SUBJECT...
    local subject hint
    for subject in "$@"; do
        while IFS= read -r hint; do
            sql "$hint"
        done < <(jq -r --arg subject "$subject" '.[] | select(.subject == $subject) | .hint' "$BATS_TEST_TMPDIR/check")
    done
}

@test "after the block of the page check is green, and a run runs" {
    as etl_oncall
    lockstep queue create "$queue" -q --create-topic
    checked
    [ "$status" = 0 ] || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    [ "$(grep -cE '^(warn|FAIL)' "$BATS_TEST_TMPDIR/lines")" = \
        "$(grep -cE '^warn (durability|Kafka|topic)' "$BATS_TEST_TMPDIR/lines")" ] ||
        { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    as etl_publisher
    echo '{"order": 1, "sql": "INSERT INTO etl.t VALUES (1)"}' >"$BATS_TEST_TMPDIR/a.jsonl"
    run=$(lockstep publish --queue "$queue" -q "$BATS_TEST_TMPDIR/a.jsonl")
    # Also where nobody else may take advisory locks.
    keep_locks
    run sql "SET SESSION AUTHORIZATION etl_task; SELECT pg_advisory_lock(1280507907, 1)"
    [[ $output == *"permission denied"* ]]
    as etl_executor
    LOCKSTEP_POSTGRES_TASK_CONNINFO="$admin user=etl_task" timeout 60 "$LOCKSTEP_BIN" executor run --until-idle \
        --queue "$queue" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>"$BATS_TEST_TMPDIR/log" ||
        { cat "$BATS_TEST_TMPDIR/log"; return 1; }
    db=$admin
    [ "$(sql 'SELECT count(*) FROM etl.t')" = 1 ]
    checked --security
    [ "$status" = 0 ]
    found 'ok security: no right lets one role become another'
}

@test "check as publisher, operator and monitor finds nothing wrong with them" {
    for login in etl_publisher etl_oncall etl_monitor; do
        as "$login"
        run lockstep check
        [ "$status" = 0 ] || { echo "$login: $output"; return 1; }
        [[ $output == *"$login is a member of lockstep_"* && $output != *"GRANT lockstep_executor"* ]] ||
            { echo "$output"; return 1; }
    done
}

@test "a monitor asks whether executors live, also where only the roles of Lockstep take advisory locks" {
    as etl_oncall
    lockstep queue create "$queue" -q --create-topic
    keep_locks
    as etl_executor
    LOCKSTEP_POSTGRES_TASK_CONNINFO="$admin user=etl_task" "$LOCKSTEP_BIN" executor run --queue "$queue" -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" 2>"$BATS_TEST_TMPDIR/log" 3>&- &
    executor=$!
    db=$admin
    eventually 30 is 'SELECT count(*) FROM lockstep.executor WHERE ended_at IS NULL' 1
    as etl_publisher
    echo '{"order": 1, "sql": "SELECT pg_sleep(60)"}' >"$BATS_TEST_TMPDIR/a.jsonl"
    run=$(lockstep publish --queue "$queue" -q "$BATS_TEST_TMPDIR/a.jsonl")
    db=$admin
    eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
    as etl_monitor
    for command in check "queue explain $queue" "run explain $run" 'executor list' 'lock list' 'monitor list'; do
        # shellcheck disable=SC2086 # its words
        run lockstep $command
        [ "$status" = 0 ] && [[ $output != *"may not ask"* ]] || { echo "$command: $output"; break; }
    done
    kill -9 "$executor"
    [ "$command" = 'monitor list' ] && [ "$status" = 0 ]
}

@test "a right that is missing is named with its role" {
    as etl_oncall
    lockstep queue create "$queue" -q --create-topic
    as etl_monitor
    run lockstep queue pause "$queue"
    [[ $output == *"GRANT lockstep_operator TO \"etl_monitor\""* ]] || { echo "$output"; return 1; }
    echo '{"order": 1, "sql": "SELECT 1"}' >"$BATS_TEST_TMPDIR/a.jsonl"
    as etl_oncall
    run lockstep publish --queue "$queue" "$BATS_TEST_TMPDIR/a.jsonl"
    [[ $output == *"GRANT lockstep_producer TO \"etl_oncall\""* ]] || { echo "$output"; return 1; }
    as etl_publisher
    run lockstep executor run --queue "$queue"
    [[ $output == *"GRANT lockstep_executor TO \"etl_publisher\""* ]] || { echo "$output"; return 1; }
    lockstep publish --queue "$queue" -q "$BATS_TEST_TMPDIR/a.jsonl" >"$BATS_TEST_TMPDIR/run"
    run=$(cat "$BATS_TEST_TMPDIR/run")
    lockstep run show "$run"
    lockstep run explain "$run"
    lockstep queue explain "$queue"
    lockstep run list
    lockstep task list
}

@test "check --security finds each right by which one role could become another" {
    checked --security
    [ "$status" = 0 ] || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    found 'warn advisory locks: any login may take'
    sql "GRANT CREATE ON SCHEMA public TO etl_task;
         ALTER ROLE etl_task SET search_path = etl;
         ALTER ROLE etl_task SET role = etl_task;
         GRANT lockstep_operator TO etl_task;
         GRANT REFERENCES (task_id) ON lockstep.task TO etl_worker;
         GRANT UPDATE ON lockstep.run TO etl_publisher;
         ALTER FUNCTION lockstep.is_finished(lockstep.status) OWNER TO lockstep_test;
         GRANT EXECUTE ON FUNCTION lockstep.queue_delete(int, text) TO PUBLIC;
         CREATE FUNCTION etl.spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
         CREATE TRIGGER spy BEFORE INSERT ON lockstep.task FOR EACH ROW EXECUTE FUNCTION etl.spy();
         GRANT CREATE ON SCHEMA lockstep TO etl_worker"
    sql "GRANT CREATE ON DATABASE ${db##*dbname=} TO etl_task"
    checked --security
    [ "$status" = 1 ]
    found 'warn create: etl_task, which runs task SQL, may create in schema public'
    found 'warn create: etl_task, which runs task SQL, may create schemas'
    found 'FAIL members: etl_task, which runs task SQL, is a member of lockstep_operator'
    found 'FAIL grants: etl_worker has REFERENCES on lockstep.task'
    found 'FAIL grants: etl_publisher has UPDATE on lockstep.run'
    found 'FAIL grants: etl_worker may create in schema lockstep'
    found 'FAIL owner: function lockstep.is_finished(lockstep.status) belongs to lockstep_test'
    found 'FAIL functions: PUBLIC may execute lockstep.queue_delete(integer,text)'
    found 'FAIL triggers: trigger spy on lockstep.task runs etl.spy()'
    found 'warn settings: etl_task has settings of its own: search_path=etl, role=etl_task'
    checked
    found 'warn create: etl_task, which runs task SQL, may create in schema public'
    sql "DROP TRIGGER spy ON lockstep.task; GRANT lockstep_executor TO etl_task"
    checked --security
    found 'FAIL members: etl_task, which runs task SQL, is a member of lockstep_executor'
}

@test "check --security finds who reads a secret or changes a row, and its hint leaves the rights of the group" {
    as etl_oncall
    lockstep queue create "$queue" -q --create-topic
    db=$admin
    sql "GRANT SELECT ON lockstep.task TO lockstep_task, lockstep_monitor;
         GRANT SELECT (token) ON lockstep.task TO etl_task;
         GRANT UPDATE ON lockstep.task TO lockstep_producer, lockstep_operator;
         GRANT UPDATE (status) ON lockstep.task TO lockstep_worker;
         GRANT TRUNCATE ON lockstep.queue TO lockstep_operator;
         GRANT INSERT ON lockstep.event_log TO lockstep_operator;
         GRANT SELECT (hash) ON lockstep.console_token TO lockstep_executor"
    checked --security
    [ "$status" = 1 ]
    found 'FAIL grants: lockstep_task has SELECT on lockstep.task'
    found 'FAIL grants: lockstep_monitor has SELECT on lockstep.task'
    found 'FAIL grants: etl_task has SELECT on lockstep.task (token)'
    found 'FAIL grants: lockstep_producer has UPDATE on lockstep.task'
    found 'FAIL grants: lockstep_operator has UPDATE on lockstep.task'
    found 'FAIL grants: lockstep_worker has UPDATE on lockstep.task (status)'
    found 'FAIL grants: lockstep_operator has TRUNCATE on lockstep.queue'
    found 'FAIL grants: lockstep_operator has INSERT on lockstep.event_log'
    found 'FAIL grants: lockstep_executor has SELECT on lockstep.console_token (hash)'
    [ "$(grep -c '^FAIL' "$BATS_TEST_TMPDIR/lines")" = 9 ] || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    hints_run grants
    checked --security
    [ "$status" = 0 ] || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    as etl_monitor
    lockstep task list
    as etl_oncall
    lockstep queue delete "$queue" --yes -q # it writes an event
}

@test "check --security leaves no secret to a login that was granted all tables" {
    sql 'GRANT SELECT ON ALL TABLES IN SCHEMA lockstep TO etl_task'
    checked --security
    [ "$status" = 1 ]
    for table in task console_token job_ask schedule; do
        found "FAIL grants: etl_task has SELECT on lockstep.$table"
    done
    hints_run grants
    checked --security
    [ "$status" = 0 ] || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    [ "$(sql "SELECT count(*) FROM (VALUES ('task', 'token'), ('console_token', 'hash'), ('job_ask', 'token'),
            ('schedule', 'schedule_uid')) AS v (name, secret)
        WHERE has_column_privilege('etl_task', 'lockstep.' || name, secret, 'SELECT')")" = 0 ]
}

@test "check and check --security find a role that the tasks' login may become and that may do more" {
    dba=$(scratch_name) maker=$(scratch_name)_m
    logins+=("$dba" "$maker")
    sql "CREATE ROLE $dba SUPERUSER; CREATE ROLE $maker CREATEROLE"
    for role in "$dba" "$maker" lockstep_worker; do
        sql "GRANT $role TO etl_task"
        checked
        found "warn task SQL: etl_task may change lockstep's own tables"
        checked --security
        [ "$status" = 1 ]
        found "FAIL members: etl_task, which runs task SQL, is a member of $role"
        hints_run members
        checked --security
        [ "$status" = 0 ] || { cat "$BATS_TEST_TMPDIR/lines"; return 1; }
    done
}

@test "check --security lets a group see the sessions of others, as a hint of the console wants it, but not task SQL" {
    # In one transaction that is rolled back: the groups are those of all databases.
    findings="PREPARE found (text, bool) AS $(cat "$BATS_TEST_DIRNAME/../../sql/security/findings.sql")"
    hint=$(sql 'SET LOCAL ROLE lockstep_operator; SELECT hint FROM lockstep.sessions_hidden()')
    [[ $hint == *lockstep_operator ]]
    run sql "$findings BEGIN; $hint; EXECUTE found ('etl_task', false); ROLLBACK"
    [ "$status" = 0 ]
    [[ $output != *'group role'* ]] || { echo "$output"; return 1; }
    run sql "$findings BEGIN; ${hint/operator/task}; EXECUTE found ('etl_task', false); ROLLBACK"
    [[ $output == *'the group role lockstep_task is a member of pg_read_all_stats'* ]] || { echo "$output"; return 1; }
}

@test "a hint of check --security revokes a membership by each of its grantors where the server keeps several" {
    findings=$(cat "$BATS_TEST_DIRNAME/../../sql/security/findings.sql")
    newer=${findings//"current_setting('server_version_num')::int"/160000}
    [ "$newer" != "$findings" ]
    # What two superusers granted, as PostgreSQL 16 keeps it.
    members='FROM pg_auth_members m'
    grantors="unnest(ARRAY[m.grantor, 'lockstep_owner'::regrole::oid]) AS g (grantor)"
    twice=${newer/"$members"/"$members, $grantors"}
    twice=${twice/m.grantor::regrole/g.grantor::regrole}
    me=$(sql 'SELECT current_user')
    grants='BEGIN; GRANT pg_read_all_stats TO lockstep_task; GRANT lockstep_operator TO etl_task'
    run sql "PREPARE found (text, bool) AS $newer $grants; EXECUTE found ('etl_task', false); ROLLBACK"
    [[ $output == *"REVOKE pg_read_all_stats FROM lockstep_task GRANTED BY $me;"* ]] || { echo "$output"; return 1; }
    [[ $output == *"REVOKE lockstep_operator FROM etl_task GRANTED BY $me; -- it"* ]] || { echo "$output"; return 1; }
    run sql "PREPARE found (text, bool) AS $twice $grants; EXECUTE found ('etl_task', false); ROLLBACK"
    both="REVOKE pg_read_all_stats FROM lockstep_task GRANTED BY lockstep_owner; "
    both+="REVOKE pg_read_all_stats FROM lockstep_task GRANTED BY $me;"
    [[ $output == *"$both"* ]] || { echo "$output"; return 1; }
    [ "$(grep -c 'the group role lockstep_task is a member of' <<<"$output")" = 1 ]
    # An older server may have lost the grantor.
    [ "$(sql 'SHOW server_version_num')" -ge 160000 ] || {
        run sql "PREPARE found (text, bool) AS $findings $grants; EXECUTE found ('etl_task', false); ROLLBACK"
        [[ $output == *'REVOKE lockstep_operator FROM etl_task; -- it'* ]] || { echo "$output"; return 1; }
    }
}

@test "the hints of check --security name the group and the database by which a login has a right or a setting" {
    staff=$(scratch_name)
    logins+=("$staff")
    name=${db##*dbname=}
    sql "CREATE ROLE $staff;
         GRANT lockstep_operator TO $staff;
         GRANT $staff TO etl_task;
         GRANT CREATE ON SCHEMA public TO $staff;
         GRANT CREATE ON DATABASE $name TO $staff;
         ALTER ROLE etl_task IN DATABASE $name SET role = etl_task;
         ALTER ROLE etl_task IN DATABASE postgres SET role = etl_task;
         ALTER DATABASE $name SET role = none"
    checked --security
    [ "$status" = 1 ]
    found 'FAIL members: etl_task, which runs task SQL, is a member of lockstep_operator'
    found 'warn create: etl_task, which runs task SQL, may create in schema public'
    found 'warn create: etl_task, which runs task SQL, may create schemas'
    found "warn settings: ALTER ROLE etl_task IN DATABASE $name SET role is set"
    found "warn settings: ALTER DATABASE $name SET role is set"
    hints_run create
    checked --security
    run ! found 'warn create'
    hints_run members settings
    checked --security
    [ "$status" = 0 ]
    run ! grep -E '^(warn|FAIL) (create|members|settings)' "$BATS_TEST_TMPDIR/lines"
    [ "$status" = 1 ]
    [ "$(sql "SELECT pg_has_role('etl_task', 'lockstep_task', 'USAGE')")" = t ]
}

@test "check --security with an operator's configuration says nothing of task SQL, which that login does not run" {
    as etl_oncall
    run lockstep check --security
    [ "$status" = 0 ] || { echo "$output"; return 1; }
    [[ $output == *'skip  task login'* && $output != *"executor's rights"* ]] || { echo "$output"; return 1; }
}

@test "migrate roles prints what is missing, once, as it can be run" {
    run lockstep migrate roles
    [ "$status" = 0 ]
    scratch_drop
    scratch_empty_database
    admin=$db
    as etl_oncall
    run lockstep migrate roles
    [ "$status" = 1 ]
    run lockstep migrate up
    [ "$status" != 0 ]
    [[ $output == *"GRANT lockstep_owner TO etl_oncall;"* && $output == *"lockstep migrate roles --show-sql"* ]] ||
        { echo "$output"; return 1; }
    lockstep migrate roles --show-sql >"$BATS_TEST_TMPDIR/roles.sql"
    grep -q '^-- done: CREATE ROLE lockstep_worker NOLOGIN;' "$BATS_TEST_TMPDIR/roles.sql"
    db=$admin
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$BATS_TEST_TMPDIR/roles.sql"
    as etl_oncall
    lockstep migrate up -q
    lockstep migrate validate
}
