#!/usr/bin/env bats
# The first things a user types, and the promised exit codes.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
}

teardown() {
    scratch_drop
}

@test "--version prints one line that names the program" {
    run "$LOCKSTEP_BIN" --version
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ ${lines[0]} == lockstep\ * ]]
}

@test "--help names every command of the first release" {
    run "$LOCKSTEP_BIN" --help
    [ "$status" -eq 0 ]
    for command in migrate queue publish executor run task lock rejected log dev; do
        grep -qw -- "$command" <<<"$output" || {
            echo "missing in --help: $command"
            return 1
        }
    done
}

@test "an unknown command is a usage error" {
    run "$LOCKSTEP_BIN" frobnicate
    [ "$status" -eq 2 ]
    [ -n "$output" ]
}

@test "an unknown option is a usage error" {
    run "$LOCKSTEP_BIN" migrate list --frobnicate -d "$LOCKSTEP_TEST_PG"
    [ "$status" -eq 2 ]
}

@test "a PostgreSQL that is not there is exit status 3" {
    run "$LOCKSTEP_BIN" migrate list -d 'host=127.0.0.1 port=1 dbname=none user=none'
    [ "$status" -eq 3 ]
}

@test "the JSON log of a daemon that cannot start is JSON to its last line" {
    run "$LOCKSTEP_BIN" scheduler run -d "host=/nowhere dbname=x" -s log.format=json
    [ "$status" -eq 3 ]
    [ "$(jq -r .event <<<"$output" | tail -n 1)" = daemon_failed ]
    jq -r .error <<<"$output" | grep nowhere
    jq -e .hint <<<"$output" >/dev/null
}

@test "a database without the schema is exit status 5" {
    scratch_empty_database
    run lockstep queue list
    [ "$status" -eq 5 ]
    [[ $output == *"lockstep migrate up"* ]]
}

@test "migrate up may be run again, and several times at once" {
    scratch_empty_database
    pids=()
    for _ in 1 2 3 4; do
        "$LOCKSTEP_BIN" migrate up -d "$db" >/dev/null &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done
    "$LOCKSTEP_BIN" migrate up -d "$db"
    "$LOCKSTEP_BIN" migrate validate -d "$db"
    [ "$(sql "SELECT to_regclass('lockstep.task') IS NOT NULL")" = t ]
}

@test "a queue that was created is listed" {
    scratch_database
    queue=$(scratch_name)
    lockstep queue create "$queue" --topic "$queue" --create-topic --max-readers 3
    run lockstep queue list -o jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"$queue"* ]]
}

@test "results go to stdout, complaints to stderr" {
    out=$("$LOCKSTEP_BIN" frobnicate 2>/dev/null) || true
    [ -z "$out" ]
    [ -n "$("$LOCKSTEP_BIN" --help 2>/dev/null)" ]
}

@test "a published run is executed in phase order" {
    scratch_database
    queue=$(scratch_name)
    lockstep queue create "$queue" --topic "$queue" --create-topic --max-readers 3
    sql 'CREATE TABLE effect (phase int, at timestamptz DEFAULT clock_timestamp())'
    printf '%s\n' order,sql '20,INSERT INTO effect VALUES (20)' '10,INSERT INTO effect VALUES (10)' \
        '10,INSERT INTO effect VALUES (10)' >"$BATS_TEST_TMPDIR/tasks.csv"
    id=$(lockstep publish --queue "$queue" -q "$BATS_TEST_TMPDIR/tasks.csv" --format csv)
    lockstep executor run --queue "$queue" --readers 2 --until-idle
    [ "$(sql "SELECT string_agg(phase::text, ',' ORDER BY at) FROM effect")" = 10,10,20 ]
    [ "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$id'")" = Completed ]
}

@test "a daemon that starts logs the database and the login" {
    scratch_database
    queue=$(scratch_name)
    lockstep queue create "$queue" -q --create-topic
    login=$(sql 'SELECT current_user')
    place="event=database host=[^ ]+ port=$(sql 'SHOW port') dbname=${db##*dbname=} login=$login"
    for daemon in "executor run --queue $queue" 'scheduler run' 'monitor run' 'console run --listen 0' \
        "all run --queue $queue --listen 0"; do
        # Here, not by the background process: what the daemon before logged must be gone before it is read.
        : >"$BATS_TEST_TMPDIR/log"
        # shellcheck disable=SC2086 # words
        "$LOCKSTEP_BIN" $daemon -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>"$BATS_TEST_TMPDIR/log" >/dev/null 3>&- &
        pid=$!
        eventually 30 grep -qE '_started' "$BATS_TEST_TMPDIR/log" || { cat "$BATS_TEST_TMPDIR/log"; return 1; }
        # "all run" starts its console beside its executor: either may be first.
        eventually 30 grep -qE "$place" "$BATS_TEST_TMPDIR/log" ||
            { echo "$daemon"; cat "$BATS_TEST_TMPDIR/log"; kill "$pid"; return 1; }
        kill -HUP "$pid" # ends none of them: an executor reads its configuration again, the others say that they do not
        eventually 10 grep -qE 'event=reload(ed|_ignored)' "$BATS_TEST_TMPDIR/log" ||
            { echo "$daemon"; cat "$BATS_TEST_TMPDIR/log"; kill "$pid"; return 1; }
        kill "$pid"
        wait "$pid"
    done
}
