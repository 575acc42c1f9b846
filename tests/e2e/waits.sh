#!/bin/bash
# A command that waits for a lock of another session says whose it is, since when, and what ends it; and ends when it is interrupted.
# ctest: nosan timeout=120
# REMEDY_WAITING
. "$(dirname "$0")/../support/e2e.bash"
e2e_leave() { exec 6>&-; }
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
hold() { # STATEMENT: in a session that stays
    rm -f "$tmp/holder"
    : >"$tmp/holder.out" # here, because what is begun in the background opens its files later
    mkfifo "$tmp/holder"
    PGAPPNAME=forgotten "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" <"$tmp/holder" >>"$tmp/holder.out" 2>&1 &
    exec 6>"$tmp/holder"
    printf '%s;\n%s;\n' "$1" 'SELECT pg_backend_pid()' >&6
    eventually 20 grep -qE '^[0-9]+$' "$tmp/holder.out"
    backend=$(grep -E '^[0-9]+$' "$tmp/holder.out")
}
begin() {
    : >"$tmp/said" # likewise
    env --default-signal=INT "$LOCKSTEP_BIN" "$@" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" >>"$tmp/said" 2>&1 &
    command=$!
}
said() { grep -Eq "$1" "$tmp/said"; }
ends() { eventually 30 bash -c "! kill -0 $command 2>/dev/null" && { status=0; wait "$command" || status=$?; }; }
# takes: what is printed, as it is printed; the command goes on
takes() {
    sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/said" | head -1)" >/dev/null
    ends || { echo "$1: it does not go on"; cat "$tmp/said"; failed=1; }
    exec 6>&-
}

case_begin 'migrate up waits for a table'
hold 'BEGIN; LOCK TABLE lockstep.function_version'
begin migrate up
eventually 30 said "waits for a lock that backend $backend holds, .*, forgotten, .*in a transaction since .*: SELECT pg_backend_pid" || { cat "$tmp/said"; failed=1; }
kill -INT "$command"
ends || failed=1
[ "$status" -ne 0 ] || { echo 'an interrupted one is not done'; failed=1; }
begin migrate up
eventually 30 said "pg_terminate_backend\($backend\)" || { cat "$tmp/said"; failed=1; }
takes 'migrate up'
expect 'migrate up' "$status" 0

case_begin 'migrate up waits for another migrator'
hold "SELECT pg_advisory_lock(1280507909, 1)"
begin migrate up
eventually 30 said "waits for another migrator, backend $backend, .*, forgotten" || { cat "$tmp/said"; failed=1; }
takes 'another migrator'
expect 'migrate up' "$status" 0

case_begin 'run end waits for a row'
sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, first_offset) SELECT '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b001', queue_id, 'stop', 'Running', 0 FROM lockstep.queue"
hold "BEGIN; SELECT 'held' FROM lockstep.run WHERE run_id = '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b001' FOR UPDATE"
begin run end 6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b001
eventually 30 said "waits for a lock that backend $backend holds" || { cat "$tmp/said"; failed=1; }
takes 'run end'
expect 'run end' "$status" 0
cases_end
exit $failed
