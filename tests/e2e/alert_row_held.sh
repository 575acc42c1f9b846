#!/bin/bash
# An operator's open transaction holds the row of an alert: a look passes that alert over, opens and closes those of all
# other jobs, and logs once which session is in the way.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
watch() { # NAME: it is missed
    lockstep job apply - -q <<<'{"job": "'"$1"'", "watch": true,
        "schedules": [{"name": "s", "kind": "interval", "every": "24h"}]}' >/dev/null
    due "$1" '-3 hours'
}
due() {
    sql "UPDATE lockstep.schedule s SET next_at = now() + interval '$2' FROM lockstep.job j
         WHERE j.job_id = s.job_id AND j.name = '$1'"
}
alerts() { is "SELECT string_agg(concat_ws(' ', job, kind, ended), ', ' ORDER BY alert_id) FROM lockstep.alert" "$1"; }
lines() { grep -c "event=alert_row_held" "$tmp/log" || true; }
logged() { [ "$(lines)" = "$1" ]; }
looked_since() { is "SELECT looked_at > '$1' FROM lockstep.monitor" t; }
must() { eventually "$@" || wrong "$* $(sql 'SELECT * FROM lockstep.alert') $(cat "$tmp/log")"; }
printf '[postgres]\nconninfo = %s\n[monitor]\nevery = 200ms\n' "$db" >"$tmp/conf"
chmod 600 "$tmp/conf"
watch held; watch ends
: >"$tmp/log"
LOCKSTEP_CONFIG=$tmp/conf "$LOCKSTEP_BIN" monitor run 2>>"$tmp/log" &
pid=$!
must 30 alerts 'held missed, ends missed'
session_open BEGIN "SELECT lockstep.alert_ack('held', 'it is known')"

case_begin 'while an open transaction holds the row of an alert, alerts of other jobs open and close'
watch opens; due ends '1 hour'
must 15 alerts 'held missed, ends missed recovered, opens missed'
case_begin 'the log names the session once'
must 10 logged 1
grep -q "event=alert_row_held .*backend $backend holds the row of alert .*pg_terminate_backend($backend)" "$tmp/log" ||
    wrong "the log: $(cat "$tmp/log")"
case_begin 'no look loses its session, and none is missed'
must 10 looked_since "$(sql 'SELECT clock_timestamp()')"
must 10 looked_since "$(sql 'SELECT clock_timestamp()')"
logged 1 || wrong "it is logged again: $(cat "$tmp/log")"
grep -q 'event=monitor_lost' "$tmp/log" && wrong "the log: $(cat "$tmp/log")"
case_begin 'when the transaction has ended, its alert closes like any other, with the note of its operator'
due held '1 hour'
must 10 looked_since "$(sql 'SELECT clock_timestamp()')"
alerts 'held missed, ends missed recovered, opens missed' || wrong 'the held alert has closed'
printf 'COMMIT;\n' >&"$session"
session_close
must 15 alerts 'held missed recovered, ends missed recovered, opens missed'
expect 'the note' "$(sql "SELECT note FROM lockstep.alert WHERE job = 'held'")" 'it is known'

case_begin 'the alert of an absent monitor does not hold up a look, either'
sql "UPDATE lockstep.monitor SET looked_at = looked_at - interval '1 hour'"
must 15 is "SELECT count(*) FROM lockstep.alert WHERE kind = 'absent' AND closed_at IS NULL" 1
session_open BEGIN \
    "SELECT lockstep.alert_ack((SELECT alert_id::text FROM lockstep.alert WHERE kind = 'absent'), 'it is known')"
sql "UPDATE lockstep.monitor SET looked_at = looked_at - interval '1 hour'"
must 10 looked_since "$(sql 'SELECT clock_timestamp()')"
sql 'UPDATE lockstep.monitor SET quiet_until = NULL'
must 10 looked_since "$(sql 'SELECT clock_timestamp()')"
printf 'COMMIT;\n' >&"$session"
session_close
must 15 is "SELECT count(*) FROM lockstep.alert WHERE kind = 'absent' AND ended = 'recovered'" 1
told_to_end "$pid"
cases_end
exit $failed
