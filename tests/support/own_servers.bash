# tests/support/own_servers.bash: how a script of tests/e2e begins that says "ctest: lock=servers": begin.bash, and a
# PostgreSQL and a broker that are the test's own, to be stopped, frozen and broken. Their files are in $tmp/servers.
# The script makes its database itself.
#   own_servers_end STATUS   stops them, and prints the end of their logs when STATUS, that of the script, is not 0. A
#                            script with an e2e_leave of its own calls it there
. "$(dirname "${BASH_SOURCE[0]}")/begin.bash"
root=$(cd "$here/../.." && pwd)
chmod 755 "$tmp"

own_servers_end() {
    local log
    kill -CONT "${LOCKSTEP_TEST_KAFKA_PID:-0}" 2>/dev/null || true # frozen, it would not stop
    "$root/scripts/servers" stop "$tmp/servers" >/dev/null
    db='' # it went with its server
    [ "$1" != 0 ] || return 0
    for log in "$tmp"/servers/{kafka,postgres}.log; do
        echo "==== the end of ${log##*/}"
        tail -n 30 "$log" || true
    done
}
e2e_leave() { own_servers_end "$1"; }
"$root/scripts/servers" start "$tmp/servers" >/dev/null
set -a
. "$tmp/servers/env"
set +a
