#!/bin/bash
# The commit of a firing is refused, by a deferred constraint: the firing fails, or is tried again, as if one of its
# statements were refused, and the other jobs fire. A deferred trigger of the test refuses the runs of a job.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks operator=$(scratch_name)_op
e2e_roles=("$tasks" "$operator")
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
CREATE ROLE $operator LOGIN IN ROLE lockstep_operator;
CREATE TABLE staging (id int PRIMARY KEY, run uuid, batch text, UNIQUE (batch) DEFERRABLE INITIALLY DEFERRED);
GRANT SELECT, UPDATE ON staging TO $tasks;
CREATE TABLE refuses (job text, code text, times int);
CREATE SEQUENCE refused; -- not undone with the transaction
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS \$\$
DECLARE
    r public.refuses;
BEGIN
    SELECT b.* INTO r FROM public.refuses b WHERE b.job = TG_ARGV[0];
    IF FOUND AND nextval('public.refused') <= r.times THEN
        RAISE EXCEPTION 'refused at the commit' USING ERRCODE = r.code;
    END IF;
    RETURN NULL;
END \$\$;
SQL
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
job() { # NAME FIELDS
    sql "SELECT lockstep.job_define(jsonb_build_object('job', '$1', 'queue', '$q', 'overlap', 'allow') || \$\$$2\$\$)" \
        >/dev/null
}
# due in half an hour: not while the test runs
hourly='"schedules": [{"name": "s", "kind": "interval", "every": "1h", "phase": "'$((($(date +%s) + 1800) % 3600))'s"}]'
template='"tasks": [{"order": 1, "sql": "SELECT 1"}]'
query="\"query\": \"SELECT 1 AS order, 'SELECT 1' AS sql\""
# refuses TABLE JOB WHEN: a row that is inserted into the table, when its transaction is committed
refuses() {
    sql "CREATE CONSTRAINT TRIGGER refuse_$2 AFTER INSERT ON lockstep.$1 DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW WHEN ($3) EXECUTE FUNCTION refuse('$2')"
}
# so JOB SQLSTATE TIMES: from now on
so() {
    sql "DELETE FROM refuses WHERE job = '$1'; SELECT setval('refused', 1, false);
         INSERT INTO refuses VALUES ('$1', '$2', $3)" >/dev/null
}
due() { # [JOB]...: in this order
    local job second=60
    for job in "$@"; do
        sql "UPDATE lockstep.schedule SET next_at = now() - interval '$second s', wake_at = now() - interval '$second s'
             WHERE job_id = (SELECT job_id FROM lockstep.job WHERE name = '$job')"
        second=$((second - 1))
    done
    sql "NOTIFY lockstep_jobs, 'test'"
}
outcomes() { # JOB
    sql "SELECT string_agg(concat_ws(' ', outcome, reason), ', ' ORDER BY scheduled_for, fired_at)
         FROM lockstep.occurrence WHERE job = '$1'"
}
outcome_is() { [ "$(outcomes "$1")" = "$2" ]; }
runs() { sql "SELECT count(*) FROM lockstep.run WHERE name = '$1'"; }
lost() { grep -c 'event=dispatcher_lost' "$tmp/daemon.log"; }

for one in broken before after; do job $one "{$template, $hourly}"; done
refuses run broken "NEW.name = 'broken'"
daemon --queue "$q" --readers 2 -s "postgres.task_conninfo=$db user=$tasks"

for code in 23505 P0004; do
    case_begin "a firing that is refused at its commit has failed, and the jobs before and behind it fire, $code"
    so broken $code 1000
    sql 'DELETE FROM lockstep.job_occurrence'
    due before broken after
    eventually 20 outcome_is after fired || wrong "after: $(outcomes after)"
    eventually 20 outcome_is before fired || wrong "before: $(outcomes before)"
    eventually 20 outcome_is broken "error $code: refused at the commit" || wrong "broken: $(outcomes broken)"
    expect 'its runs' "$(runs broken)" 0
    expect 'the session of the dispatcher was lost' "$(lost)" 0
    expect 'its next time is to come' "$(sql 'SELECT bool_and(next_at > now()) FROM lockstep.schedule')" t
done

for code in 40001 40P01 53100 XX000; do
    case_begin "it is tried again when the job is not to blame, $code"
    so broken $code 2
    sql 'DELETE FROM lockstep.job_occurrence'
    due broken after
    eventually 20 outcome_is after fired || wrong "after: $(outcomes after)"
    eventually 20 outcome_is broken fired || wrong "broken: $(outcomes broken)"
done

case_begin 'what mark has done is refused by a deferrable unique constraint'
sql "DELETE FROM lockstep.job_occurrence; INSERT INTO staging VALUES (1, NULL, NULL), (2, NULL, NULL)"
job marks "{$template, \"trigger\": {\"on\": \"public.staging\", \"pending\": \"run IS NULL\", \"threshold\": 1,
    \"check_every\": \"1s\",
    \"mark\": \"UPDATE public.staging SET run = \${run}, batch = 'one' WHERE run IS NULL\"}}"
violation='23505: duplicate key value violates unique constraint "staging_batch_key"'
due after
eventually 20 outcome_is marks "error $violation" || wrong "marks: $(outcomes marks)"
expect 'its runs' "$(runs marks)" 0
eventually 20 outcome_is after fired || wrong "after: $(outcomes after)"
sql "DELETE FROM staging WHERE id = 2; DELETE FROM lockstep.job_occurrence"
eventually 20 outcome_is marks fired || wrong "marks: $(outcomes marks)"
lockstep job delete marks -q

case_begin 'the firing of a trigger without a mark is refused'
sql "DELETE FROM lockstep.job_occurrence; INSERT INTO staging VALUES (3, NULL, NULL)"
refuses run rows "NEW.name = 'rows'"
so rows 23505 1000
job rows "{$template, \"trigger\": {\"on\": \"public.staging\", \"pending\": \"run IS NULL\", \"threshold\": 1}}"
due after
eventually 20 outcome_is rows 'error 23505: refused at the commit' || wrong "rows: $(outcomes rows)"
eventually 20 outcome_is after fired || wrong "after: $(outcomes after)"
lockstep job delete rows -q

case_begin 'a request is refused'
job asks "{$query, $hourly, \"enabled\": false}"
refuses run asks "NEW.name = 'asks'"
as_operator() { "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db user=$operator" -c "$1" >/dev/null; }
so asks 23505 1000
sql 'DELETE FROM lockstep.job_occurrence'
as_operator "SELECT lockstep.job_run('asks')"
eventually 20 outcome_is asks 'error 23505: refused at the commit' || wrong "asks: $(outcomes asks)"
so asks 23505 1
sql 'DELETE FROM lockstep.job_occurrence'
as_operator "SELECT FROM lockstep.job_backfill('asks', '2025-01-01Z', '2025-01-01 03:00Z', overlap => 'allow')"
due after
eventually 20 outcome_is after fired || wrong "after: $(outcomes after)"
eventually 20 outcome_is asks 'error 23505: refused at the commit, fired, fired' || wrong "asks: $(outcomes asks)"
so asks 40001 2
sql 'DELETE FROM lockstep.job_occurrence'
as_operator "SELECT lockstep.job_run('asks')"
eventually 20 outcome_is asks fired || wrong "asks: $(outcomes asks)"

case_begin 'the record of the failure is refused, too: the other jobs fire'
for one in broken asks; do
    sql "CREATE CONSTRAINT TRIGGER refuse_record_$one AFTER INSERT ON lockstep.job_occurrence
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
             WHEN (NEW.job_id = $(sql "SELECT job_id FROM lockstep.job WHERE name = '$one'"))
             EXECUTE FUNCTION refuse('$one')"
    so "$one" 23505 1000
done
sql 'DELETE FROM lockstep.job_occurrence'
as_operator "SELECT lockstep.job_run('asks')"
due broken before after
eventually 20 outcome_is after fired || wrong "after: $(outcomes after)"
eventually 20 outcome_is before fired || wrong "before: $(outcomes before)"
expect 'broken' "$(outcomes broken)" ''
sql 'TRUNCATE refuses'
due broken
eventually 20 outcome_is broken fired || wrong "broken: $(outcomes broken)"
expect 'the session of the dispatcher was lost' "$(lost)" 0

case_begin 'a run that is too long, and whose cancellation is refused, does not stop the cancellation of the others'
eventually 20 is "SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL" 0 # else it would be too long, too
kill -TERM "$daemon"
ends_well "$daemon"
sql "CREATE CONSTRAINT TRIGGER refuse_end AFTER UPDATE ON lockstep.run DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW WHEN (NEW.name = 'broken' AND NEW.cancelled_at IS NOT NULL) EXECUTE FUNCTION refuse('broken')"
long='"tasks": [{"order": 1, "type": "external", "kind": "hand"}], "max_runtime": "1s"'
for one in broken after; do
    job $one "{$long}"
    sql "SELECT lockstep.job_run('$one')" >/dev/null
done
so broken 23505 1000
eventually 20 is "SELECT bool_and(clock_timestamp() > created_at + interval '1 s')
                  FROM lockstep.run WHERE ended_at IS NULL" t
lockstep scheduler run --once || wrong 'the round failed'
expect 'cancelled' "$(sql "SELECT string_agg(name, ' ') FROM lockstep.run
                           WHERE name IN ('broken', 'after') AND cancelled_at IS NOT NULL")" after
expect 'the log of the job' "$(sql "SELECT DISTINCT message FROM lockstep.job_log
                                    WHERE job = 'broken' AND event = 'error' AND message LIKE 'the run is to be%'")" \
    'the run is to be cancelled, and cannot be: 23505: refused at the commit'
cases_end
exit $failed
