#!/usr/bin/env bats
# What a login that may only look is told when it wants to act: the group that is named is the one that lets it.
# ctest: timeout=120

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    login=$(scratch_name)
    sql "CREATE ROLE $login LOGIN IN ROLE lockstep_monitor"
    queue=$(scratch_name)
    lockstep queue create "$queue" -q --create-topic
    job="$BATS_TEST_TMPDIR/job.json"
    echo '{"job": "j", "queue": "'"$queue"'", "tasks": [{"order": 1, "sql": "SELECT 1"}]}' >"$job"
    lockstep job apply -q "$job"
}

teardown() {
    sql "DROP OWNED BY $login; DROP ROLE $login"
    scratch_drop
}

by() { "$LOCKSTEP_BIN" "$@" -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS" >"$BATS_TEST_TMPDIR/said" 2>&1; }

# named COMMAND...: a monitor is refused; the statement of the hint is run as it is printed; then the command is not refused for its rights any more
named() {
    local grant
    if by "$@"; then echo "not refused: $*"; return 1; fi
    grant=$(grep -oE 'GRANT lockstep_[a-z]+ TO [^;]+;' "$BATS_TEST_TMPDIR/said") || { echo "$*"; cat "$BATS_TEST_TMPDIR/said"; return 1; }
    sql "$grant"
    by "$@" || true
    if grep -qE 'permission denied|GRANT lockstep' "$BATS_TEST_TMPDIR/said"; then echo "$* behind $grant"; cat "$BATS_TEST_TMPDIR/said"; return 1; fi
    grant=${grant/GRANT/REVOKE}
    sql "${grant/ TO / FROM }"
}

@test "a monitor who wants to make or revoke a token of the console is told of the operators" {
    lockstep console token create t -q >/dev/null
    named console token create u
    named console token revoke t
    by console token list
}

@test "a monitor who wants to change a job, a schedule or an alert is told which group may" {
    named job set j --change '{"description": "x"}'
    named job disable j
    lockstep job disable j -q
    named job enable j
    named job run j
    named job apply "$job"
    named schedule add j nightly --every 1h
    named schedule set j nightly --every 2h
    named schedule remove j nightly
    named monitor silence j --for 1h --reason x
    named monitor ack j --reason x
    named alert ack 1 --reason x
    named job delete j
}

@test "a monitor who wants to change a queue is told which group may" {
    named queue pause "$queue" --reason x
    lockstep queue pause "$queue" --reason x -q
    named queue resume "$queue"
    named queue set "$queue" --max-readers 2
}
