#!/bin/bash
# The tutorial works as it is printed, on the servers that it starts itself.
# ctest: nosan timeout=600 long
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/page.bash"
unset LOCKSTEP_CONFIG LOCKSTEP_EXECUTOR_MAX_ATTEMPTS
unset -f lockstep sql
e2e_leave() { "$LOCKSTEP_BIN" dev down --dir "$tmp/lockstep-tutorial/postgres" >/dev/null 2>&1 || true; }
chmod 755 "$tmp" # PostgreSQL of a root's test runs as postgres

case_begin 'the reader of pages finds the commands of a page and their output'
python3 "$here/../support/page.py" --self-test || failed=1

case_begin 'the commands of the tutorial work as they are printed'
HOME=$tmp run_page "$(realpath "$here/../../docs/tutorial.md")" "$tmp" &
wait $! || failed=1 # in the background: a condition would keep "set -e" of the page from its work
cases_end
exit $failed
