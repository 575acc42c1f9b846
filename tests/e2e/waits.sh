#!/bin/bash
# A command that waits for a lock of another session names the session, since when it waits, and the statement that ends
# it. The command ends when it is interrupted.
# ctest: nosan timeout=120 long
# REMEDY_WAITING
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
export PGAPPNAME=forgotten
begin() {
    : >"$tmp/said" # here, not by a process in the background, which opens its files later
    env --default-signal=INT "$LOCKSTEP_BIN" "$@" -d "$db" -b "$LOCKSTEP_TEST_BROKERS" >>"$tmp/said" 2>&1 &
    command=$!
}
said() { grep -Eq "$1" "$tmp/said"; }
ends() { eventually 30 bash -c "! kill -0 $command 2>/dev/null" && { status=0; wait "$command" || status=$?; }; }
# takes: the printed command, unchanged; the command that waited continues
takes() {
    sql "$(grep -oE 'SELECT pg_terminate_backend\([0-9]+\)' "$tmp/said" | head -1)" >/dev/null
    ends || { echo "$1: it does not go on"; cat "$tmp/said"; failed=1; }
    session_close
}

case_begin 'migrate up waits for a table'
session_open 'BEGIN; LOCK TABLE lockstep.function_version'
begin migrate up
eventually 30 said \
    "waits for a lock that backend $backend holds, .*, forgotten, .*in a transaction since .*: SELECT .backend" ||
    { cat "$tmp/said"; failed=1; }
kill -INT "$command"
ends || failed=1
[ "$status" -ne 0 ] || { echo 'an interrupted one is not done'; failed=1; }
begin migrate up
eventually 30 said "pg_terminate_backend\($backend\)" || { cat "$tmp/said"; failed=1; }
takes 'migrate up'
expect 'migrate up' "$status" 0

case_begin 'migrate up waits for another migrator'
session_open "SELECT pg_advisory_lock(1280507909, 1)"
begin migrate up
eventually 30 said "waits for another migrator, backend $backend, .*, forgotten" || { cat "$tmp/said"; failed=1; }
takes 'another migrator'
expect 'migrate up' "$status" 0

case_begin 'run end waits for a row'
sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, first_offset)
    SELECT '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b001', queue_id, 'stop', 'Running', 0 FROM lockstep.queue"
session_open "BEGIN; SELECT 'held' FROM lockstep.run WHERE run_id = '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b001' FOR UPDATE"
begin run end 6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b001
eventually 30 said "waits for a lock that backend $backend holds" || { cat "$tmp/said"; failed=1; }
takes 'run end'
expect 'run end' "$status" 0
cases_end
exit $failed
