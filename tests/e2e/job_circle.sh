#!/bin/bash
# Two operators who at the same time let a job follow the other's make no circle: the second waits for the first, and is
# refused. The same holds when one operator deletes a job and the other lets a job follow it.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't')"
spec() { echo "{\"job\": \"$1\", \"queue\": \"q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}"; }
follow() { echo "SELECT lockstep.schedule_add('$1', '{\"name\": \"s\", \"kind\": \"after\", \"job\": \"$2\"}');"; }
# begins STATEMENT: the first operator's transaction has made this change, and commits when $tmp/go is there
begins() {
    rm -f "$tmp/go"
    {
        echo 'BEGIN;'
        echo "$1"
        echo "\\! touch $tmp/made; until [ -e $tmp/go ]; do sleep 0.05; done"
        echo 'COMMIT;'
    } >"$tmp/first.sql"
    rm -f "$tmp/made"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" -f "$tmp/first.sql" >"$tmp/first" 2>&1 &
    first=$!
    eventually 60 [ -e "$tmp/made" ] || wrong "the first one makes no change: $(cat "$tmp/first")"
}
# second STATEMENT: that of the second operator waits until the first one commits; $refused is its error
second() {
    local code=0 pid
    sql "$1" >"$tmp/second" 2>&1 &
    pid=$!
    eventually 60 is "SELECT count(*) FROM pg_stat_activity
                      WHERE datname = current_database() AND wait_event_type = 'Lock'" 1 ||
        wrong "the second one does not wait: $(cat "$tmp/second")"
    touch "$tmp/go"
    wait "$pid" || code=$?
    [ "$code" != 0 ] || wrong "the second one is not refused: $1"
    wait "$first" || wrong "the first one fails: $(cat "$tmp/first")"
    refused=$(cat "$tmp/second")
}

case_begin 'of two operators who let two jobs follow each other, the second waits for the first and is refused'
for job in a b; do
    sql "SELECT lockstep.job_define('$(spec $job)')" >/dev/null
done
begins "$(follow a b)"
is "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = lockstep.lock_class('dispatch')::oid
            AND objid = 1 AND granted AND $own_locks" 1 || wrong 'the first one holds no lock'
second "$(follow b a)"
grep -q 'schedules: job b would run after itself' <<<"$refused" || wrong "$refused"
is 'SELECT count(*) FROM lockstep.schedule' 1 || wrong 'not one schedule is left'

case_begin 'an operator who deletes a job waits for one who lets another job follow it, and is refused'
sql "SELECT lockstep.job_apply('[$(spec parent)]', 'f'), lockstep.job_define('$(spec child)')" >/dev/null
for delete in "lockstep.job_delete('parent')" "lockstep.job_apply('[]', 'f', prune => true)"; do
    begins "$(follow child parent)"
    second "SELECT $delete"
    grep -q 'job child runs after parent' <<<"$refused" || wrong "$delete: $refused"
    is "SELECT count(*) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'child'" 1 ||
        wrong "$delete: the schedule of the job that follows is gone"
    sql "SELECT lockstep.job_define('$(spec parent)'), lockstep.job_define('$(spec child)')" >/dev/null
    sql "SELECT lockstep.job_apply('[$(spec parent)]', 'f')" >/dev/null
done

case_begin 'an operator who lets a job follow one that another operator deletes waits, and is refused'
begins "SELECT lockstep.job_delete('parent');"
second "$(follow child parent)"
grep -q 'there is no job parent' <<<"$refused" || wrong "$refused"
cases_end
exit $failed
