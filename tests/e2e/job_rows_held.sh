#!/bin/bash
# Rows come into a watched table while another session holds the row of the trigger: the job fires within two seconds
# after that session has let go, though it changed nothing and notifies of nothing. A row that stays held costs a
# statement a second.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
sql "CREATE TABLE staging (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"
sql "GRANT SELECT ON staging TO lockstep_task" >/dev/null # another test may have made a login that runs tasks
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
lockstep job apply - -q >/dev/null <<END
{"job": "load", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "overlap": "allow",
 "trigger": {"on": "public.staging", "check_every": "1h", "threshold": 1}}
END
sql "SELECT lockstep.watch_table('staging')" >/dev/null
LOCKSTEP_PROBE=dispatch.send@60=kill LOCKSTEP_PROBE_DIR=$tmp \
    "${LOCKSTEP_BIN}-probed" scheduler run -d "$db" 2>"$tmp/scheduler.log" &
scheduler=$!
looked() { is "SELECT (look).at IS NOT NULL AND next_at > now() + interval '10 minutes' FROM lockstep.schedule" t; }
fired() { is "SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired'" "$1"; }
eventually 30 looked || wrong "the trigger was not looked at: $(sql 'TABLE lockstep.schedule')"

# hold: a session holds the row of the trigger until the test releases it
hold() {
    exec {holder}> >(exec psql -X -q -d "$db" >/dev/null)
    echo 'BEGIN; SELECT FROM lockstep.schedule FOR UPDATE;' >&"$holder"
    eventually 10 is "SELECT count(*) FROM pg_stat_activity
                      WHERE datname = current_database() AND state = 'idle in transaction'" 1 ||
        wrong 'the row is not held'
}

case_begin 'a trigger whose row another session holds is looked at soon after that session has let go'
hold
sql 'INSERT INTO staging DEFAULT VALUES'
sleep 4 # the dispatcher has heard of it, and has met the held row
expect 'nothing fires while it is held' "$(sql 'SELECT count(*) FROM lockstep.occurrence')" 0
echo 'ROLLBACK;' >&"$holder"
exec {holder}>&-
eventually 30 fired 1 || wrong "it does not fire: $(tail -3 "$tmp/scheduler.log")"
now=$(sql "SELECT extract(epoch FROM clock_timestamp() - max(fired_at)) < 60 FROM lockstep.occurrence")
expect 'it has fired just now, and not after check_every' "$now" t

case_begin 'a row that stays held costs no more than a statement or two a second'
eventually 30 is "SELECT next_at > now() + interval '10 minutes' FROM lockstep.schedule" t || wrong 'it is still due'
hold
sql 'INSERT INTO staging DEFAULT VALUES'
sleep 6
expect 'the dispatcher lives, with fewer than 60 rounds' "$(kill -0 "$scheduler" && echo lives)" lives
echo 'ROLLBACK;' >&"$holder"
exec {holder}>&-
eventually 30 fired 2 || wrong "it does not fire: $(tail -3 "$tmp/scheduler.log")"
told_to_end "$scheduler"
cases_end
exit $failed
