#!/bin/bash
# Jobs fire while their database is stopped, crashes, and is replaced by a standby that has not all of its commits, so
# that times which have fired are decided again. The topic has the run of each time once, each time has its effect once,
# and none is left out.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
pg_init a checkpoint_timeout=1h
pg_start a
db=$(pg_conninfo a)
"$LOCKSTEP_BIN" migrate up -q -d "$db" >/dev/null
sql 'CREATE TABLE effect (at timestamptz, run uuid)'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "tick", "queue": "$q", "overlap": "allow",
           "tasks": [{"order": 1, "sql": "INSERT INTO effect VALUES (\$1, \$2)",
                      "params": ["\${scheduled_at}", "\${run}"]}],
           "schedules": [{"name": "second", "kind": "interval", "every": "1s", "misfire": "all"}]},
          {"job": "behind", "queue": "$q", "overlap": "allow", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "s", "kind": "after", "job": "tick", "on": "always"}]}]}
END
pg_standby a b
pg_start b
for i in 1 2; do
    "$LOCKSTEP_BIN" executor run -d "$(pg_conninfo a b)" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 \
        2>>"$tmp/$i.log" &
    executors+=($!)
done
fired() {
    sql "SELECT count(*) FROM lockstep.occurrence WHERE job = '${1:-tick}' AND outcome = 'fired'" 2>/dev/null ||
        echo 0
}
fires() { [ "$(fired)" -ge "$1" ]; }
effects() { [ "$(sql 'SELECT count(*) FROM effect' 2>/dev/null || echo 0)" -ge "$1" ]; }
eventually 40 effects 3 || wrong 'nothing fires'

case_begin 'the database is stopped and started, and jobs fire again'
pg_stop a fast
pg_start a
eventually 60 effects $(($(fired) + 2)) || wrong 'nothing fires after a stop'

case_begin 'the database crashes, and jobs fire again'
pg_crash a
pg_start a
eventually 60 effects $(($(fired) + 2)) || wrong 'nothing fires after a crash'

case_begin 'a standby without the last firings becomes the primary, and decides their times again'
pg_set b primary_conninfo=
eventually 20 is 'SELECT count(*) FROM pg_stat_replication' 0
before=$(pg_sql b "SELECT count(*) FROM lockstep.job_occurrence WHERE outcome = 'fired'")
eventually 60 effects $(($(fired) + 4)) || wrong 'nothing fires while the standby is behind'
lost=$(sql "SELECT count(*) FROM lockstep.job_occurrence WHERE outcome = 'fired'")
[ "$lost" -gt "$before" ] || wrong 'the standby is not behind: this proves nothing'
pg_crash a
pg_promote b
db=$(pg_conninfo b)
eventually 60 effects $(($(fired) + 8)) || wrong 'nothing fires after the promotion'
# A change gives up the times that are undecided.
caught_up() { is "SELECT bool_and(next_at > clock_timestamp()) FROM lockstep.schedule WHERE after_job IS NULL" t; }
eventually 60 caught_up || wrong 'times that have passed are not decided'
lockstep job disable tick -q
all_ended() {
    is 'SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL' 0 &&
        is "SELECT count(*) FROM lockstep.schedule WHERE after_job IS NOT NULL AND next_at IS NOT NULL" 0 &&
        is 'SELECT count(*) FROM lockstep.job_end' 0
}
eventually 60 all_ended || wrong 'a run does not end'

case_begin 'the topic has each run once'
kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -o beginning -e -X isolation.level=read_committed -f '%s\n' |
    jq -r 'select(.run != null) | "\(.run) \(.seq)"' >"$tmp/records"
[ "$(wc -l <"$tmp/records")" -ge 40 ] || wrong "the topic has $(wc -l <"$tmp/records") records: this proves nothing"
expect 'records that are there twice' "$(sort "$tmp/records" | uniq -d | wc -l)" 0
expect 'times of which there are two runs' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -o beginning -e \
    -X isolation.level=read_committed -f '%s\n' | jq -r '.params[0]? // empty' | sort | uniq -d | wc -l)" 0

case_begin 'each second has one occurrence, one run and one effect'
expect 'seconds without an occurrence' "$(sql "SELECT count(*)
    FROM (SELECT generate_series(min(scheduled_for), max(scheduled_for), '1 s') FROM lockstep.occurrence
          WHERE job = 'tick' AND outcome = 'fired'
    EXCEPT SELECT scheduled_for FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'fired') AS missing")" 0
expect 'occurrences without one effect' "$(sql "SELECT count(*)
    FROM (SELECT o.run_id FROM lockstep.occurrence o LEFT JOIN effect e ON e.run = o.run_id AND e.at = o.scheduled_for
    WHERE o.job = 'tick' AND o.outcome = 'fired' GROUP BY 1 HAVING count(e.run) <> 1) AS bad")" 0
expect 'effects of no occurrence' "$(sql 'SELECT count(*) FROM effect e
    WHERE NOT EXISTS (SELECT FROM lockstep.occurrence o WHERE o.run_id = e.run)')" 0

case_begin 'what follows the job has fired for each of its ends'
expect 'ends without an occurrence' "$(sql "SELECT count(*) FROM lockstep.occurrence p
    WHERE p.job = 'tick' AND p.outcome = 'fired' AND NOT EXISTS (SELECT FROM lockstep.occurrence c
        WHERE c.job = 'behind' AND c.scheduled_for = p.scheduled_for AND c.outcome = 'fired')")" 0
[ $failed = 0 ] ||
    sql "SELECT o.job, o.scheduled_for, o.fired_at, o.outcome, o.source, o.reason, o.status, o.ended_at, o.run_id
        FROM lockstep.occurrence o ORDER BY o.scheduled_for, o.job"
told_to_end "${executors[@]}"
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
