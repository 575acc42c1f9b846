# tests/support/cluster.bash: PostgreSQL servers of a test's own, to be crashed, copied, promoted and restored. Sourced
# after tests/support/shell.bash. All of them live in one directory, speak by Unix sockets there only, and are stopped
# by pid.
#   cluster_open                        makes the directory $cluster; cluster_close stops everything and removes it
#   pg_init NAME [SETTING=VALUE...]     a new server, not started
#   pg_start NAME                       starts it and waits until it takes sessions, a standby's read-only ones, too
#   pg_stop NAME [MODE]                 pg_ctl stop, immediate unless said otherwise
#   pg_crash NAME                       kill -9 of the postmaster and all its processes at once: their memory
#                                       is lost
#   pg_standby FROM TO                  a streaming standby TO of FROM, not started
#   pg_promote NAME                     a standby becomes the primary
#   pg_conninfo NAME...                 host=... port=... of one, or of several as a list
#   pg_sql NAME TEXT                    as sql, on that server's database postgres
#   pg_set NAME SETTING=VALUE...        ALTER SYSTEM and reload

cluster=''
declare -A pg_ports=()

cluster_open() {
    cluster=$(mktemp -d /tmp/lockstep.XXXXXX) # not TMPDIR: a socket's path has at most 107 bytes
    chmod 1777 "$cluster"
}

cluster_close() {
    local name
    [ -n "$cluster" ] || return 0
    for name in "${!pg_ports[@]}"; do pg_crash "$name"; done
    rm -rf "$cluster"
    cluster=''
}

# PostgreSQL refuses to run as root.
pg_as_owner() {
    if [ "$(id -u)" != 0 ]; then
        "$@"
        return
    fi
    local user=postgres
    id -u "$user" >/dev/null 2>&1 || user=nobody
    (cd / && exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@")
}

# pg_configure NAME SETTING=VALUE...: appended, the last one counts. Ports only name the sockets in our own directory.
pg_configure() {
    local name=$1 setting
    shift
    for setting; do
        echo "${setting%%=*} = '${setting#*=}'"
    done | pg_as_owner tee -a "$cluster/$name/postgresql.conf" >/dev/null
}

pg_name() {
    pg_ports[$1]=$((5001 + ${#pg_ports[@]}))
    pg_configure "$1" "port=${pg_ports[$1]}"
}

pg_init() {
    local name=$1
    shift
    pg_as_owner "$LOCKSTEP_TEST_PGBIN/initdb" -D "$cluster/$name" -U lockstep_test --auth=trust -E UTF8 \
        --locale=C.UTF-8 --no-sync >"$cluster/$name.init" 2>&1
    pg_configure "$name" listen_addresses= "unix_socket_directories=$cluster" shared_buffers=32MB max_wal_senders=5 "$@"
    pg_name "$name"
}

pg_start() {
    pg_as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" start -s -w -t 60 -D "$cluster/$1" -l "$cluster/$1.log" </dev/null \
        >"$cluster/$1.start" 2>&1 ||
        { tail -n 5 "$cluster/$1.log"; return 1; }
}

pg_stop() {
    pg_as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" stop -s -w -t 60 -D "$cluster/$1" \
        -m "${2:-immediate}" </dev/null >/dev/null 2>&1
}

pg_pid() { head -n 1 "$cluster/$1/postmaster.pid" 2>/dev/null; }

# The postmaster first, in one call with its children, so that none of them writes out what another one's death makes it
# write.
pg_crash() {
    local pid children
    pid=$(pg_pid "$1") || return 0
    grep -qsa -- "$cluster/$1" "/proc/$pid/cmdline" || return 0
    children=$(cat "/proc/$pid/task/$pid/children")
    # shellcheck disable=SC2086
    kill -9 "$pid" $children 2>/dev/null
    for pid in $pid $children; do
        while grep -qs '^State:.[^ZX]' "/proc/$pid/status"; do sleep 0.005; done
    done
    # The dead are zombies until a process waits for them, and so the numbers in these files seem to live.
    rm -f "$cluster/$1/postmaster.pid" "$cluster/.s.PGSQL.${pg_ports[$1]}" "$cluster/.s.PGSQL.${pg_ports[$1]}.lock"
}

pg_standby() {
    pg_as_owner "$LOCKSTEP_TEST_PGBIN/pg_basebackup" -d "$(pg_conninfo "$1")" -D "$cluster/$2" -R -c fast -X stream \
        --no-sync
    pg_name "$2"
}

pg_promote() { pg_as_owner "$LOCKSTEP_TEST_PGBIN/pg_ctl" promote -s -w -t 60 -D "$cluster/$1" >/dev/null; }

pg_conninfo() {
    local name hosts='' ports=''
    for name; do
        hosts+=,$cluster
        ports+=,${pg_ports[$name]}
    done
    echo "host=${hosts#,} port=${ports#,} user=lockstep_test dbname=postgres"
}

pg_sql() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$(pg_conninfo "$1")" -c "$2"; }

pg_set() {
    local name=$1 setting
    shift
    for setting; do pg_sql "$name" "ALTER SYSTEM SET ${setting%%=*} = '${setting#*=}'"; done
    pg_sql "$name" 'SELECT pg_reload_conf()' >/dev/null
}
