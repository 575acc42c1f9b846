#!/bin/bash
# The tutorial works as it is printed, on the servers that it starts itself.
# ctest: nosan timeout=600
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck disable=SC1091
. "$here/../support/shell.bash"
# shellcheck disable=SC1091
. "$here/../support/page.bash"
python3 "$here/../support/page.py" --self-test
unset LOCKSTEP_CONFIG LOCKSTEP_EXECUTOR_MAX_ATTEMPTS
unset -f lockstep sql
work=$(mktemp -d)
ended() {
    "$LOCKSTEP_BIN" dev down --dir "$work/lockstep-tutorial/postgres" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap ended EXIT
chmod 755 "$work" # PostgreSQL of a root's test runs as postgres
HOME=$work run_page "$(realpath "$here/../../docs/tutorial.md")" "$work"
