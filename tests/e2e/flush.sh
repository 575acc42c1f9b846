#!/bin/bash
# Reports stay true after a crash of the server that loses everything that is not on disk: a run that was published, a
# run that was reported as completed, an attempt with effects elsewhere that had begun or had been recorded.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/begin.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
chmod 777 "$tmp"
pg_init main wal_buffers=16MB checkpoint_timeout=1h
pg_start main
db=$(pg_conninfo main)
"$LOCKSTEP_BIN" migrate up -q -d "$db" >/dev/null
ledger_create

# Without its writer an asynchronous commit stays in memory until a synchronous one comes. A heartbeat does,
# so the executors are held before their first one. Each case is a run of its own, and the crash comes right after the
# word.
begin() { # NAME
    name=$1
    q=$(scratch_name)
    mkdir "$tmp/$name"
    lockstep queue create "$q" -q --create-topic
    kill -STOP "$(sql "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")"
}
crash() { # and an executor that is left would only change what is to be looked at
    pg_crash main
    jobs_end
    wait 2>/dev/null || true
    pg_start main
}
probed() { # PROBES COMMAND...: in the background, and so in place of a shell
    local probes=$1
    shift
    exec env LOCKSTEP_PROBE_DIR="$tmp/$name" LOCKSTEP_PROBE="$probes" "$LOCKSTEP_BIN-probed" "$@" -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" --queue "$q"
}
executor() {
    probed "heartbeat.send=hold${1:+,$1}" executor run -s executor.frozen_after=60s --readers 3 "${@:2}" \
        2>>"$tmp/$name.log"
}
started() { eventually 20 test -e "$tmp/$name/heartbeat.send.hit"; }
tasks() { for i in 0 1 2 3 4 5 6 7; do echo "{\"order\": 1, \"sql\": \"SELECT work('$q', 1, $i, 0.002)\"}"; done; }
is_completed() { # RUN
    expect "$name" "$(sql "SELECT r.status, (SELECT count(*) FROM ledger WHERE q = '$q') FROM lockstep.run_status r
        WHERE run_id = '$1'")" 'Completed|8'
}
# The end of a run is left by the executors in memory: without this the cases below would prove nothing.
case_begin 'a completed run that was not reported yet is lost by a crash'
begin 'nothing is told'
lockstep queue pause "$q" -q # the publisher's last commit, which is durable, comes before the run's end
executor &
run=$(tasks | lockstep publish --queue "$q" -q -)
lockstep queue resume "$q" -q
eventually 20 is "SELECT status FROM lockstep.run_status WHERE run_id = '$run'" Completed
crash
[ "$(sql "SELECT status FROM lockstep.run_status WHERE run_id = '$run'")" != Completed ] ||
    wrong 'a completed run was not in memory only: the rest proves nothing'

case_begin 'a run that publish --wait has reported as completed is completed after a crash'
begin 'publish --wait'
executor &
started
run=$(tasks | lockstep publish --queue "$q" -q --wait -)
crash
is_completed "$run"

case_begin 'a run that run watch has reported as completed is completed after a crash'
begin 'run watch'
executor &
started
run=$(tasks | lockstep publish --queue "$q" -q -)
lockstep run watch "$run" >/dev/null
crash
is_completed "$run"

case_begin 'a run after which executor run --until-idle has ended is completed after a crash'
# Its sign-off would make it durable, too, but comes after the word.
begin 'executor run --until-idle'
run=$(tasks | lockstep publish --queue "$q" -q -)
executor incarnation.drained=hold --until-idle &
eventually 20 test -e "$tmp/$name/incarnation.drained.hit"
crash
is_completed "$run"

case_begin 'a run of which the first record may be on the topic is in the database after a crash'
begin 'a publisher before its first record'
tasks >"$tmp/tasks.jsonl"
probed publish.begun=hold publish -q "$tmp/tasks.jsonl" >/dev/null 2>&1 &
eventually 20 test -e "$tmp/$name/publish.begun.hit"
crash
expect "$name" \
    "$(sql "SELECT count(*) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" 1

# An effect that the database does not undo: when it is there, the claim is; when its record was seen, it stays.
outside() {
    echo "{\"order\": 1, \"transaction\": false, \"sql\": \"COPY (SELECT 1) TO PROGRAM 'cat >>$tmp/$1; sleep $2'\"}"
}
case_begin 'an attempt whose effect is outside the database is claimed after a crash'
begin 'an attempt outside a transaction, begun'
outside begun 5 | lockstep publish --queue "$q" -q - >/dev/null
executor &
eventually 20 test -s "$tmp/begun"
crash
expect "$name" "$(sql "SELECT count(*), max(attempt_num) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$q'")" '1|1'

case_begin 'an attempt with an effect outside the database that was seen as recorded is not repeated after a crash'
begin 'an attempt outside a transaction, recorded'
outside recorded 0 | lockstep publish --queue "$q" -q - >/dev/null
executor &
eventually 20 is "SELECT t.status FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'" \
    Completed
crash
expect "$name" \
    "$(sql "SELECT t.status FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" Completed
name='executor run --until-idle'
lockstep executor run --queue "$q" --until-idle 2>>"$tmp/$name.log" || failed=1
expect 'effects outside' "$(cat "$tmp/recorded")" 1
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
