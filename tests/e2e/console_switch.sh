#!/bin/bash
# The page of a console that serves two databases in a real browser: its switch, and the page of both. That of a console with one database has neither.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
lockstep queue create "$(scratch_name)" -q --create-topic >/dev/null
first=$db
scratch_empty_database
second=$db db=$first
second_drop() { scratch_cluster "DROP DATABASE IF EXISTS ${second##*dbname=} WITH (FORCE)"; }
e2e_leave() { second_drop; }
"$LOCKSTEP_BIN" migrate up -q -d "$second" >/dev/null
"$LOCKSTEP_BIN" queue create "$(scratch_name)" -q --create-topic -d "$second" -b "$LOCKSTEP_TEST_BROKERS" >/dev/null

case_begin 'the switch leads from one database to the other, and a page lists both'
console_start -s console.login=none -s "cluster:sales.conninfo=$first" -s "cluster:stock.conninfo=$second"
browser_run clusters.mjs "$url" sales stock
console_stop
cases_end
exit $failed
