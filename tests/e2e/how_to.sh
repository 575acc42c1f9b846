#!/bin/bash
# The commands of the how-to pages work as they are printed: each page in a database and on a broker of its own. A page says in comments what
# its reader has already (tests/support/page.py).
# ctest: nosan timeout=900 long
# With names as arguments (install upgrade): only those pages.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck disable=SC1091
. "$here/../support/shell.bash"
# shellcheck disable=SC1091
. "$here/../support/page.bash"
pages=$(realpath "$here/../../docs/how-to")
EXAMPLES=$(realpath "$here/../../examples")
export EXAMPLES
bin=$(realpath "$LOCKSTEP_BIN")
unset LOCKSTEP_CONFIG LOCKSTEP_EXECUTOR_MAX_ATTEMPTS
unset -f lockstep sql
work=$(mktemp -d)
databases=()
ended() {
    local name
    jobs_end
    for name in "${databases[@]}"; do
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$LOCKSTEP_TEST_PG" -c "DROP DATABASE IF EXISTS $name WITH (FORCE)" >/dev/null 2>&1 || true
    done
    rm -rf "$work"
}
trap ended EXIT

# The server as libpq's variables: what a page prints needs no connection string.
while read -r name value; do export "$name=$value"; done < <(
    "$LOCKSTEP_TEST_PGBIN/psql" -X -At -F ' ' -d "$LOCKSTEP_TEST_PG" -c "SELECT 'PGPORT', current_setting('port') UNION ALL
        SELECT 'PGHOST', split_part(current_setting('unix_socket_directories'), ',', 1) UNION ALL SELECT 'PGUSER', session_user"
)

# Each page has a schema that is current already: what it prints of migrations finds nothing to do, and ends at once.
template=$(scratch_name)
databases+=("$template")
PGDATABASE=postgres "$LOCKSTEP_TEST_PGBIN/createdb" "$template"
PGDATABASE=$template LOCKSTEP_CONFIG=/dev/null "$bin" migrate up -q

page() { # NAME
    local dir=$work/$1 name
    mkdir "$dir"
    name=$(scratch_name)
    databases+=("$name" "${name}_restored")
    PGDATABASE=postgres "$LOCKSTEP_TEST_PGBIN/createdb" --template="$template" "$name"
    PGDATABASE=$name
    export PGDATABASE
    "$bin" dev broker --topic sales >"$dir/broker.txt" 2>"$dir/broker.log" &
    eventually 30 test -s "$dir/broker.txt"
    printf '[kafka]\nbootstrap.servers = %s\n' "$(head -n 1 "$dir/broker.txt")" >"$dir/lockstep.conf"
    run_page "$pages/$1" "$dir"
    jobs_end 2>/dev/null
    echo "ok: $1"
}

ran=0
for file in "$pages"/*.md; do
    grep -Eq '^ *```sh|^<!-- test$' "$file" || continue
    [ $# = 0 ] || [[ " $* " == *" $(basename "$file" .md) "* ]] || continue
    page "${file##*/}"
    ran=$((ran + 1))
done
[ "$ran" -ge 10 ] || [ $# -gt 0 ]
