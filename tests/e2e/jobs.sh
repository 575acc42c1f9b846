#!/bin/bash
# Jobs fire at their times, each time once, in spite of all that happens to the dispatcher: it is killed at each step,
# killed while another one stands by, frozen, its session ended. Afterwards there is one occurrence for each second, one
# run for each occurrence, and one effect for each run.
# ctest: slow nosan timeout=240 long
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE effect (at timestamptz, run uuid)'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --events on
executor() { # LOG [BINARY]
    : >"$1"
    "${2:-$LOCKSTEP_BIN}" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 \
        --set executor.frozen_after=2s 2>>"$1" &
    pid=$!
}
# Every second, also those without a dispatcher: so none may be missing.
cat >"$tmp/jobs.json" <<END
{"jobs": [{"job": "tick", "queue": "$q", "overlap": "allow",
           "tasks": [{"order": 1, "sql": "INSERT INTO effect VALUES (\$1, \$2)",
                      "params": ["\${scheduled_at}", "\${run}"]}],
           "schedules": [{"name": "second", "kind": "interval", "every": "1s", "misfire": "all"}]}]}
END
case_begin 'a dry run of job apply changes nothing'
expect 'a dry run' "$(lockstep job apply "$tmp/jobs.json" --dry-run -o json | jq -r '.[].action')" create
expect 'changes nothing' "$(lockstep job list -o csv | wc -l)" 1
expect 'applied' "$(lockstep job apply "$tmp/jobs.json" -o json | jq -r '.[].action')" create
fired() { sql "SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired'"; }
fires() { [ "$(fired)" -gt "$1" ]; }
dispatcher() {
    sql "SELECT substring(dispatcher FROM 'pid ([0-9]+)') FROM lockstep.occurrence ORDER BY occurrence_id DESC
        LIMIT 1"
}

case_begin 'a dispatcher is killed at each step, before and behind the commit'
for point in dispatch.send dispatch.done dispatch.send@2 dispatch.done@3; do
    LOCKSTEP_PROBE=$point=kill LOCKSTEP_PROBE_DIR=$tmp executor "$tmp/$point.log" "${LOCKSTEP_BIN}-probed"
    status=0
    wait "$pid" || status=$?
    expect "killed at $point" "$status" 137
done

case_begin 'of two executors one dispatches, and the other one continues when it is killed'
declare -A alive
before=$(sql 'SELECT max(occurrence_id) FROM lockstep.occurrence')
for i in 1 2; do executor "$tmp/pair.$i.log"; alive[$pid]=yes; done
# Only the one that dispatches has a session for it.
both_started() { incarnations "$tmp/pair.1.log" 1 && incarnations "$tmp/pair.2.log" 1; }
eventually 30 both_started
one_dispatcher() {
    is "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lockstep/dispatcher'" 1
}
eventually 30 one_dispatcher || wrong 'the dispatcher that stands by has a session'
for i in 3 4; do
    eventually 30 fires "$(fired)" || wrong "nothing fires before kill $i"
    victim=$(dispatcher)
    [ -n "${alive[$victim]:-}" ] || { wrong "process $victim dispatches, which is none of ours"; break; }
    kill -KILL "$victim"
    wait "$victim" || true
    unset "alive[$victim]"
    eventually 30 fires "$(fired)" || wrong "nobody took over from $victim"
    executor "$tmp/pair.$i.log"
    alive[$pid]=yes
done
expect 'it is another one' "$(sql "SELECT count(DISTINCT dispatcher) >= 3 FROM lockstep.occurrence
    WHERE occurrence_id > $before")" t

case_begin 'jobs fire after the session of the dispatcher was ended'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'lockstep/dispatcher'" >/dev/null
eventually 30 fires "$(fired)" || wrong 'nothing fires after the sessions were ended'

case_begin 'another executor takes over from a dispatcher that stands still'
victim=$(dispatcher)
kill -STOP "$victim"
eventually 30 fires $(($(fired) + 1)) || wrong 'nobody took over from the one that stands still'
kill -CONT "$victim"

case_begin 'a session that holds the row of one queue keeps the jobs of that queue, and no others'
other=$(scratch_name)
lockstep queue create "$other" -q --create-topic
lockstep job apply - \
    -q <<<'{"job": "beside", "queue": "'"$other"'", "tasks": [{"order": 1, "sql": "SELECT 1"}], "overlap": "allow",
            "schedules": [{"name": "s", "kind": "interval", "every": "1s"}]}' >/dev/null
beside() { sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'beside' AND outcome = 'fired'"; }
besides() { [ "$(beside)" -gt "$1" ]; }
eventually 30 besides 0 || wrong 'the job beside does not fire'
sql "BEGIN; SELECT FROM lockstep.queue WHERE name = '$q' FOR UPDATE; SELECT pg_sleep(600)" >/dev/null 2>&1 &
holder() {
    is "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND query LIKE '%FOR UPDATE; SELECT pg_sleep(600)%' AND wait_event = 'PgSleep'" 1
}
eventually 30 holder
eventually 30 besides $(($(beside) + 2)) || wrong 'a held row of one queue keeps the job of another'
expect 'errors of the job whose queue was held' \
    "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'error'")" 0
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
      AND query LIKE '%FOR UPDATE; SELECT pg_sleep(600)%' AND pid <> pg_backend_pid()" >/dev/null
lockstep job delete beside -q
ticks() { [ "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'fired'")" -gt "$1" ]; }
eventually 30 ticks "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'tick' AND outcome = 'fired'")" ||
    wrong 'the job does not fire after the row was let go'

case_begin 'a job runs by hand, and a disabled one fires no more'
lockstep job run tick -q -o csv >/dev/null || wrong 'it does not run by hand'
# A second that is due at the moment of the change is skipped, and no later one is.
lockstep job disable tick -q
all_ended() {
    is "SELECT count(*) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
        WHERE q.name = '$q' AND r.ended_at IS NULL" 0
}
eventually 60 all_ended || wrong 'a run does not end'
told_to_end "${!alive[@]}"

case_begin 'each second has one occurrence, each occurrence one run, and each run one effect'
expect 'seconds without an occurrence' "$(sql "SELECT count(*)
    FROM (SELECT generate_series(min(scheduled_for), max(scheduled_for), '1 s') FROM lockstep.occurrence
          WHERE schedule IS NOT NULL AND outcome = 'fired'
    EXCEPT SELECT scheduled_for FROM lockstep.occurrence WHERE outcome = 'fired') AS missing")" 0
expect 'occurrences without one effect' "$(sql "SELECT count(*)
    FROM (SELECT o.run_id FROM lockstep.occurrence o LEFT JOIN effect e ON e.run = o.run_id
    WHERE o.outcome = 'fired' GROUP BY 1 HAVING count(e.run) <> 1) AS bad")" 0
expect 'effects of no occurrence' "$(sql "SELECT count(*) FROM effect e
    WHERE NOT EXISTS (SELECT FROM lockstep.occurrence o WHERE o.run_id = e.run)")" 0
expect 'times of the effects' "$(sql "SELECT count(*) FROM effect e JOIN lockstep.occurrence o ON o.run_id = e.run
    WHERE o.schedule IS NOT NULL AND o.scheduled_for <> e.at")" 0
expect 'what started them' "$(sql "SELECT string_agg(DISTINCT started_by, ', ' ORDER BY started_by)
    FROM lockstep.run JOIN lockstep.queue USING (queue_id) WHERE queue.name = '$q'")" \
    'manual by lockstep_test, schedule second'

case_begin 'events of a run name the job and the time'
events_sent() { is "SELECT count(*) FROM lockstep.outbox" 0; }
executor "$tmp/events.log"
eventually 30 grep -q event=executor_started "$tmp/events.log"
eventually 60 events_sent || wrong 'events are left'
told_to_end "$pid"
expect 'events without job or time' "$(kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q.events" -p 0 -o beginning -e \
    -X isolation.level=read_committed -f '%s\n' |
    jq -s 'map(select(.event == "run_ended"))
        | [length > 5, (map(select(.job != "tick" or .scheduled_for == null or .started_by == null)) | length)]
        | @csv' -r)" 'true,0'

case_begin 'a scheduler fires jobs where no executor dispatches, and scheduler run --once fires what is due'
lockstep job set tick -q \
    --change '{"enabled": true, "schedules": [{"name": "later", "kind": "interval", "every": "2s"}]}'
before=$(fired)
"$LOCKSTEP_BIN" scheduler run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" 2>"$tmp/scheduler.log" &
pid=$!
eventually 30 fires "$before" || wrong "the scheduler does not fire: $(cat "$tmp/scheduler.log")"
expect 'another one is at work' "$(lockstep scheduler run --once 2>&1)" \
    'lockstep: another dispatcher is at work: nothing was to be done here'
told_to_end "$pid"
before=$(fired)
due() { is "SELECT count(*) FROM lockstep.schedule WHERE wake_at <= clock_timestamp()" 1; }
eventually 30 due
lockstep scheduler run --once -q 2>/dev/null
expect 'one round fires what is due' "$(($(fired) > before))" 1

case_begin 'a wrong file, an unknown job and a stale version are refused with the reason'
expect 'a file that is none' "$(echo '{"jobs": [' | lockstep job apply - 2>&1 | head -n 1)" \
    'lockstep: -: it is not JSON from line 2 on'
expect 'a job that is none' "$(lockstep job show nobody 2>&1 | head -n 1)" \
    'lockstep: nobody: there is no job with this name'
expect 'a stale version' "$(lockstep job disable tick --if-version 1 2>&1 | head -n 1)" \
    "lockstep: job tick was changed: it is of version $(sql "SELECT version FROM lockstep.job"), not 1"
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
