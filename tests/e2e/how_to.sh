#!/bin/bash
# The commands of the how-to pages work as they are printed: each page in a database and on a broker of its own. A page
# says in comments what its reader has already (tests/support/page.py).
# ctest: nosan timeout=900 long
# With names as arguments (install upgrade): only those pages.
# A page without a command that is run is named here, with the reason.
declare -A not_run=(
    [develop]='builds and tests Lockstep itself'
    [external-workers]='its worker is examples/notification, which e2e.external_workers runs'
    [prometheus]='needs a Prometheus and a Grafana'
    [troubleshoot]='begins with faults, each of which has a test of its own'
)
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/page.bash"
pages=$(realpath "$here/../../docs/how-to")
EXAMPLES=$(realpath "$here/../../examples")
export EXAMPLES
bin=$(realpath "$LOCKSTEP_BIN")
unset LOCKSTEP_CONFIG LOCKSTEP_EXECUTOR_MAX_ATTEMPTS
unset -f lockstep sql
databases=()
e2e_leave() {
    local name
    for name in "${databases[@]}"; do
        scratch_cluster "DROP DATABASE IF EXISTS $name WITH (FORCE)" >/dev/null 2>&1 || true
    done
}

# The server as libpq's variables: the commands of a page need no connection string.
while read -r name value; do export "$name=$value"; done < <(
    "$LOCKSTEP_TEST_PGBIN/psql" -X -At -F ' ' -d "$LOCKSTEP_TEST_PG" \
        -c "SELECT 'PGPORT', current_setting('port') UNION ALL
        SELECT 'PGHOST', split_part(current_setting('unix_socket_directories'), ',', 1)
        UNION ALL SELECT 'PGUSER', session_user"
)

# Each page has a schema that is current already: its commands about migrations find nothing to do, and ends at once.
# Its reader may have worked through the tutorial in this database, so it must not need the names of those tables.
template=$(scratch_name)
databases+=("$template")
PGDATABASE=postgres "$LOCKSTEP_TEST_PGBIN/createdb" "$template"
PGDATABASE=$template LOCKSTEP_CONFIG=/dev/null "$bin" migrate up -q
tables=$(grep -oE 'CREATE TABLE [a-z_]+ \(' "$pages/../tutorial.md" | sed 's/$/);/')
[ "$(wc -l <<<"$tables")" -ge 5 ] || { echo "the tables of the tutorial are not found: $tables"; exit 1; }
PGDATABASE=$template "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 <<<"$tables"

page() { # NAME
    local dir=$tmp/$1 name
    case_begin "the commands of the page \"$1\" work as they are printed"
    mkdir "$dir"
    name=$(scratch_name)
    databases+=("$name" "${name}_restored")
    PGDATABASE=postgres "$LOCKSTEP_TEST_PGBIN/createdb" --template="$template" "$name"
    PGDATABASE=$name
    export PGDATABASE
    "$bin" dev broker --topic sales >"$dir/broker.txt" 2>"$dir/broker.log" &
    eventually 30 test -s "$dir/broker.txt"
    printf '[kafka]\nbootstrap.servers = %s\n' "$(head -n 1 "$dir/broker.txt")" >"$dir/lockstep.conf"
    run_page "$pages/$1" "$dir" &
    wait $! || failed=1 # in the background: a condition would keep "set -e" of the page from its work
    jobs_end 2>/dev/null
}

ran=0
for file in "$pages"/*.md; do
    name=$(basename "$file" .md)
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    if ! grep -Eq '^ *```sh' "$file"; then
        case_begin "the page \"$name\" is named as one that is not run"
        [ -n "${not_run[$name]-}" ] || wrong 'it has no command that is run, and no reason is given here'
        continue
    fi
    [ -z "${not_run[$name]-}" ] || wrong "$name has commands that are run"
    page "${file##*/}"
    ran=$((ran + 1))
done
case_begin 'the pages are found'
[ "$ran" -ge 20 ] || [ $# -gt 0 ] || wrong "only $ran pages"
cases_end
exit $failed
