#!/usr/bin/env bats
# `check`: what it says is true, line by line, and its exit code follows.
# ctest: timeout=120

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    queue=$(scratch_name)
    executor=$(scratch_name)_e
    task=$(scratch_name)_t
    odd=$(scratch_name)'"q' # with a double quote
    sql "CREATE ROLE $executor LOGIN;
        GRANT lockstep_executor TO $executor;
        CREATE ROLE $task LOGIN;
        GRANT lockstep_task TO $task"
}

teardown() {
    sql "DROP OWNED BY $executor, $task; DROP ROLE $executor, $task; DROP ROLE IF EXISTS \"${odd/\"/\"\"}\""
    scratch_drop
}

# checked SUBJECT WORD: the grade of its line, and some of its words
checked() {
    "$LOCKSTEP_BIN" check -d "$db user=$executor" -b "$LOCKSTEP_TEST_BROKERS" \
        -s "postgres.task_conninfo=$db user=$task" -o json >"$BATS_TEST_TMPDIR/check" || true
    jq -r ".[] | select(.subject == \"$1\") | .result + \" \" + .finding" "$BATS_TEST_TMPDIR/check" | grep -q "$2"
}

@test "check says whether a dead executor's task sessions can be seen and ended" {
    checked 'task sessions' "FAIL no right to end sessions of $task"
    sql "GRANT pg_signal_backend TO $executor"
    checked 'task sessions' 'FAIL it cannot be seen when'
    sql "GRANT pg_read_all_stats TO $executor"
    checked 'task sessions' 'ok those of'
    sql "REVOKE pg_signal_backend, pg_read_all_stats FROM $executor; GRANT $task TO $executor"
    checked 'task sessions' 'ok those of'
}

@test "check says that a login does not use the rights of its group, and how it would" {
    sql "REVOKE lockstep_task FROM $task; ALTER ROLE $task NOINHERIT; GRANT lockstep_task TO $task"
    checked 'task SQL' "FAIL .*login \"$task\" may not call lockstep\.action_begin"
    [ "$(jq -r '.[] | select(.subject == "task SQL") | .hint' "$BATS_TEST_TMPDIR/check")" = \
        "ALTER ROLE \"$task\" INHERIT; from PostgreSQL 16 on, then revoke the group and grant it again" ]
    sql "ALTER ROLE $task INHERIT; REVOKE lockstep_task FROM $task; GRANT lockstep_task TO $task"
    checked 'task SQL' "ok $task, a member of lockstep_task"
    sql "REVOKE lockstep_executor FROM $executor; ALTER ROLE $executor NOINHERIT; GRANT lockstep_executor TO $executor"
    checked schema 'FAIL .*permission denied'
    [ "$(jq -r '.[] | select(.subject == "schema") | .hint' "$BATS_TEST_TMPDIR/check")" = \
        "ALTER ROLE \"$executor\" INHERIT; from PostgreSQL 16 on, then revoke the group and grant it again" ]
    sql "ALTER ROLE $executor INHERIT; REVOKE lockstep_executor FROM $executor; GRANT lockstep_executor TO $executor"
    checked schema '^ok'
}

@test "check says when a task's login could forge its completion" {
    checked 'task SQL' "ok $task, a member of lockstep_task"
    sql "GRANT UPDATE ON lockstep.task TO $task"
    checked 'task SQL' "warn $task may change lockstep's own tables"
}

@test "check of a task_conninfo that leads to another database says that, and nothing of sessions there" {
    told FAIL 'task SQL' 'task_conninfo leads to another database (postgres) conninfo and task_conninfo must' \
        -d "$db user=$executor" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$LOCKSTEP_TEST_PG user=$task"
    [ "$(jq 'map(select(.subject == "task SQL")) | length' "$BATS_TEST_TMPDIR/check")" = 1 ]
    other=$db
    scratch_database # it has the schema
    second=$db
    db=$other
    told FAIL 'task SQL' "task_conninfo leads to another database (${second##*dbname=})" \
        -d "$db user=$executor" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$second user=$task"
    [ "$(jq -r '.[] | select(.subject == "task sessions") | .result' "$BATS_TEST_TMPDIR/check")" = skip ]
    db=$second
    scratch_drop
    db=$other
}

@test "check knows its database in a session of task_conninfo that has a time zone of its own" {
    sql "ALTER ROLE $task SET timezone = 'Europe/Warsaw'"
    checked 'task SQL' "ok $task, a member of lockstep_task"
}

@test "check takes --time-zone as every command does" {
    lockstep queue create "$queue" --create-topic -q
    sql "UPDATE lockstep.queue
        SET halted_reason = 'retention', halted_detail = 'offsets 0 to 7 are gone',
            halted_at = '2024-07-06 07:08:09+00'"
    run lockstep check --time-zone Asia/Kolkata
    [ "$status" -eq 1 ]
    [[ $output == *'halted since 2024-07-06 12:38:09'*'+05:30 (retention)'* ]] || { echo "$output"; return 1; }
    for format in table json; do
        run -2 --separate-stderr lockstep check --time-zone Nowhere -o "$format"
        [[ $stderr == *'--time-zone: there is no time zone "Nowhere"'*'Write a name such as Europe/Berlin.'* ]]
        [ "$format" = table ] || jq -e 'all(.result != "FAIL")' <<<"$output"
    done
}

@test "a login with a double quote in its name can be granted what a hint says" {
    name="\"${odd/\"/\"\"}\""
    sql "CREATE ROLE $name LOGIN"
    # granted SUBJECT GRANT: the hint of its line has that statement, and it is run as it is printed
    granted() {
        local statement
        statement=$(jq -r ".[] | select(.subject == \"$1\") | .hint" "$BATS_TEST_TMPDIR/check" | grep -oE "$2[^;]*;")
        sql "$statement" || { cat "$BATS_TEST_TMPDIR/check"; return 1; }
    }
    told FAIL schema 'permission denied' -d "$db user=$odd" -b "$LOCKSTEP_TEST_BROKERS"
    granted schema 'GRANT lockstep_executor TO'
    told ok schema 'current' -d "$db user=$odd" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$db user=$task"
    told FAIL 'task sessions' "no right to end sessions of $task" \
        -d "$db user=$odd" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$db user=$task"
    granted 'task sessions' "GRANT \"$task\" TO"
    told ok 'task sessions' 'those of' \
        -d "$db user=$odd" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$db user=$task"
    sql "REVOKE lockstep_executor, $task FROM $name"
    told FAIL 'task SQL' 'is no member of lockstep_task' \
        -d "$db user=$executor" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$db user=$odd"
    granted 'task SQL' 'GRANT lockstep_task TO'
    told ok 'task SQL' 'a member of lockstep_task' \
        -d "$db user=$executor" -b "$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$db user=$odd"
}

@test "a queue that is well has one line, and a halted one says why, since when and what to do" {
    lockstep queue create "$queue" --create-topic -q
    run lockstep check
    [ "$status" -eq 0 ]
    [ "$(grep -c "queue $queue" <<<"$output")" = 1 ]
    [[ $output == *"ok    queue $queue  topic $queue, partition 0 of 1, cursor 0 of 0"* ]]
    sql "UPDATE lockstep.queue
        SET halted_reason = 'retention', halted_detail = 'offsets 0 to 7 are gone', halted_at = clock_timestamp()"
    run lockstep check
    [ "$status" -eq 1 ]
    [[ $output == *"FAIL  queue $queue  halted since "*" (retention): offsets 0 to 7 are gone"* ]]
    [[ $output == *"offsets 0 to 7 are gone"*"lockstep queue resume $queue --accept-topic"* ]]
    lockstep queue resume "$queue"
    lockstep check >/dev/null
}

@test "check says whether a dispatcher is at work, and how much is due" {
    lockstep queue create "$queue" --create-topic -q
    run lockstep check
    [[ $output != *dispatcher* ]] # no job has a time
    lockstep job apply -q - <<END
{"job": "j", "queue": "$queue", "tasks": [{"order": 1, "sql": "SELECT 1"}],
 "schedules": [{"name": "s", "kind": "interval", "every": "1d"}]}
END
    checked dispatcher '^ok none is at work$'
    sql "UPDATE lockstep.schedule SET wake_at = clock_timestamp() - interval '90 s'"
    checked dispatcher '^FAIL none is at work, 1 schedule is due for more than a minute$'
    [ "$(jq -r '.[] | select(.subject == "dispatcher") | .hint' "$BATS_TEST_TMPDIR/check")" = 'lockstep scheduler run' ]
    coproc HOLDER {
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db application_name=lockstep/dispatcher" \
            -c 'SELECT lockstep.dispatch_lock()' -c 'SELECT pg_sleep(60)'
    }
    read -r -u "${HOLDER[0]}" got
    [ "$got" = t ]
    checked dispatcher '^warn backend [0-9]* of .*, 1 schedule is due for more than a minute$'
    # The query of the job, or its next try after a failure, is no delay.
    sql "UPDATE lockstep.schedule SET asked_until = clock_timestamp() + interval '1 minute'"
    checked dispatcher '^ok backend [0-9]* of [^,]*$'
    [ "$(sql "SELECT mode || ' ' || state FROM lockstep.lock_list() WHERE kind = 'dispatch'")" = 'exclusive held' ]
    kill "$HOLDER_PID"
    wait "$HOLDER_PID" 2>/dev/null || true
    sql "SELECT pg_terminate_backend(pid, 10000) FROM lockstep.dispatch_holders()" >/dev/null
    coproc OTHER {
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" -c 'SELECT lockstep.dispatch_lock()' -c 'SELECT pg_sleep(60)'
    }
    read -r -u "${OTHER[0]}" got
    [ "$got" = t ]
    checked dispatcher '^FAIL none is at work, 1 schedule' # nobody runs the query; as the line of jobs says, too
    sql "UPDATE lockstep.schedule SET asked_until = NULL"
    checked jobs '^FAIL the lock of dispatch is held by backend'
    kill "$OTHER_PID"
}

@test "every reason to halt is in the manual, and names a command" {
    while IFS='|' read -r reason remedy; do
        grep -q "^| \`$reason\` |" "$BATS_TEST_DIRNAME/../../docs/how-to/halted-queue.md"
        [[ $remedy == *'lockstep queue resume QUEUE'* ]]
    done < <(sql 'SELECT reason, remedy FROM lockstep.halt_reason')
    [ "$(sql 'SELECT count(*) > 9 FROM lockstep.halt_reason')" = t ]
}

# said SUBJECT WORDS: what check says of a command or of http, with $conf
said() {
    "$LOCKSTEP_BIN" check --config "$conf" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" -o json >"$BATS_TEST_TMPDIR/check" ||
        true
    jq -r ".[] | select(.subject == \"$1\") | .result + \" \" + .finding" "$BATS_TEST_TMPDIR/check" | grep -qF "$2" ||
        { cat "$BATS_TEST_TMPDIR/check"; return 1; }
}

@test "check says which commands can be run on this host" {
    conf=$BATS_TEST_TMPDIR/lockstep.conf
    install -m 755 /dev/null "$BATS_TEST_TMPDIR/runs"
    install -m 644 /dev/null "$BATS_TEST_TMPDIR/plain"
    install -m 757 /dev/null "$BATS_TEST_TMPDIR/open"
    cat >"$conf" <<END
[commands]
runs = $BATS_TEST_TMPDIR/runs --quiet
gone = $BATS_TEST_TMPDIR/gone
plain = $BATS_TEST_TMPDIR/plain
folder = $BATS_TEST_TMPDIR
open = $BATS_TEST_TMPDIR/open
homeless = $BATS_TEST_TMPDIR/runs
whose = $BATS_TEST_TMPDIR/runs
[command:homeless]
directory = $BATS_TEST_TMPDIR/nowhere
[command:whose]
user = nobody_of_that_name
[http]
allow = hooks.example, *.example.com
ca_file = $BATS_TEST_TMPDIR/ca.pem
END
    said 'command runs' "ok $BATS_TEST_TMPDIR/runs"
    said 'command gone' "FAIL $BATS_TEST_TMPDIR/gone: No such file or directory"
    said 'command plain' "FAIL $BATS_TEST_TMPDIR/plain cannot be executed"
    said 'command folder' "FAIL $BATS_TEST_TMPDIR cannot be executed"
    said 'command open' "warn $BATS_TEST_TMPDIR/open can be changed by everybody"
    said 'command homeless' "FAIL $BATS_TEST_TMPDIR/nowhere is no directory"
    said 'command whose' 'FAIL there is no user nobody_of_that_name on this host'
    said http "FAIL $BATS_TEST_TMPDIR/ca.pem: No such file or directory"
    said http 'ok tasks may call hooks.example, *.example.com'
    printf '[http]\nallow = h/x, y/z\n' >"$conf"
    said actions '"h/x" is no host'
    said actions '"y/z" is no host'
}

@test "check says whether each receiver of alerts could be reached, and which no monitor has read" {
    conf=$BATS_TEST_TMPDIR/lockstep.conf
    install -m 755 /dev/null "$BATS_TEST_TMPDIR/runs"
    cat >"$conf" <<END
[commands]
runs = $BATS_TEST_TMPDIR/runs
gone = $BATS_TEST_TMPDIR/gone
[http]
allow = 127.0.0.1:1, nowhere.invalid
[alert:page]
command = runs
[alert:lost]
command = gone
[alert:hook]
url = http://127.0.0.1:1/
[alert:chat]
url = https://nowhere.invalid/alerts
END
    said 'receiver page' "ok [alert:page] command: $BATS_TEST_TMPDIR/runs"
    said 'receiver lost' "FAIL [alert:lost] command: $BATS_TEST_TMPDIR/gone: No such file or directory"
    said 'receiver hook' 'ok [alert:hook] host 127.0.0.1 is allowed and resolved'
    said 'receiver chat' 'FAIL [alert:chat] url: host nowhere.invalid: '
    said 'receiver page' 'warn no monitor has read section [alert:page]: nothing is sent to it'
    run ! jq -e '.[] | select(.subject == "monitor")' "$BATS_TEST_TMPDIR/check"
    sql "SELECT lockstep.monitor_seen('m', 'h', '1 s', true)"
    sql "SELECT lockstep.monitor_receives('m', 'page', '{*}', NULL, '0 s')"
    said 'receiver lost' 'warn no monitor has read section [alert:lost]'
    run ! grep -q 'section \[alert:page\]' "$BATS_TEST_TMPDIR/check"
    printf '[alert:x]\ncommand = nothing\n' >"$conf"
    said receivers '[alert:x] command: [commands] does not name "nothing"'
    printf '[commands]\n' >"$conf"
    run ! said 'receiver x' .
}

@test "check says whether a command's user may run it, and that only root may become another" {
    conf=$BATS_TEST_TMPDIR/lockstep.conf
    install -m 750 /dev/null "$BATS_TEST_TMPDIR/ours"
    printf '[commands]\na = %s\n[command:a]\nuser = nobody\n' "$BATS_TEST_TMPDIR/ours" >"$conf"
    if [ "$(id -u)" = 0 ]; then
        said 'command a' "FAIL $BATS_TEST_TMPDIR/ours cannot be executed by nobody"
        chmod 755 "$BATS_TEST_TMPDIR/ours"
        said 'command a' "ok $BATS_TEST_TMPDIR/ours"
    else
        said 'command a' 'FAIL only root may run it as nobody'
    fi
}

# told RESULT SUBJECT WORDS ARGS...: what check says with these arguments
told() {
    local result=$1 subject=$2 words=$3
    shift 3
    "$LOCKSTEP_BIN" check -o json "$@" >"$BATS_TEST_TMPDIR/check" || true
    jq -r ".[] | select(.result == \"$result\" and .subject == \"$subject\") | .finding + \" \" + .hint" \
        "$BATS_TEST_TMPDIR/check" | grep -F "$words" || { cat "$BATS_TEST_TMPDIR/check"; return 1; }
}

@test "check says what it leaves out, and why" {
    lockstep queue create "$queue" --create-topic -q
    told skip topics 'no broker is configured' -d "$db"
    told skip topics 'Kafka does not answer' -d "$db" -b 127.0.0.1:1 -X socket.connection.setup.timeout.ms=1000
    told skip schema 'no session' -d 'host=127.0.0.1 port=1' -b "$LOCKSTEP_TEST_BROKERS"
    told skip queues 'no session' -d 'host=127.0.0.1 port=1' -b "$LOCKSTEP_TEST_BROKERS"
    told skip security 'no session' -d 'host=127.0.0.1 port=1' --security
    told skip 'task sessions' 'no session of task_conninfo' -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
        -s "postgres.task_conninfo=$db user=nobody_of_that_name"
    told skip 'task login' 'not known' -d "$db" --security
    login=$(scratch_name)
    sql "CREATE ROLE $login LOGIN"
    told skip queues 'the login may not read the schema' -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS"
    sql "DROP ROLE $login"
    sql "DELETE FROM lockstep.migration WHERE version = (SELECT max(version) FROM lockstep.migration)"
    told skip queues 'the schema is not current' -d "$db" -b "$LOCKSTEP_TEST_BROKERS"
    lockstep check -b "$LOCKSTEP_TEST_BROKERS" | grep -q '^skip  queues '
}

@test "check says that a login may not ask the database, and its hint lets it" {
    sql "REVOKE lockstep_task FROM $task; GRANT lockstep_producer TO $task"
    told skip 'task SQL' "$task runs no executors" -d "$db user=$task" -b "$LOCKSTEP_TEST_BROKERS"
    told skip database "$task may not ask" -d "$db user=$task" -b "$LOCKSTEP_TEST_BROKERS" >"$BATS_TEST_TMPDIR/hint"
    sql "$(grep -oE 'GRANT lockstep_monitor TO [^;]+;' "$BATS_TEST_TMPDIR/hint")"
    told warn durability 'fsync is off' -d "$db user=$task" -b "$LOCKSTEP_TEST_BROKERS"
    ! jq -e 'any(.subject == "database")' "$BATS_TEST_TMPDIR/check"
}

@test "a queue whose partition the topic does not have is no silent pass" {
    lockstep queue create "$queue" --create-topic -q
    sql "UPDATE lockstep.queue SET partition = 3, mark = NULL"
    told FAIL "queue $queue" 'has 1 partition, and the queue reads partition 3' -d "$db" -b "$LOCKSTEP_TEST_BROKERS"
}
