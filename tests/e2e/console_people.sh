#!/bin/bash
# People sign in at the console's page as PostgreSQL logins, to look or to act.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings
q=$(scratch_name) looks=$(scratch_name) acts=$(scratch_name)
person "$looks" lockstep_monitor
person "$acts" lockstep_operator
lockstep queue create "$q" -q --create-topic >/dev/null
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/tasks"
lockstep publish --queue "$q" -q "$tmp/tasks" >/dev/null

case_begin 'people sign in, look or act, and sign out'
console_start -b "$LOCKSTEP_TEST_BROKERS"
browser_run signin.mjs "$url" "$looks" "$acts"
console_stop
cases_end
exit $failed
