#!/bin/bash
# A result of users' SQL is not lost while another session holds the job: it is reported as soon as that session has
# ended, and other jobs with SQL of users have their turn meanwhile.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks
e2e_roles=("$tasks")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE TABLE let_go (what text);
GRANT SELECT ON let_go TO $tasks;
CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS \$\$
BEGIN
    WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.01); END LOOP;
    RETURN 1 / 0;
END \$\$
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
sql <<SQL >/dev/null
SELECT lockstep.job_define(jsonb_build_object('job', 'slow', 'queue', '$q',
                                              'query', 'SELECT fails() AS "order", ''SELECT 1'' AS sql',
    'schedules', '[{"name": "s", "kind": "interval", "every": "1h"}]'::jsonb)),
       lockstep.job_define(jsonb_build_object('job', 'other', 'queue', '$q', 'overlap', 'allow',
                                              'query', 'SELECT 1 AS "order", ''SELECT 1'' AS sql',
    'schedules', '[{"name": "s", "kind": "interval", "every": "1s"}]'::jsonb));
UPDATE lockstep.schedule s SET next_at = clock_timestamp(), wake_at = clock_timestamp() FROM lockstep.job j
WHERE j.job_id = s.job_id AND j.name = 'slow'
SQL
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 \
    -s "postgres.task_conninfo=$db user=$tasks" 2>"$tmp/executor.log" &
pid=$!
case_begin 'an answer that meets a held job is reported when the job is free again, and others have their turn'
runs() {
    is "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = '$tasks' AND wait_event = 'PgSleep'" 1
}
eventually 30 runs || wrong 'the SQL of the job does not run'
session_open BEGIN "SELECT FROM lockstep.job WHERE name = 'slow' FOR UPDATE"
sql "INSERT INTO let_go VALUES ('slow')"
others() { [ "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'other' AND outcome = 'fired'")" -ge 3 ]; }
eventually 30 others || wrong 'other jobs with SQL of users do not fire'
expect 'nothing is known of the held job' "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'slow'")" 0
session_close
failed_now() {
    is "SELECT outcome || ': ' || reason FROM lockstep.occurrence WHERE job = 'slow'" \
        'error: 22012: division by zero'
}
eventually 20 failed_now || wrong "what failed while its job was held is lost: $(sql "SELECT outcome, reason
    FROM lockstep.occurrence WHERE job = 'slow'")"
told_to_end "$pid"
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
