# tests/support/e2e.bash: how a script of tests/e2e begins. Sourced first, it has what shell.bash, cases.bash and ledger.bash have, and
#   $here      tests/e2e
#   $tmp       a directory that goes with the script
#   $db        a database with today's schema
#   e2e_end    ends what still runs and removes both; done at the end by itself, unless the script has a trap of its own
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/../support/cases.bash"
. "$here/ledger.bash"
tmp=$(mktemp -d)

e2e_end() {
    [ -z "$case_name" ] || echo "not ok $case_no - $case_name: the script ended in it"
    jobs_end
    scratch_drop
    rm -rf "$tmp"
}
trap e2e_end EXIT
scratch_database
