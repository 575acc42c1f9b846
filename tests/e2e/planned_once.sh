#!/bin/bash
# What repeats is planned once: neither the firings of jobs nor the tasks of an executor at work make the server plan
# again. A function in SQL that answers with a value and reads a table, for example, is planned at each call (before
# PostgreSQL 18), and one of them made a firing take twice as long.
# ctest: slow nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
log=$LOCKSTEP_TEST_HOME/postgres.log
# planned SESSIONS FROM: the statements of functions that the server has planned more than five times for such sessions
# (a regular expression) of this database since that byte of its log
planned() {
    tail -c "+$(($2 + 1))" "$log" | awk -v of=" ${db##*dbname=} ($1) " '
        / PLANNER STATISTICS/ { ours = $0 ~ of; if (ours) all++ }
        ours && /CONTEXT/ && $0 ~ of { sub(/.*CONTEXT: */, ""); at[$0]++ }
        END { for (a in at) if (at[a] > 5) print at[a] " times: " a
              if (all == 0) print "nothing was planned: are the statistics in this log?" }'
}
# publish PHASES: of three tasks each
publish() { seq "$1" | jq -c "range(3) as \$n | {order: ., sql: \"SELECT 1\"}" | lockstep publish --queue "$q" -q -; }
sql "ALTER DATABASE ${db##*dbname=} SET log_planner_stats = on"

q=planned_once
case_begin 'no statement of a firing is planned again for the next one'
lockstep queue create "$q" -q --create-topic --max-readers 2
job='{"queue": "planned_once", "overlap": "allow", "tasks": [{"order": 1, "sql": "SELECT 1"}],
      "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'
sql "SELECT count(lockstep.job_define('$job'::jsonb || jsonb_build_object('job', 'j' || n)))
     FROM generate_series(1, 80) AS n;
     UPDATE lockstep.schedule
     SET wake_at = clock_timestamp(), next_at = date_trunc('second', clock_timestamp())" >/dev/null
from=$("$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db" <<'END'
SET plan_cache_mode = force_generic_plan; -- db/packet.c
-- a given clock does not move, so no batch is cut short by the time that it takes
PREPARE fire AS SELECT count(*) FROM lockstep.dispatch('here', clock_timestamp(), p_most => 10);
\o /dev/null
SELECT 'EXECUTE fire' FROM generate_series(1, 2) \gexec
\! stat -c %s "$LOCKSTEP_TEST_HOME/postgres.log"
SELECT 'EXECUTE fire' FROM generate_series(1, 6) \gexec
END
)
expect 'firings' "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired'")" 80
expect 'planned again and again' "$(planned psql "$from")" ''

case_begin 'no statement of a phase is planned again for the next one'
q=planned_once_2
lockstep queue create "$q" -q --create-topic --max-readers 2
daemon --queue "$q" --readers 2
for _ in first second; do
    from=$(stat -c %s "$log")
    run=$(publish 60)
    eventually 60 run_is "$run" Completed
done
expect 'planned again and again' "$(planned 'lockstep/(control|gate|liveness|relay)' "$from")" ''
told_to_end "$daemon"
cases_end
exit $failed
