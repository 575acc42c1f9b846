#!/bin/bash
# The trouble of one queue stays its own: a queue that is deleted or missing, one whose statements fail, a flood of
# notifications from a login without any right, a forged record on its dead-letter topic, a name that another queue's
# relay has for its transactional id.
# ctest: timeout=120 nosan long
. "$(dirname "$0")/../support/e2e.bash"
any=$(scratch_name)_any
e2e_roles=("$any")
sql "CREATE ROLE $any LOGIN"
hold_create
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
queue() { lockstep queue create "$1" -q --create-topic --max-readers 4; }
publish() { printf '%s\n' "${@:2}" | lockstep publish --queue "$1" -q - >/dev/null; } # QUEUE TASK...
daemon() { "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 "$@" 2>>"$tmp/log" & pid=$!; }
tasks() {
    echo "SELECT string_agg(t.status || t.attempt_num::text, ' ' ORDER BY t.task_id)
        FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$1'"
}
a=$(scratch_name) b=$(scratch_name)
queue "$a"
queue "$b"

case_begin 'an executor whose only queue fails begins again, and continues when it can'
sql "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trouble''; END';
     CREATE TRIGGER trouble BEFORE UPDATE OF next_offset ON lockstep.queue FOR EACH ROW WHEN (NEW.name = '$a')
     EXECUTE FUNCTION trouble()"
daemon --queue "$a"
publish "$a" '{"order": 1, "sql": "SELECT 1"}'
begins_anew() {
    lockstep queue explain "$a" >"$tmp/said" # not through a pipe: head would end it
    grep -Eq "\(pid $pid\) fails at queue $a and starts again: executor_claim: trouble$" <(head -1 "$tmp/said")
}
eventually 15 begins_anew || bad "explain: $(lockstep queue explain "$a")"
sql 'DROP TRIGGER trouble ON lockstep.queue'
eventually 20 is "$(tasks "$a")" Completed1 || bad 'a queue that was in trouble does not go on with its only executor'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
: >"$tmp/log"

case_begin 'a queue that fails is set aside, and the other queue runs on'
sql "
     CREATE TRIGGER trouble BEFORE INSERT ON lockstep.phase
     FOR EACH ROW WHEN (NEW.queue_id = $(sql "SELECT queue_id FROM lockstep.queue WHERE name = '$a'"))
     EXECUTE FUNCTION trouble()"
daemon --queue "$a" --queue "$b"
publish "$b" "{\"order\": 1, \"sql\": \"SELECT hold('$b')\"}"
eventually 15 is "$(tasks "$b")" Processing1
publish "$a" '{"order": 1, "sql": "SELECT 1"}'
eventually 15 grep -q "event=queue_set_aside.*$a" "$tmp/log" || bad 'a queue in trouble is not set aside'
lockstep queue explain "$a" >"$tmp/said"
grep -Eq "^executor [0-9a-f-]{36} on .* \(pid $pid\) has set queue $a aside and tries again (in [0-9]+ s|now): executor_claim: trouble$" \
    <(head -1 "$tmp/said") || bad "explain: $(cat "$tmp/said")"
lockstep check >"$tmp/said" || true
grep -Eq "^FAIL +executors +executor .* has set queue $a aside" "$tmp/said" || bad "check: $(cat "$tmp/said")"
sql 'DROP TRIGGER trouble ON lockstep.phase'
eventually 20 is "$(tasks "$a")" 'Completed1 Completed1' || bad 'a queue that was in trouble does not go on'
eventually 20 grep -q "event=queue_is_back.*$a" "$tmp/log"
idle() { [ "$(lockstep queue explain "$a" -o json | jq -r '.[].reason')" = queue_idle ]; }
eventually 10 idle || bad "something is left of it: $(lockstep queue explain "$a")"
if grep -q 'event=incarnation_lost' "$tmp/log"; then bad "the trouble of one queue cost the executor's incarnation"; fi

# of_a TABLE CONDITION EVENT: a trigger for the rows of queue a
# undone TABLE: the trouble that it made was of queue a alone, and is over
of_a() {
    : >"$tmp/log"
    sql "CREATE TRIGGER trouble BEFORE $3 ON lockstep.$1 FOR EACH ROW WHEN (NEW.queue_id =
         $(sql "SELECT queue_id FROM lockstep.queue WHERE name = '$a'") AND $2) EXECUTE FUNCTION trouble()"
}
undone() { # TABLE
    eventually 15 grep -q "event=queue_set_aside.*$a" "$tmp/log" || bad 'a queue in trouble is not set aside'
    ! grep -q event=incarnation_lost "$tmp/log" || bad "the trouble of one queue cost the executor's incarnation"
    expect 'the task of the other queue' "$(sql "$(tasks "$b")")" Processing1
    sql "DROP TRIGGER trouble ON lockstep.$1"
    eventually 20 grep -q "event=queue_is_back.*$a" "$tmp/log" || bad 'a queue that works again is still aside'
}

case_begin 'a queue whose gate fails is set aside, and the other queue runs on'
# No executor has S of a phase whose tasks are external, so a gate opens the next one.
of_a phase 'NEW.order = 2 AND NEW.opened_at IS NOT NULL' 'UPDATE OF opened_at'
publish "$a" '{"order": 1, "type": "external", "kind": "hand"}' '{"order": 2, "sql": "SELECT 1"}'
by_hand="FROM lockstep.task WHERE type = 'external' AND status = 'Pending'"
eventually 15 is "SELECT count(*) $by_hand" 1
a_is_done() {
    is "SELECT count(*) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
        WHERE q.name = '$a' AND t.status <> 'Completed'" 0
}
lockstep task complete "$(sql "SELECT task_id $by_hand")" --reason 'done by hand' -q
undone phase
eventually 20 a_is_done || bad 'a queue that was in trouble does not go on'

case_begin 'foreign notifications cost a few statements, however many they are'
for ((i = 0; i < 15000; i++)); do echo "NOTIFY lockstep_1, 'control';"; done >"$tmp/flood"
floods=()
for i in 1 2; do
    while "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "${db/user=lockstep_test/user=$any}" -f "$tmp/flood"; do :; done \
        >/dev/null 2>&1 &
    floods+=($!)
done
for ((i = 0; i < 300; i++)); do echo '{"order": 1, "sql": "SELECT 1"}'; done >"$tmp/many"
lockstep publish --queue "$a" -q "$tmp/many" >/dev/null
eventually 30 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
    WHERE q.name = '$a' AND t.status = 'Completed'" 304 ||
    bad 'a flood of notifications keeps an executor from its work'
jobs_tell TERM "${floods[@]}"

case_begin 'a queue whose lost attempt cannot be recorded is set aside, and the other queue runs on'
sql "CREATE SEQUENCE ends; CREATE FUNCTION ends_once() RETURNS void LANGUAGE plpgsql AS 'BEGIN
     IF nextval(''public.ends'') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; END'"
of_a task "OLD.executor_no IS NOT NULL AND NEW.executor_no IS NULL AND NEW.status = 'Pending'" UPDATE
publish "$a" '{"order": 1, "sql": "SELECT ends_once()"}'
undone task
eventually 20 a_is_done || bad 'the lost attempt has no successor'

case_begin 'a forged dead letter is passed over'
echo '{"bad"' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$a" -p 0
letters() { is "SELECT count(dead_lettered_at) FROM lockstep.rejected WHERE queue = '$1'" "$2"; }
eventually 20 letters "$a" 1 || bad 'the first dead letter is not sent'
for forged in "------------------------------------ 9" "01234567-89ab-4def-8123-456789abcdef 9223372036854775807"; do
    echo x | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$a.rejected" -p 0 -H "lockstep-queue=$a" \
        -H "lockstep-outbox-id=${forged% *}" -H "lockstep-relay-seq=${forged#* }"
done
sql "INSERT INTO let_go VALUES ('$b')"
eventually 15 is "$(tasks "$b")" Completed1 || bad 'the task of the other queue has not ended at its first attempt'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
daemon --queue "$a" --queue "$b"
for q in "$a" "$b"; do echo '{"bad"' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0; done
eventually 20 letters "$a" 2 || bad 'a forged record stops the relay of its queue'
eventually 20 letters "$b" 1 || bad 'a forged record stops the relay of another queue'

case_begin 'an executor leaves a deleted queue, and names a missing one'
# A deleted queue is left, and a missing one is said. Also when an executor comes to work for it before it has heard of
# that.
sql 'DELETE FROM let_go'
publish "$b" "{\"order\": 1, \"sql\": \"SELECT hold('$b')\"}"
eventually 15 is "$(tasks "$b")" 'Completed1 Processing1' || bad 'the task of the other queue does not run'
id=$(sql "SELECT queue_id FROM lockstep.queue WHERE name = '$a'")
sql "DO \$\$BEGIN
        EXECUTE replace(pg_get_functiondef('lockstep.queue_delete'::regproc), 'PERFORM pg_notify', 'PERFORM concat');
    END\$\$"
lockstep queue delete "$a" --yes -q >/dev/null
sql "NOTIFY lockstep_$id, 'work'"
eventually 15 grep -q "event=queue_left.*$a" "$tmp/log" || bad 'a deleted queue is not left'
! grep -q 'event=queue_set_aside.*P0002' "$tmp/log" || bad 'a deleted queue is said to be in trouble'
sql "INSERT INTO let_go VALUES ('$b')"
eventually 15 is "SELECT count(*) FROM lockstep.task WHERE status <> 'Completed' OR attempt_num <> 1" 0 ||
    bad 'the task of the other queue has not ended at its first attempt'
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
: >"$tmp/log"
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 1 --queue "$a" --queue "$b" \
    --until-idle 2>"$tmp/log" || bad "with one unknown queue of two it ended with $?"
grep -q "event=queue_left.*$a" "$tmp/log" || bad 'the unknown queue is not said'
code=0
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 1 --queue "$a" --queue nobodys \
    --until-idle 2>"$tmp/log" || code=$?
[ "$code" = 2 ] || bad "without a queue that exists it ended with $code"

case_begin 'a dead letter is sent while a publisher holds the queue of its topic'
queue "$b.relay"
daemon --queue "$b"
mkfifo "$tmp/stream"
lockstep publish --queue "$b.relay" -q --stream "$tmp/stream" >"$tmp/published" 2>&1 &
publisher=$!
exec 5>"$tmp/stream"
echo '{"order": 1, "sql": "SELECT 1"}' >&5
eventually 20 is \
    "SELECT publish_acked_seq FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$b.relay'" 0 ||
    bad 'a queue whose name ends in .relay cannot be published to'
echo '{"bad"' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$b" -p 0
eventually 20 letters "$b" 2 || bad 'a dead letter is not sent beside a publisher'
echo '{"order": 1, "sql": "SELECT 1"}' >&5
exec 5>&-
wait "$publisher" || bad "a relay takes a publisher's transactional id: $(cat "$tmp/published")"

case_begin 'large keys of a paused queue are bounded in memory'
lockstep queue pause "$b" -q
held() { awk '/VmHWM/ {print int($2 / 1024)}' "/proc/$pid/status"; }
before=$(held)
key=$(printf '%900000s' '')
for ((i = 0; i < 200; i++)); do printf '%s\t{"order": 1, "previous_order": 0, "sql": "SELECT 1"}\n' "$key"; done |
    kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$b" -p 0 -K $'\t' -X message.max.bytes=1000000
more() { (($(held) >= before + $1)); }
eventually 10 more 10 || bad 'nothing is held of a paused queue'
sleep 1 # it would continue
if more 150; then bad "$(($(held) - before)) MB are held of a paused queue"; fi
kill -TERM "$pid"
wait "$pid" || bad "the executor ended with $?"
cases_end
exit $failed
