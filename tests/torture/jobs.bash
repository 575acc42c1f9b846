# tests/torture/jobs.bash: jobs under torture. Sourced by run.sh. Executors dispatch; the one that does is a victim like
# the others (kill_dispatcher).
#
#   tick   every second, also those without a dispatcher, and its runs may overlap: each second fires once
#   alone  every second, but never beside its own run, which takes longer
#   rows   when rows wait in the table staging; mark gives them to the run, which loads them
# The evidence: fired and loaded are written by the tasks, in their transactions.
jobs_create() {
    sql "CREATE TABLE fired (job text, at timestamptz, run uuid);
         CREATE TABLE staging (id bigint GENERATED ALWAYS AS IDENTITY,
                               came timestamptz NOT NULL DEFAULT clock_timestamp(), batch uuid);
         CREATE INDEX ON staging (came) WHERE batch IS NULL;
         CREATE TABLE loaded (id bigint, run uuid);
         CREATE FUNCTION job_work(p_q text, p_run uuid, p_ord bigint, p_seconds float8, p_job text, p_at timestamptz)
         RETURNS void LANGUAGE sql AS
         'SELECT work(p_q, p_run, p_ord, p_ord::int, p_seconds); INSERT INTO fired VALUES (p_job, p_at, p_run)';
         CREATE FUNCTION job_load(p_q text, p_run uuid, p_ord bigint) RETURNS void LANGUAGE sql AS
         'SELECT work(p_q, p_run, p_ord, p_ord::int, 0);
          INSERT INTO loaded SELECT id, p_run FROM staging WHERE batch = p_run'"
    lockstep job apply - -q >/dev/null <<END
[{"job": "tick", "queue": "$q5", "overlap": "allow",
  "schedules": [{"name": "second", "kind": "interval", "every": "1s", "misfire": "all"}], "tasks": [
    {"order": 1, "name": "1", "sql": "SELECT job_work(\$1, \$2, 1, 0.01, \$3, \$4)",
     "params": ["$q5", "\${run}", "\${job}", "\${scheduled_at}"]}]},
 {"job": "alone", "queue": "$q5", "schedules": [{"name": "second", "kind": "interval", "every": "1s"}], "tasks": [
    {"order": 1, "name": "1", "sql": "SELECT job_work(\$1, \$2, 1, 0.7, \$3, \$4)",
     "params": ["$q5", "\${run}", "\${job}", "\${scheduled_at}"]},
    {"order": 2, "name": "2", "sql": "SELECT job_work(\$1, \$2, 2, 0.5, \$3, \$4)",
     "params": ["$q5", "\${run}", "\${job}", "\${scheduled_at}"]}]},
 {"job": "rows", "queue": "$q5",
    "trigger": {"on": "public.staging", "pending": "batch IS NULL", "created_column": "came",
    "check_every": "1s", "threshold": 10, "new_rows": true, "debounce": "1s",
    "mark": "UPDATE public.staging SET batch = \${run} WHERE batch IS NULL"}, "tasks": [
    {"order": 1, "name": "1", "sql": "SELECT job_load(\$1, \$2, 1)", "params": ["$q5", "\${run}"]}]}]
END
}
jobs_feed() { # in the background
    while [ ! -e "$tmp/stop" ]; do
        sql 'INSERT INTO staging SELECT FROM generate_series(1, 3)' >/dev/null 2>&1 || true
        sleep 0.5
    done
}

# When the faults are over: waiting rows are loaded, then nothing fires any more.
rows_taken() { [ "$(sql 'SELECT count(*) FROM staging WHERE batch IS NULL' 2>/dev/null)" = 0 ] || found_first; }
job_disabled() { lockstep job disable "$1" -q 2>>"$tmp/jobs.log"; }
jobs_stop() {
    local job
    eventually 60 rows_taken 2>/dev/null || bad "job: rows wait that no run takes: $(lockstep job test rows \
        -o json 2>/dev/null | jq -c '.[] | {verdict, reason, pending_rows}')"
    for job in tick alone rows; do
        eventually 30 job_disabled $job 2>/dev/null ||
            bad "job: $job cannot be disabled: $(tail -n 1 "$tmp/jobs.log")"
    done
}
