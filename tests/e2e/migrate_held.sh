#!/bin/bash
# A forgotten session has the migrators' lock on a database without the schema: after a minute migrate up names the
# session and the statement that ends it. The migration works then.
# ctest: nosan timeout=180 long
. "$(dirname "$0")/../support/begin.bash"
scratch_empty_database
PGAPPNAME=forgotten "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c 'SELECT pg_advisory_lock(1280507909, 1)' \
    -c 'SELECT pg_sleep(600)' >"$tmp/session" 2>&1 &
eventually 30 is "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'forgotten' AND query ~ 'sleep'" 1

case_begin 'a first migrate up that is locked out names the session, and the hint ends it'
# REMEDY_MIGRATE_WAIT
lockstep migrate up >"$tmp/out" 2>"$tmp/err" && wrong 'it has not waited'
grep -Eq 'has been at work for a minute: backend [0-9]+ \(.*, forgotten, .*connected since 2' "$tmp/err" ||
    wrong "$(cat "$tmp/err")"
hint=$(grep '^  hint: .*forgotten: ' "$tmp/err")
sql "${hint##*forgotten: }" >/dev/null
lockstep migrate up >"$tmp/out" 2>"$tmp/err" || wrong "$(cat "$tmp/err")"
lockstep migrate validate || wrong 'it is not valid'
cases_end
exit $failed
