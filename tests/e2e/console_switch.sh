#!/bin/bash
# The page of a console that serves two databases in a real browser: its switch, on the pages and at the sign-in, `g d`,
# and the page of both. That of a console with one database has none of it.
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
browser_run clusters.mjs anyone "$url" sales stock
console_stop

case_begin 'the sign-in has the switch, and each database a sign-in of its own'
looks=$(scratch_name)
person "$looks" lockstep_monitor
console_start -s "cluster:sales.conninfo=$first" -s "cluster:stock.conninfo=$second"
browser_run clusters.mjs people "$url" "$looks" sales stock
console_stop

case_begin 'a console of one database has no switch, no page of all, and no g d'
console_anyone
browser_run clusters.mjs one "$url"
console_stop
cases_end
exit $failed
