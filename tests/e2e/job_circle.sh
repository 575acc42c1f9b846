#!/bin/bash
# Two operators who at the same time let a job follow the other's make no circle: the second waits for the first, and is
# refused.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't')"
case_begin 'of two operators who let two jobs follow each other, the second waits for the first and is refused'
for job in a b; do
    sql "SELECT lockstep.job_define(
        '{\"job\": \"$job\", \"queue\": \"q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}')" >/dev/null
done
follow() { echo "SELECT lockstep.schedule_add('$1', '{\"name\": \"s\", \"kind\": \"after\", \"job\": \"$2\"}');"; }
locks() {
    is "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = lockstep.lock_class('dispatch')::oid
                AND objid = 1 AND granted = $1
              AND $own_locks" 1; }
{
    echo 'BEGIN;'
    follow a b
    echo "\\! until [ -e $tmp/go ]; do sleep 0.05; done"
    echo 'COMMIT;'
} >"$tmp/first.sql"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" -f "$tmp/first.sql" >"$tmp/first" 2>&1 &
eventually 60 locks true || wrong "the first one holds no lock: $(cat "$tmp/first")"
sql "$(follow b a)" >"$tmp/second" 2>&1 &
second=$!
eventually 60 locks false || wrong "the second one does not wait: $(cat "$tmp/second")"
touch "$tmp/go"
! wait "$second" || wrong 'the second one is not refused'
grep -q 'schedules: job b would run after itself' "$tmp/second" || wrong "$(cat "$tmp/second")"
is 'SELECT count(*) FROM lockstep.schedule' 1 || wrong 'not one schedule is left'
cases_end
exit $failed
