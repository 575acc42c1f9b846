# tests/support/shell.bash: shared by shell tests; sourced by tests/cli/*.bats and tests/e2e/*.sh, which run through
# scripts/with-servers.
#   scratch_database   a fresh database with today's schema, copied from one that this binary has migrated once; its
#                      conninfo in $db
#   scratch_empty_database   one without the schema
#   scratch_name       a name that nothing else on these servers has: for queues, topics, roles
#   sql [TEXT]         runs SQL there as the superuser, results unaligned; without TEXT, the SQL of standard input. As
#                      with psql -c it is one transaction, after which the session keeps nothing
#   sql_value TEXT     the same, and the result is in $sql_said: for conditions, because it needs no process
#   sql_alone TEXT     the same by a process of psql
#   lockstep ARGS...   the built binary on that database and the test broker
#   jobs_end           kills the jobs that still run; those that have ended may have left their numbers to others
#   jobs_tell SIGNAL PID...   the same for some of them: the signal goes to those that still run
#   eventually SECONDS COMMAND...   until COMMAND succeeds: a condition is waited for, never a time
#   is QUERY VALUE     such a condition: QUERY returns VALUE
#   $own_locks         in a WHERE over pg_locks: those of $db. pg_locks and pg_stat_activity have the rows of all
#                      databases, in whose copies the tables have the same oids
#   nap SECONDS        between two looks at a condition

: "${LOCKSTEP_BIN:?run this through ctest or scripts/with-servers}"
export LOCKSTEP_CONFIG=/dev/null # a configuration of the user's must not interfere
export LOCKSTEP_EXECUTOR_MAX_ATTEMPTS=1 # a failure is final unless a test says otherwise; the default is 3
db=''
# shellcheck disable=SC2034 # for the scripts
own_locks='database = (SELECT oid FROM pg_database WHERE datname = current_database())'

scratch_name() { printf 'ls_%d_%08x\n' "$$" "$SRANDOM"; } # not RANDOM, which a test may have seeded

scratch_cluster() { db=$LOCKSTEP_TEST_PG sql "$1"; }

scratch_empty_database() {
    local name
    name=$(scratch_name)
    scratch_cluster "CREATE DATABASE $name"
    db="$LOCKSTEP_TEST_PG dbname=$name" # the last dbname counts
}

# The template has its name only when it is whole; it is named after the binary, so that one that was built again makes
# another.
scratch_template() ( # NAME
    exec {lock}>"$LOCKSTEP_TEST_HOME/$1.lock"
    flock "$lock"
    [ "$(scratch_cluster "SELECT count(*) FROM pg_database WHERE datname = '$1'")" = 0 ] || return 0
    scratch_cluster "DROP DATABASE IF EXISTS ${1}_new" 2>/dev/null
    scratch_cluster "CREATE DATABASE ${1}_new"
    "$LOCKSTEP_BIN" migrate up -q -d "$LOCKSTEP_TEST_PG dbname=${1}_new" || return 1
    while [ "$(scratch_cluster "SELECT count(*) FROM pg_stat_activity
        WHERE datname = '${1}_new' AND backend_type = 'client backend'")" != 0 ]; do
        sleep 0.05 # its session has ended, the server's process has not
    done
    scratch_cluster "ALTER DATABASE ${1}_new ALLOW_CONNECTIONS false"
    scratch_cluster "ALTER DATABASE ${1}_new RENAME TO $1"
)

# file_copy: for a few MB two checkpoints cost less than the same in WAL.
scratch_database() {
    local name template
    name=$(scratch_name)
    template=template_$(stat -L -c '%i_%.Z' "$LOCKSTEP_BIN")
    template=${template//./_}
    if ! scratch_cluster "CREATE DATABASE $name TEMPLATE $template STRATEGY file_copy" 2>/dev/null; then
        scratch_template "$template"
        scratch_cluster "CREATE DATABASE $name TEMPLATE $template STRATEGY file_copy"
    fi
    db="$LOCKSTEP_TEST_PG dbname=$name"
}

scratch_drop() {
    [[ $db =~ dbname=(ls_[0-9]+_[0-9a-f]+)$ ]] || return 0 # one on a server of the test's own goes with that server
    scratch_cluster "DROP DATABASE IF EXISTS ${BASH_REMATCH[1]} WITH (FORCE)"
    db=''
}

sql_alone() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" -c "$1"; }

# The program of tests/support/sql_session serves the script and its jobs in turns: the pipe $sql_turn has one byte, and
# a process that has taken it may ask. The program lets no read wait there: read -t would not do, because of two
# processes that see the same byte one waits until the other gives it back.
sql_in='' sql_out='' sql_turn=''
sql_session() {
    exec {sql_turn}<> <(:)
    # bats waits until every process has closed 3
    coproc SQL_SESSION { exec "${LOCKSTEP_BIN%/*}/sql_session" "$sql_turn" 2>/dev/null 3>&-; }
    disown "$SQL_SESSION_PID" # none of the script's jobs
    exec {sql_in}>&"${SQL_SESSION[1]}" {sql_out}<&"${SQL_SESSION[0]}"
    read -r -u "$sql_out" # it is ready
    printf '.' >&"$sql_turn"
}

# Returns the exit status of a psql; its output and its errors are in $sql_said and $sql_error.
sql_ask() { # TEXT
    local LC_ALL=C turn status out error # bytes are counted
    [ -n "$sql_in" ] || [ "$BASH_SUBSHELL" != 0 ] || sql_session
    if [[ -z $sql_in || -n ${PGAPPNAME-} || -n ${PGOPTIONS-} || $1 == '\'* ]] ||
        ! read -rN 1 -u "$sql_turn" turn 2>/dev/null; then
        sql_error='' # psql has printed it
        sql_said=$(sql_alone "$1") || return
        sql_said+=${sql_said:+$'\n'}
        return
    fi
    printf '%s\0%s\0' "$db" "$1" >&"$sql_in"
    read -r -u "$sql_out" status out error
    sql_said='' sql_error=''
    [ "$out" = 0 ] || IFS= read -rN "$out" -u "$sql_out" sql_said
    [ "$error" = 0 ] || IFS= read -rN "$error" -u "$sql_out" sql_error
    printf '%s' "$turn" >&"$sql_turn"
    return "$status"
}

sql() {
    local status=0
    sql_ask "${1-$(</dev/stdin)}" || status=$?
    printf '%s' "$sql_said"
    [ -z "$sql_error" ] || printf '%s' "$sql_error" >&2
    return "$status"
}

# As $(sql TEXT), in $sql_said and without a process.
sql_value() { # TEXT
    local status=0
    sql_ask "$1" || status=$?
    [ -z "$sql_error" ] || printf '%s' "$sql_error" >&2
    sql_said=${sql_said%"${sql_said##*[!$'\n']}"}
    return "$status"
}

is() { sql_value "$1" && [ "$sql_said" = "$2" ]; }

lockstep() { "$LOCKSTEP_BIN" "$@" -d "$db" -b "$LOCKSTEP_TEST_BROKERS"; }

# Processes in the background, and their children: lockstep ... & is a shell with a child.
jobs_end() {
    local p below
    for p in $(jobs -pr; jobs -ps); do
        below=$(pgrep -P "$p" || true)
        # shellcheck disable=SC2086 # any number of them
        kill -9 "$p" $below && wait "$p" || true # wait: so that the shell does not report it
    done 2>/dev/null
}

jobs_tell() {
    local signal=$1 p own
    own=$'\n'$(jobs -pr; jobs -ps)$'\n'
    shift
    for p; do
        [[ $own != *$'\n'"$p"$'\n'* ]] || kill -"$signal" "$p" 2>/dev/null || true
    done
}

# Without a process: the pipe is open for both, so that nothing is ever read from it.
nap() { # SECONDS
    local pipe=$LOCKSTEP_TEST_HOME/nap
    [ -p "$pipe" ] || mkfifo "$pipe" 2>/dev/null || [ -p "$pipe" ] || { sleep "$1"; return; }
    read -rt "$1" <>"$pipe" || true
}

# A condition that costs a process or a session takes the processor from the tests of other scripts. So a condition that
# has been waited for a second is asked for ten times a second, a condition that has been waited for three seconds or
# more three times, and no condition is asked for in more than a third of the time.
eventually() {
    # From 10 on the bound only ends a test that hangs: a slow machine has time.
    local until=$((SECONDS + ($1 < 10 || $1 > 45 ? $1 : 45))) since=${EPOCHREALTIME/[.,]/} asked now pause_ms pause
    shift
    while :; do
        asked=${EPOCHREALTIME/[.,]/}
        if "$@"; then return 0; fi
        if [ "$SECONDS" -ge "$until" ]; then
            echo "not so in time: $*" >&2
            return 1
        fi
        now=${EPOCHREALTIME/[.,]/}
        pause_ms=$(((now - since) / 10000))
        pause_ms=$((pause_ms < 50 ? 50 : pause_ms > 300 ? 300 : pause_ms))
        pause_ms=$((pause_ms < (now - asked) / 500 ? (now - asked) / 500 : pause_ms))
        printf -v pause '%d.%03d' $((pause_ms / 1000)) $((pause_ms % 1000))
        nap "$pause"
    done
}
