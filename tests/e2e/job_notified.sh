#!/bin/bash
# The end of a job's run wakes the dispatcher only if a schedule is due by it. Otherwise a second in which many jobs
# fire would be followed by as many rounds that find nothing.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't')"
define() { # JOB SCHEDULES
    sql "SELECT lockstep.job_define('{\"job\": \"$1\", \"queue\": \"q\", \"overlap\": \"queue_one\", \"schedules\": $2,
         \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}')" >/dev/null
}
# notified JOB: the notifications that the end of its run sends
notified() {
    sql "SELECT lockstep.job_run('$1')" >/dev/null
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" <<'SQL' | sed 's/ received from.*//'
LISTEN lockstep_jobs;
UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
SQL
}
hourly='[{"name": "s", "kind": "interval", "every": "1h"}]'

case_begin 'the end of a run for which no schedule waits wakes no dispatcher'
define alone "$hourly"
expect 'notifications' "$(notified alone)" ''

case_begin 'the end of a run for which a time of its job waits wakes the dispatcher'
sql "UPDATE lockstep.schedule SET queued_for = clock_timestamp()"
expect 'notifications' "$(notified alone)" 'Asynchronous notification "lockstep_jobs" with payload "alone"'

case_begin 'the end of a run whose job another one follows wakes the dispatcher'
define first "$hourly"
define second '[{"name": "s", "kind": "after", "job": "first"}]'
expect 'notifications' "$(notified first)" 'Asynchronous notification "lockstep_jobs" with payload "first"'
cases_end
exit $failed
