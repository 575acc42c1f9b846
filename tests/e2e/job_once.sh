#!/bin/bash
# scheduler run --once decides all times that are due when it begins, those with SQL of users and triggers of rows
# included, and ends, although further times become due meanwhile and other sessions hold rows. Its exit code says
# whether something is left.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks
e2e_roles=("$tasks")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE TABLE staging (id bigint GENERATED ALWAYS AS IDENTITY, batch uuid);
GRANT SELECT, INSERT, UPDATE ON staging TO $tasks
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
job() { # NAME FIELDS
    sql "SELECT lockstep.job_define(jsonb_build_object('job', '$1', 'queue', '$q') || \$\$$2\$\$)" >/dev/null
}
tasks_of='"overlap": "allow", "tasks": [{"order": 1, "sql": "SELECT 1"}]'
# due in half an hour: not while the test runs
hourly='"schedules": [{"name": "s", "kind": "interval", "every": "1h", "phase": "'$((($(date +%s) + 1800) % 3600))'s"}]'
job plain "{$tasks_of, $hourly}"
job first "{$tasks_of, $hourly}"
job asks "{\"query\": \"SELECT 1 AS \\\"order\\\", 'SELECT 1' AS sql\", \"overlap\": \"allow\", $hourly}"
job broken "{\"query\": \"SELECT 1 / 0 AS \\\"order\\\", 'SELECT 1' AS sql\", $hourly}"
job rows "{$tasks_of, \"trigger\": {\"on\": \"public.staging\", \"pending\": \"batch IS NULL\", \"threshold\": 2,
    \"mark\": \"UPDATE public.staging SET batch = \${run} WHERE batch IS NULL\"}}"
due() { # all but the trigger
    sql "DELETE FROM lockstep.job_occurrence;
         UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
         UPDATE lockstep.schedule SET next_at = clock_timestamp(), wake_at = clock_timestamp(), asked_until = NULL,
                                      look = NULL WHERE is_active" >/dev/null
}
once() { # [OPTION]...: $code, $said, and at most half a minute
    code=0
    said=$(timeout 30 "$LOCKSTEP_BIN" scheduler run --once -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
        -s "postgres.task_conninfo=$db user=$tasks" "$@" 2>&1) || code=$?
}
outcomes() { sql "SELECT string_agg(job || ' ' || outcome, ', ' ORDER BY job) FROM lockstep.occurrence"; }

case_begin 'one round decides what is due, with SQL of users and a trigger of rows'
sql 'INSERT INTO staging SELECT FROM generate_series(1, 3)'
due
once
expect 'exit code' "$code" 0
expect 'what was decided' "$(outcomes)" 'asks fired, broken error, first fired, plain fired, rows fired'
expect 'rows that no run owns' "$(sql 'SELECT count(*) FROM staging WHERE batch IS NULL')" 0
once
expect 'exit code of a round with nothing due' "$code $said" '0 '

case_begin 'it ends though something becomes due as fast as it is decided'
job fast "{\"query\": \"SELECT 1 AS \\\"order\\\", 'SELECT 1' AS sql FROM pg_sleep(1.5)\", \"overlap\": \"allow\",
    \"schedules\": [{\"name\": \"s\", \"kind\": \"interval\", \"every\": \"1s\", \"misfire\": \"all\"}]}"
due
once
expect 'exit code' "$code" 0
# fast may have been due more than once when the round began
expect 'what was decided' "$(outcomes | sed -E 's/(fast fired, )+/fast fired, /')" \
    'asks fired, broken error, fast fired, first fired, plain fired'
lockstep job delete fast -q

case_begin "an SQLSTATE of a full disk that a job's own SQL raises is an error of the job, not the server's"
sql <<'SQL'
CREATE FUNCTION refuse() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the quota of this batch is used up' USING ERRCODE = '53100';
END $$
SQL
job raises "{\"query\": \"SELECT refuse() AS \\\"order\\\", 'SELECT 1' AS sql\", $hourly}"
due
once
expect 'exit code' "$code" 0
expect 'what was decided' "$(outcomes)" 'asks fired, broken error, first fired, plain fired, raises error'
lockstep job delete raises -q

case_begin 'a job that another session holds is named by exit code 7, and the others fire'
due
session_open BEGIN "SELECT FROM lockstep.job WHERE name = 'first' FOR UPDATE"
once
expect 'exit code' "$code" 7
grep -q '^lockstep: first: schedule s is due and could not be decided' <<<"$said" || wrong "what is left: $said"
expect 'what was decided' "$(outcomes)" 'asks fired, broken error, plain fired'
session_close
eventually 20 is \
    'SELECT count(*) FROM pg_stat_activity WHERE state LIKE $$idle in%$$ AND datname = current_database()' 0
once
expect 'the next round' "$code $(outcomes)" '0 asks fired, broken error, first fired, plain fired'

case_begin 'a session of the tasks that cannot be opened leaves only what needs it'
due
once -s "postgres.task_conninfo=$db user=${tasks}_none"
expect 'exit code' "$code" 7
expect 'what was decided' "$(outcomes)" 'first fired, plain fired'

case_begin 'a session that is no dispatcher and holds its lock is named'
session_open "SELECT pg_advisory_lock(lockstep.lock_class('dispatch'), 0)"
once
expect 'exit code' "$code" 1
grep -q "held by backend $backend " <<<"$said" || wrong "who holds the lock: $said"
session_close
cases_end
exit $failed
