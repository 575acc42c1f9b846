#!/bin/bash
# Forty jobs that are due in the same second fire together, each once for each second, though their dispatcher is killed
# before and behind the transaction. A schedule whose row another session holds keeps none of the others.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE effect (at timestamptz, run uuid)'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
sql <<SQL >/dev/null
SELECT count(lockstep.job_define(jsonb_build_object('job', 'j' || n, 'queue', '$q', 'overlap', 'allow',
'tasks',
'[{"order": 1, "sql": "INSERT INTO effect VALUES (\$1, \$2)", "params": ["\${scheduled_at}", "\${run}"]}]'::jsonb,
'schedules', '[{"name": "second", "kind": "interval", "every": "2s", "misfire": "all"}]'::jsonb)))
FROM generate_series(1, 40) AS n
SQL
executor() { # LOG BINARY
    : >"$1"
    "$2" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>>"$1" &
    pid=$!
}
case_begin 'forty jobs that are due at the same time fire once for each time, though dispatchers are killed'
for point in dispatch.send@2 dispatch.done; do
    LOCKSTEP_PROBE=$point=kill LOCKSTEP_PROBE_DIR=$tmp executor "$tmp/$point.log" "${LOCKSTEP_BIN}-probed"
    status=0
    wait "$pid" || status=$?
    expect "killed at $point" "$status" 137
done
executor "$tmp/last.log" "$LOCKSTEP_BIN"
times() { [ "$(sql "SELECT count(DISTINCT scheduled_for) FROM lockstep.occurrence WHERE outcome = 'fired'")" -ge 3 ]; }
eventually 60 times || wrong 'they do not fire'
sql "UPDATE lockstep.schedule SET wake_at = NULL, is_active = false" # nothing more is due
all_ended() { is "SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL" 0; }
eventually 60 all_ended || wrong 'a run does not end'
told_to_end "$pid"
missing=$(
    sql <<'SQL'
SELECT count(*)
FROM (SELECT DISTINCT job_id, generate_series(min(scheduled_for), max(scheduled_for), '2 s') AS at
      FROM lockstep.job_occurrence GROUP BY job_id) AS s
WHERE NOT EXISTS (SELECT FROM lockstep.job_occurrence o
                  WHERE o.job_id = s.job_id AND o.scheduled_for = s.at AND o.outcome = 'fired')
SQL
)
expect 'times of a job without an occurrence' "$missing" 0
expect 'jobs' "$(sql 'SELECT count(DISTINCT job_id) FROM lockstep.job_occurrence')" 40
expect 'occurrences without one effect' "$(sql "SELECT count(*) FROM (SELECT o.run_id
    FROM lockstep.occurrence o LEFT JOIN effect e ON e.run = o.run_id GROUP BY 1 HAVING count(e.run) <> 1) AS bad")" 0
expect 'effects of no occurrence' "$(sql 'SELECT count(*) FROM effect e
    WHERE NOT EXISTS (SELECT FROM lockstep.occurrence o WHERE o.run_id = e.run)')" 0

case_begin 'a schedule whose row another session holds keeps no other schedule, and fires afterwards'
# j1, j2 and j3 are due, in this order, and another session has the row of j2's schedule, as the end of a run may.
sql "UPDATE lockstep.schedule s SET is_active = true, next_at = '2030-01-01 06:00Z',
         wake_at = '2030-01-01 06:00Z'::timestamptz + j.n * interval '0.1 s'
     FROM (SELECT job_id, substr(name, 2)::int AS n FROM lockstep.job WHERE name IN ('j1', 'j2', 'j3')) AS j
     WHERE j.job_id = s.job_id"
sql "BEGIN; SELECT FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'j2'
    FOR NO KEY UPDATE OF s; SELECT pg_sleep(600)" >/dev/null 2>&1 &
holds() {
    is "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND query LIKE '%FOR NO KEY UPDATE OF s; SELECT pg_sleep(600)%' AND wait_event = 'PgSleep'" 1
}
eventually 30 holds
batch() {
    sql "SELECT string_agg(d.job || ' ' || d.verdict, ', ')
        FROM lockstep.dispatch('test', '2030-01-01 06:00:01Z', true, 10) AS d"
}
expect 'a batch waits for no row' "$(batch)" 'j1 fire, j3 fire'
expect 'what is held has not been decided' \
    "$(sql "SELECT d.verdict IS NULL, d.wait_us > 0 FROM lockstep.dispatch('test', '2030-01-01 06:00:01Z') AS d")" 't|t'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
      AND query LIKE '%FOR NO KEY UPDATE OF s; SELECT pg_sleep(600)%' AND pid <> pg_backend_pid()" >/dev/null
holds_not() { ! holds; }
eventually 30 holds_not
expect 'then it fires' "$(batch)" 'j2 fire'

case_begin 'however many schedules another session holds, those that are due behind them fire'
sql "UPDATE lockstep.schedule s SET is_active = true, next_at = '2030-01-02 06:00Z',
         wake_at = '2030-01-02 06:00Z'::timestamptz + j.n * interval '0.01 s'
     FROM (SELECT job_id, substr(name, 2)::int AS n FROM lockstep.job) AS j WHERE j.job_id = s.job_id"
session_open BEGIN "SELECT count(*) FROM (SELECT FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE j.name NOT IN ('j1', 'j39', 'j40') FOR NO KEY UPDATE OF s) AS held"
expect 'those that nobody holds' "$(sql "SELECT string_agg(d.job || ' ' || d.verdict, ', ')
    FROM lockstep.dispatch('test', '2030-01-02 06:00:01Z', true, 2) AS d")" 'j1 fire, j39 fire'
expect 'the last one' \
    "$(sql "SELECT d.job || ' ' || d.verdict FROM lockstep.dispatch('test', '2030-01-02 06:00:01Z') AS d")" 'j40 fire'
expect 'what is held has not been decided' \
    "$(sql "SELECT d.verdict IS NULL, d.wait_us > 0 FROM lockstep.dispatch('test', '2030-01-02 06:00:01Z') AS d")" 't|t'
session_close
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
