#!/bin/bash
# A monitor whose login is refused after its session was ended logs the refusal, not only the end of the session, and
# continues by itself when it is let in again.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name)
e2e_roles+=("$login")
sql "CREATE ROLE $login LOGIN; GRANT lockstep_operator TO $login"
"$LOCKSTEP_BIN" monitor run -d "$db user=$login" 2>"$tmp/log" &
pid=$!

case_begin 'a monitor that is not let in any more says so'
eventually 30 grep -q event=monitor_started "$tmp/log"
sql "ALTER ROLE $login NOLOGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$login'" \
    >/dev/null
eventually 30 grep -q 'event=monitor_lost .*code=28000' "$tmp/log" || { cat "$tmp/log"; failed=1; }

case_begin 'and continues when it is let in'
sql "ALTER ROLE $login LOGIN"
eventually 30 grep -q event=monitor_is_back "$tmp/log" || { cat "$tmp/log"; failed=1; }
kill -TERM "$pid"
wait "$pid" || wrong "the monitor ended with $?"
cases_end
exit $failed
