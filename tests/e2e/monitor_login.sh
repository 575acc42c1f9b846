#!/bin/bash
# A monitor whose login is refused after its session was ended logs the refusal, not only the end of the session, and
# continues by itself when it is let in again; likewise one whose right is taken away. One that never had it, or a
# scheduler, does not start.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name)
e2e_roles+=("$login")
sql "CREATE ROLE $login LOGIN; GRANT lockstep_operator TO $login"
"$LOCKSTEP_BIN" monitor run -d "$db user=$login" 2>"$tmp/log" &
pid=$!

case_begin 'a monitor that is not let in any more says so'
eventually 30 grep -q event=monitor_started "$tmp/log"
sql "ALTER ROLE $login NOLOGIN" # committed before its sessions are ended: none begins after that
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$login'" >/dev/null
eventually 30 grep -q 'event=monitor_lost .*code=28000' "$tmp/log" || { cat "$tmp/log"; failed=1; }

case_begin 'and continues when it is let in'
sql "ALTER ROLE $login LOGIN"
eventually 30 grep -q event=monitor_is_back "$tmp/log" || { cat "$tmp/log"; failed=1; }

case_begin 'a monitor whose right is taken away says what to grant, and continues with it'
sql "REVOKE lockstep_operator FROM $login"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$login'" >/dev/null
eventually 30 grep -q 'event=monitor_lost .*code=42501' "$tmp/log" || { cat "$tmp/log"; failed=1; }
# REMEDY_GRANT_GROUP
sql "$(sed -nE 's/.*event=monitor_lost .*hint="(GRANT[^;]*;).*/\1/p' "$tmp/log" | tail -n 1 | tr -d '\\')"
back() { [ "$(grep -c event=monitor_is_back "$tmp/log")" = 2 ]; }
eventually 30 back || { cat "$tmp/log"; failed=1; }
kill -TERM "$pid"
wait "$pid" || wrong "the monitor ended with $?"

case_begin 'a daemon whose login may not do its work ends at once and says what to grant'
sql "REVOKE lockstep_operator FROM $login"
for daemon in monitor scheduler; do
    status=0
    timeout 30 "$LOCKSTEP_BIN" "$daemon" run -d "$db user=$login" 2>"$tmp/said" || status=$?
    expect "$daemon" "$status" 1
    # REMEDY_GRANT
    sql "$(grep -oP 'GRANT [^;]*;' "$tmp/said")" || cat "$tmp/said"
    # A log of its own: that of the monitor above says that it has started until the shell has emptied it.
    "$LOCKSTEP_BIN" "$daemon" run -d "$db user=$login" 2>"$tmp/$daemon.log" &
    pid=$!
    eventually 30 grep -q "event=${daemon}_started" "$tmp/$daemon.log" ||
        { cat "$tmp/said" "$tmp/$daemon.log"; failed=1; }
    told_to_end "$pid"
    if grep 'code=42501' "$tmp/$daemon.log"; then failed=1; fi
done
cases_end
exit $failed
