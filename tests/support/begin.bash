# tests/support/begin.bash: how a script of tests/e2e begins. Sourced first, by e2e.bash, by own_servers.bash or by the
# script itself. The script has what shell.bash, cases.bash, checks.bash and tests/e2e/ledger.bash have, and
#   $here       tests/e2e
#   $tmp        a directory that is removed with the script
#   e2e_roles   an array: the roles that the script has made, dropped after its database
#   e2e_leave   a function that the script may define: further things to undo. It is called with the script's status
#               when the script's jobs have ended
#   e2e_end     all of that, called when the script ends. A script that ends in a case has failed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/../support/cases.bash"
. "$here/ledger.bash"
tmp=$(mktemp -d)
e2e_roles=()

e2e_leave() { :; }

e2e_end() {
    local status=$? role
    [ -z "$case_name" ] ||
        { echo "not ok $case_no - $case_name: the script ended in it"; [ "$status" != 0 ] || status=1; }
    jobs_end
    e2e_leave "$status" || true
    scratch_drop
    for role in "${e2e_roles[@]}"; do scratch_cluster "DROP ROLE IF EXISTS $role" || true; done
    rm -rf "$tmp"
    exit "$status"
}
trap e2e_end EXIT
