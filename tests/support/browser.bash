# tests/support/browser.bash: the tests that need Node.js, or the browser, too. Sourced first.
#   browser_needed node|chromium   ends the script as failed when that is missing, or, with LOCKSTEP_TEST_BROWSER=no, as
#                                  skipped
#   browser_surroundings           what the scripts that ask the database need (tests/console/database.mjs)
#   console_anyone                 a console at which everyone is an operator
#   browser_run FILE ARGS...       runs tests/console/FILE with Node.js; failures are printed, and $failed is set
browser_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

browser_needed() {
    if [ "${LOCKSTEP_TEST_BROWSER:-yes}" = no ]; then
        echo '1..0 # skip: LOCKSTEP_TEST_BROWSER is no'
        exit 0
    fi
    command -v node >/dev/null && [ "$1" = node ] && return
    command -v node >/dev/null && command -v chromium-headless-shell >/dev/null &&
        "$browser_root/scripts/console/fetch" && return
    echo "not ok 1 - $1 is there: ./dev setup test installs it; LOCKSTEP_TEST_BROWSER=no leaves out what needs it"
    exit 1
}

browser_surroundings() { export DB=$db SERVER=$LOCKSTEP_TEST_PG PSQL=$LOCKSTEP_TEST_PGBIN/psql LOCKSTEP_BIN; }

console_anyone() { console_start -b "$LOCKSTEP_TEST_BROKERS" -s console.login=none -s console.anonymous=operator; }

browser_run() {
    local file=$1 log
    log=$(mktemp)
    shift
    if ! node "$browser_root/tests/console/$file" "$@" >"$log" 2>&1; then
        grep -v '^ok' "$log" | head -n 60
        [ ! -s "${tmp:-/nowhere}/console.log" ] || tail -n 20 "$tmp/console.log"
        # shellcheck disable=SC2034
        failed=1
    fi
    rm -f "$log"
}
