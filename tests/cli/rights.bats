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

# named COMMAND...: a monitor is refused; the statement of the hint is run as it is printed; then the command is not
# refused for its rights any more
named() {
    local grant
    if by "$@"; then echo "not refused: $*"; return 1; fi
    grant=$(grep -oE 'GRANT lockstep_[a-z]+ TO [^;]+;' "$BATS_TEST_TMPDIR/said") ||
        { echo "$*"; cat "$BATS_TEST_TMPDIR/said"; return 1; }
    sql "$grant"
    by "$@" || true
    if grep -qE 'permission denied|GRANT lockstep' "$BATS_TEST_TMPDIR/said"; then
        echo "$* behind $grant"
        cat "$BATS_TEST_TMPDIR/said"
        return 1
    fi
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
    named job withdraw j
    named job apply "$job"
    named schedule add j nightly --every 1h
    named schedule set j nightly --every 2h
    named schedule remove j nightly
    named monitor silence j --for 1h --reason x
    named monitor ack j --reason x
    named alert ack 1 --reason x
    named job delete j
}

@test "each function for callers may be executed by one of the groups" {
    local file names=()
    for file in "$BATS_TEST_DIRNAME"/../../sql/api/*.sql; do names+=("$(basename "$file" .sql)"); done
    [ ${#names[@]} -gt 30 ]
    run sql "SELECT f FROM unnest('{$(IFS=,; echo "${names[*]}")}'::name[]) AS f WHERE NOT EXISTS (
                 SELECT FROM pg_proc p, pg_roles r WHERE p.pronamespace = 'lockstep'::regnamespace AND p.proname = f
                   AND r.rolname ~ '^lockstep_(executor|producer|operator|monitor|worker)$'
                   AND has_function_privilege(r.oid, p.oid, 'EXECUTE'))"
    [ -z "$output" ] || { echo "nobody may execute: $output"; return 1; }
}

@test "a monitor may use each command for jobs, schedules and alerts that changes nothing" {
    lockstep schedule add j nightly --every 1h -q
    echo '{"kind": "cron", "expr": "0 6 * * *", "after": "2026-01-01T00:00:00Z", "n": 1}' >"$BATS_TEST_TMPDIR/rules"
    while read -r -a command; do
        by "${command[@]}" </dev/null || { echo "${command[*]}: $?"; cat "$BATS_TEST_TMPDIR/said"; return 1; }
        if grep -q 'permission denied' "$BATS_TEST_TMPDIR/said"; then
            echo "${command[*]}"
            cat "$BATS_TEST_TMPDIR/said"
            return 1
        fi
    done <<END
schedule next @hourly
schedule next @hourly --after 2026-01-01T00:00:00Z
schedule next --file $BATS_TEST_TMPDIR/rules
schedule explain @daily --zone Europe/Warsaw
schedule list
schedule list j
schedule forecast
schedule forecast j
job list
job show j
job export j
job test j
job history
job history j
job log
job log j
monitor list
monitor check
alert list
END
    grep -qF '{"next": ["2026-01-01T06:00:00Z"]}' \
        <(by schedule next --file "$BATS_TEST_TMPDIR/rules"; cat "$BATS_TEST_TMPDIR/said")
}

@test "each group may ask in SQL when a rule fires" {
    local group
    for group in executor producer operator monitor; do
        sql "CREATE ROLE ${login}_$group LOGIN IN ROLE lockstep_$group"
        run env PGOPTIONS= "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db user=${login}_$group" \
            -c "SET TIME ZONE 'UTC'" \
            -c "SELECT lockstep.next_time('{\"kind\": \"cron\", \"expr\": \"0 6 * * *\"}', '2026-01-01Z')" \
            -c "SELECT count(*)
                FROM lockstep.forecast('{\"kind\": \"interval\", \"every\": \"1h\"}', '2026-01-01Z', 3)" \
            -c "SELECT count(*)
                FROM lockstep.forecast_agent(4, 1, 1, 0, 0, 0, 20260101, 99991231, 60000, 235959, '2026-01-01Z', 2)"
        sql "DROP ROLE ${login}_$group"
        [ "$output" = $'2026-01-01 06:00:00+00\n3\n2' ] || { echo "$group: $output"; return 1; }
    done
}

@test "a login without any group that wants to look is told of the monitors, not of the owner or the operators" {
    sql "REVOKE lockstep_monitor FROM $login"
    while read -r -a command; do
        if by "${command[@]}"; then echo "not refused: ${command[*]}"; return 1; fi
        grep -q 'GRANT lockstep_monitor TO' "$BATS_TEST_TMPDIR/said" ||
            { echo "${command[*]}"; cat "$BATS_TEST_TMPDIR/said"; return 1; }
        named "${command[@]}"
    done <<END
migrate list
migrate validate
replay --queue $queue
END
}

@test "a monitor who wants to change a queue is told which group may" {
    named queue pause "$queue" --reason x
    lockstep queue pause "$queue" --reason x -q
    named queue resume "$queue"
    named queue set "$queue" --max-readers 2
}

@test "an executor without the group names its login, although its sessions are closed" {
    sql "GRANT CREATE ON DATABASE ${db##*dbname=} TO $login"
    named executor run --queue "$queue" --until-idle
}

@test "a login whose name needs quotes is told what works as it is printed" {
    local quoted="\"Ann \"\"B\"\" $login\""
    sql "ALTER ROLE $login RENAME TO $quoted"
    login="'Ann \"B\" $login'"
    named queue pause "$queue" --reason x
    login=$quoted
}

# mended PATTERN: a command is refused; the statement of its hint is run as it is printed; then the command works
mended() {
    local statement
    if by queue list; then echo 'not refused'; return 1; fi
    statement=$(grep -oE "$1" "$BATS_TEST_TMPDIR/said") || { cat "$BATS_TEST_TMPDIR/said"; return 1; }
    sql "$statement"
    by queue list || { cat "$BATS_TEST_TMPDIR/said"; return 1; }
}

@test "a login that may not connect, or not log in, is told which statement lets it" {
    sql "REVOKE CONNECT ON DATABASE ${db##*dbname=} FROM PUBLIC"
    mended 'GRANT CONNECT ON DATABASE "[^"]+" TO "[^"]+";'
    sql "ALTER ROLE $login NOLOGIN"
    mended 'ALTER ROLE "[^"]+" LOGIN;'
}

@test "check of a login without any group names the groups" {
    sql "REVOKE lockstep_monitor FROM $login"
    by check && return 1
    grep -A1 '^FAIL  schema' "$BATS_TEST_TMPDIR/said" |
        grep -q "GRANT lockstep_executor TO \"$login\"; is for executors. .*lockstep_monitor looks" ||
        { cat "$BATS_TEST_TMPDIR/said"; return 1; }
}
