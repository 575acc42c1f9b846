# tests/support/own_servers.bash: a PostgreSQL and a broker that are the test's own, to be stopped, frozen and broken, and what
# shell.bash has. Sourced by tests/e2e/*.sh that say "ctest: lock=servers", with $here set.
#   $tmp               a directory, which the servers' files are in, too; $root: that of the sources
#   own_servers_end    what is left to do at the end, also of a test that failed; it is done by itself unless the test has a trap of its own

root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
chmod 755 "$tmp"
. "$here/../support/shell.bash"

own_servers_end() {
    jobs_end
    kill -CONT "${LOCKSTEP_TEST_KAFKA_PID:-0}" 2>/dev/null || true # frozen, it would not stop
    "$root/scripts/servers" stop "$tmp/servers" >/dev/null
    rm -rf "$tmp"
}
trap own_servers_end EXIT
"$root/scripts/servers" start "$tmp/servers" >/dev/null
set -a
. "$tmp/servers/env"
set +a
