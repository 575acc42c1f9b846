#!/bin/bash
# The times of jobs are those of the database's clock: a host of scheduler run whose clock is an hour ahead or behind,
# or is set while it runs, fires at the same moments.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 'q')"
set_clock() { # SECONDS, as tests/torture/clock.c reads them
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("=q", int(sys.argv[1])))' "$1" |
        dd of="$tmp/clock" conv=notrunc status=none
}
# A job that ticks, one that is due in a moment, and one that is due in half an hour, which a wrong clock would fire or
# miss.
begin_jobs() {
    sql <<'SQL' >/dev/null
DELETE FROM lockstep.job;
SELECT lockstep.job_define(jsonb_build_object('job', j.name, 'queue', 'q', 'overlap', 'allow',
    'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb,
    'schedules', jsonb_build_array(jsonb_build_object('name', 's') || j.rule)))
FROM (VALUES ('tick', '{"kind": "interval", "every": "1s"}'::jsonb),
             ('soon', jsonb_build_object('kind', 'once',
                 'at', to_char((now() + interval '4 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))),
             ('later', jsonb_build_object('kind', 'once',
                 'at', to_char((now() + interval '30 min') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))))
    AS j (name, rule);
SQL
}
fired() { sql "SELECT count(*) FROM lockstep.occurrence WHERE job = '$1' AND outcome = 'fired'"; }
ticks() { [ "$(fired tick)" -gt "$1" ]; }
scheduler() { # its clock is that of $tmp/clock
    LOCKSTEP_TORTURE_CLOCK=$tmp/clock LD_PRELOAD=${LOCKSTEP_BIN%/*}/libtorture_clock.so exec "$LOCKSTEP_BIN" scheduler \
        run -d "$db"
}
# By how many minutes the clock of the last line of the log differs from this one.
off_minutes() {
    echo $((($(date -d "$(sed -n 's/^ts=\([^ ]*\).*/\1/p' "$tmp/log" | tail -1)" +%s) - $(date +%s) + 3600 * 24 + 30) / 60 - 1440))
}
in_time() {
    expect "what is due in half an hour, $1" "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job = 'later'")" 0
    expect "what is due in a moment, $1" "$(fired soon)" 1
    expect "times that fired before they were due, $1" \
        "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE lateness < interval '0'")" 0
    expect "times that were missed, or fired a minute late, $1" \
        "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE outcome <> 'fired' OR lateness > interval '1 minute'")" 0
}

for minutes in 60 -60; do
    case_begin "a scheduler whose clock is wrong by $minutes minutes fires at the times of the database"
    set_clock $((minutes * 60))
    begin_jobs
    scheduler 2>"$tmp/log" &
    pid=$!
    eventually 30 is "SELECT count(*) FROM lockstep.occurrence WHERE job = 'soon'" 1 || wrong 'it does not fire'
    eventually 30 ticks 4 || wrong 'it does not tick'
    off=$(off_minutes)
    [ "$off" -ge $((minutes - 2)) ] && [ "$off" -le $((minutes + 2)) ] || wrong "its clock is wrong by $off minutes"
    in_time "$minutes minutes wrong"

    case_begin "a scheduler whose clock is set from $minutes to $((-minutes)) minutes while it waits continues"
    set_clock $((-minutes * 60))
    eventually 30 ticks $(($(fired tick) + 3)) || wrong 'it does not tick any more'
    in_time "its clock set from $minutes"
    expect 'sessions that it lost' "$(grep -c dispatcher_lost "$tmp/log" || true)" 0
    status=0
    kill -TERM "$pid"
    wait "$pid" || status=$?
    expect 'how it ended' "$status" 0
done
cases_end
exit $failed
