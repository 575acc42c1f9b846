#!/usr/bin/env bats
# The schema's commands, `check`, and the private servers of `dev`.
# ctest: timeout=120

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
}

teardown() {
    scratch_drop
}

@test "every command that needs the schema exits with 5 before it is there" {
    scratch_empty_database
    for command in "queue list" "queue show a" "run list" "task list" "lock list" "executor list" "rejected list" log \
        "migrate validate"; do
        # shellcheck disable=SC2086
        run lockstep $command
        [ "$status" -eq 5 ] || { echo "$command: $status $output"; return 1; }
        [[ $output == *"lockstep migrate up"* ]]
    done
}

@test "a schema that is older than the program, or was altered, is refused before anything is read" {
    scratch_database
    sql "UPDATE lockstep.migration SET checksum = 'x' WHERE version = 1"
    run lockstep queue list
    [ "$status" -eq 5 ]
    scratch_drop
    scratch_database
    sql "DELETE FROM lockstep.migration WHERE version = (SELECT max(version) FROM lockstep.migration)"
    run lockstep queue list
    [ "$status" -eq 5 ]
}

@test "migrate up --dry-run --show-sql prints SQL and changes nothing" {
    scratch_empty_database
    run lockstep migrate up --dry-run --show-sql
    [ "$status" -eq 0 ]
    [[ $output == *"CREATE TABLE lockstep.queue"* ]]
    [ "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'lockstep'")" = 0 ]
    lockstep migrate list -o json | jq -e 'all(.state == "pending")'
    lockstep migrate up
    lockstep migrate list -o json | jq -e 'length > 5 and all(.state == "applied")'
    run lockstep migrate up
    [ "$status" -eq 0 ]
    lockstep migrate validate
}

@test "check tells every finding in a line and exits with 1 if one is FAIL" {
    scratch_database
    queue=$(scratch_name)
    lockstep queue create "$queue" --create-topic
    run lockstep check
    [ "$status" -eq 0 ]
    [[ $output == *"warn  task SQL"* ]]
    lockstep check -o json | jq -e 'all(.result != "FAIL") and any(.subject == "Kafka" and .result == "ok")'
    sql "UPDATE lockstep.queue SET next_offset = 100, cluster_id = 'another'"
    run lockstep check
    [ "$status" -eq 1 ]
    [ "$(grep -c '^FAIL  queue' <<<"$output")" -eq 2 ]
    run "$LOCKSTEP_BIN" check -d 'host=127.0.0.1 port=1 dbname=none user=none' -b "$LOCKSTEP_TEST_BROKERS"
    [ "$status" -eq 1 ]
    [[ $output == *"FAIL  PostgreSQL"* ]]
    [[ $output == *"ok    Kafka"* ]]
}

@test "check judges who runs the tasks' SQL" {
    scratch_database
    role=$(scratch_name)
    sql "CREATE ROLE $role LOGIN"
    task="$db user=$role"
    run lockstep check -s "postgres.task_conninfo=$task"
    [[ $output == *"FAIL  task SQL"*"no member of lockstep_task"* ]] ||
        { echo "$output"; sql "DROP ROLE $role"; return 1; }
    sql "GRANT lockstep_task TO $role"
    run lockstep check -s "postgres.task_conninfo=$task"
    sql "DROP ROLE $role"
    [ "$status" -eq 0 ]
    [[ $output == *"ok    task SQL"* ]]
}

@test "dev broker prints its address alone on the first line and ends with 0 at SIGTERM" {
    "$LOCKSTEP_BIN" dev broker --topic one >"$BATS_TEST_TMPDIR/out" 2>/dev/null 3>&- &
    broker=$!
    eventually 10 test -s "$BATS_TEST_TMPDIR/out"
    [[ $(cat "$BATS_TEST_TMPDIR/out") =~ ^127\.0\.0\.1:[0-9]+$ ]]
    kill -TERM "$broker"
    wait "$broker"
}

@test "dev up starts a private PostgreSQL that dev down stops, and finds it again" {
    dir=$(mktemp -d /tmp/ls_dev_XXXXXX)
    if [ "$(id -u)" = 0 ]; then chown "$(id -u postgres 2>/dev/null || id -u nobody)" "$dir"; fi
    conninfo=$("$LOCKSTEP_BIN" dev up --dir "$dir" -q)
    "$LOCKSTEP_BIN" migrate up -d "$conninfo"
    [ "$("$LOCKSTEP_BIN" dev up --dir "$dir" -q)" = "$conninfo" ]
    "$LOCKSTEP_BIN" dev down --dir "$dir"
    run "$LOCKSTEP_BIN" migrate list -d "$conninfo"
    [ "$status" -eq 3 ]
    "$LOCKSTEP_BIN" dev up --dir "$dir" -q
    "$LOCKSTEP_BIN" migrate validate -d "$conninfo"
    "$LOCKSTEP_BIN" dev down --dir "$dir"
    rm -rf "$dir"
}
