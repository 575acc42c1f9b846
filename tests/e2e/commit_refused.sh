#!/bin/bash
# The server refuses the commit of a statement whose session has kept, or released, locks: these stay as they are. The
# work continues at a later try, and no lock is left that its executor does not know: IX would close the phase before to
# all executors when a retry reopens that, S would close the next phase, and a slot would be lost to the queue. No
# message is rejected for it: PostgreSQL refuses a commit with 54000 when its queue of notifications is full. A deferred
# trigger raises the errors.
# ctest: nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
sql <<'SQL'
CREATE TABLE refuses (what text, code text, times int);
INSERT INTO refuses VALUES ('', '', 0);
CREATE SEQUENCE refused; -- not undone with the transaction
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    r public.refuses := (SELECT r FROM public.refuses r);
BEGIN
    IF r.what = TG_ARGV[0] AND nextval('public.refused') <= r.times THEN
        RAISE EXCEPTION 'refused at the commit' USING ERRCODE = r.code;
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE OF opened_at ON lockstep.phase DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW."order" = 2 AND NEW.opened_at IS NOT NULL) EXECUTE FUNCTION refuse('opening');
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON lockstep.task DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.name = 'second') EXECUTE FUNCTION refuse('claim');
CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE OF ended_at ON lockstep.run DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION refuse('end');
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON lockstep.rejected_message DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION refuse('rejection');
CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON lockstep.slot DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.executor_no IS NOT NULL) EXECUTE FUNCTION refuse('slot');
SQL
refuses() { # WHAT SQLSTATE TIMES
    sql "SELECT setval('refused', 1, false); UPDATE refuses SET (what, code, times) = ('$1', '$2', $3)" >/dev/null
}
locks() {
    sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = lockstep.lock_class('phase')::oid
         AND $own_locks"
}
no_locks() { [ "$(locks)" = 0 ]; }
done_is() { is "SELECT status FROM lockstep.run WHERE run_id = '$1'" Completed; }
refused() { [ "$(sql 'SELECT last_value FROM refused')" -gt "$1" ]; }
start() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>>"$tmp/log" &
    pid=$!
}
ends() {
    kill -TERM "$pid"
    wait "$pid" || wrong "the executor ended with $?"
}
completes() { # RUN
    eventually 40 done_is "$1" || { tail -n 5 "$tmp/log"; failed=1; }
    refused 1 || wrong 'no commit was refused'
    eventually 10 no_locks || wrong "$(locks) locks are left"
}
publish() { lockstep publish --queue "$q" -q "$@" -; }
start

for code in 55P03 40001; do
    case_begin "the session of a gate, $code"
    refuses opening $code 2
    before=$(sql 'SELECT count(*) FROM lockstep.phase WHERE opened_at IS NOT NULL')
    run=$(publish <<<'{"order": 1, "type": "external", "kind": "hand"}
{"order": 2, "sql": "SELECT 1"}')
    eventually 20 is 'SELECT count(*) FROM lockstep.phase WHERE opened_at IS NOT NULL' $((before + 1))
    lockstep task complete "$(sql "SELECT task_id FROM lockstep.task WHERE type = 'external' AND status = 'Pending'")" \
        --reason 'done by hand' -q
    completes "$run"
done

for code in 55P03 40001 40P01; do
    case_begin "the session of control opens the next phase, $code"
    refuses opening $code 2
    completes "$(publish <<<'{"order": 1, "sql": "SELECT 1"}
{"order": 2, "sql": "SELECT 1"}')"
done

mkfifo "$tmp/work"
streams() { publish <"$tmp/work" --stream >"$tmp/run" & } # it publishes the lines that the script writes to &$work
case_begin 'a claim has acquired S'
refuses claim 40001 1
streams
exec {work}>"$tmp/work"
echo '{"order": 1, "name": "first", "sql": "SELECT 1"}' >&"$work"
eventually 20 is "SELECT status FROM lockstep.task WHERE name = 'first'" Completed
echo '{"order": 1, "name": "second", "sql": "SELECT 1"}' >&"$work"
eventually 20 is "SELECT status FROM lockstep.task WHERE name = 'second'" Completed
echo '{"order": 2, "name": "third", "sql": "SELECT 1"}' >&"$work"
exec {work}>&-
wait $!
completes "$(cat "$tmp/run")"

case_begin 'a claim has ended a run, 54000: no message is rejected'
: >"$tmp/log"
refuses end 54000 2
streams
exec {work}>"$tmp/work"
echo '{"order": 1, "name": "only", "sql": "SELECT 1"}' >&"$work"
eventually 20 is "SELECT status FROM lockstep.task WHERE name = 'only'" Completed
exec {work}>&-
wait $!
completes "$(cat "$tmp/run")"
expect 'rejected messages' "$(sql 'SELECT reason, detail FROM lockstep.rejected_message')" ''

case_begin 'a claim has rejected a message, 54000: its record and the reason are kept'
refuses rejection 54000 2
echo '{"bad"' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
eventually 20 is 'SELECT count(*) FROM lockstep.rejected_message' 1 || tail -n 5 "$tmp/log"
refused 1 || wrong 'no commit was refused'
expect 'kept' "$(sql "SELECT reason, convert_from(raw, 'UTF8') FROM lockstep.rejected_message")" 'bad_json|{"bad"'
! grep -q event=incarnation_lost "$tmp/log" || wrong 'a refused commit cost the incarnation'
ends

for code in 55P03 40001; do
    case_begin "slots are acquired, $code"
    start
    refuses slot $code 2
    completes "$(for _ in 1 2 3 4; do echo '{"order": 1, "sql": "SELECT pg_sleep(0.1)"}'; done | publish)"
    ends
done
cases_end
exit $failed
