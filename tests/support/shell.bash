# tests/support/shell.bash: what shell tests share; sourced by tests/cli/*.bats and tests/e2e/*.sh, which run through
# scripts/with-servers.
#   scratch_database   a fresh database with today's schema; its conninfo in $db
#   scratch_name       a name that nothing else on these servers has: for queues, topics, roles
#   sql TEXT           runs SQL there as the superuser, results unaligned
#   lockstep ARGS...   the built binary on that database and the test broker
#   jobs_end           kills the jobs that still run; those that have ended may have left their numbers to others
#   eventually SECONDS COMMAND...   until COMMAND succeeds: a condition is waited for, never a time

: "${LOCKSTEP_BIN:?run this through ctest or scripts/with-servers}"
export LOCKSTEP_CONFIG=/dev/null # a configuration of the user's must not interfere
export LOCKSTEP_EXECUTOR_MAX_ATTEMPTS=1 # a failure is final unless a test says otherwise; the default is 3
db=''

scratch_name() { printf 'ls_%d_%08x\n' "$$" "$SRANDOM"; } # not RANDOM, which a test may have seeded

scratch_empty_database() {
    local name
    name=$(scratch_name)
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$LOCKSTEP_TEST_PG" -c "CREATE DATABASE $name"
    db="$LOCKSTEP_TEST_PG dbname=$name" # the last dbname counts
}

scratch_database() {
    scratch_empty_database
    "$LOCKSTEP_BIN" migrate up -d "$db" >/dev/null
}

scratch_drop() {
    [ -n "$db" ] || return 0
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$LOCKSTEP_TEST_PG" -c "DROP DATABASE IF EXISTS ${db##*dbname=} WITH (FORCE)"
    db=''
}

sql() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" -c "$1"; }

lockstep() { "$LOCKSTEP_BIN" "$@" -d "$db" -b "$LOCKSTEP_TEST_BROKERS"; }

jobs_end() {
    local p
    for p in $(jobs -pr; jobs -ps); do kill -9 "$p" 2>/dev/null || true; done
}

eventually() {
    # From 10 on the bound only ends a test that hangs: a slow machine has time.
    local until=$((SECONDS + ($1 < 10 || $1 > 45 ? $1 : 45)))
    shift
    until "$@"; do
        if [ "$SECONDS" -ge "$until" ]; then
            echo "not so in time: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}
