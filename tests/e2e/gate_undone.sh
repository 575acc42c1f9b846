#!/bin/bash
# The transaction that opens a phase fails at its commit, when its session has kept IX of the phase before: a lock of a
# session is not undone with the transaction. The phase opens at a later try, and no lock is left that its executor does
# not know: it would close the phase before to all executors when a retry reopens that. A deferred trigger raises the
# error.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic
sql <<'SQL'
CREATE TABLE refuses (times int);
INSERT INTO refuses VALUES (0);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    times int := (SELECT r.times FROM public.refuses r);
BEGIN
    -- a sequence is not undone with the transaction
    IF nextval('public.refused') <= times THEN
        RAISE EXCEPTION 'canceling statement due to lock timeout' USING ERRCODE = '55P03';
    END IF;
    RETURN NULL;
END $$;
CREATE SEQUENCE refused;
CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE OF opened_at ON lockstep.phase DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW."order" = 2 AND NEW.opened_at IS NOT NULL) EXECUTE FUNCTION refuse();
SQL
refuses() { sql "SELECT setval('refused', 1, false); UPDATE refuses SET times = $1" >/dev/null; }
locks() {
    sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = lockstep.lock_class('phase')::oid
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
}
no_locks() { [ "$(locks)" = 0 ]; }
done_is() { [ "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$1'")" = Completed ]; }
refused() { [ "$(sql 'SELECT last_value FROM refused')" -ge "$1" ]; }
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 2>"$tmp/log" &
pid=$!

case_begin 'the session of a gate'
refuses 2
run=$(lockstep publish --queue "$q" -q - <<'END'
{"order": 1, "type": "external", "kind": "hand"}
{"order": 2, "sql": "SELECT 1"}
END
)
eventually 20 is "SELECT count(*) FROM lockstep.phase WHERE opened_at IS NOT NULL" 1
task=$(sql "SELECT task_id FROM lockstep.task WHERE \"order\" = 1")
lockstep task complete "$task" --reason 'done by hand' -q
eventually 40 done_is "$run" || { tail -n 5 "$tmp/log"; failed=1; }
refused 3 || wrong 'no commit was refused'
eventually 10 no_locks || wrong "$(locks) locks are left"

case_begin 'the session of control'
refuses 2
run=$(lockstep publish --queue "$q" -q - <<'END'
{"order": 1, "sql": "SELECT 1"}
{"order": 2, "sql": "SELECT 1"}
END
)
eventually 40 done_is "$run" || { tail -n 5 "$tmp/log"; failed=1; }
refused 3 || wrong 'no commit was refused'
eventually 10 no_locks || wrong "$(locks) locks are left"
kill -TERM "$pid"
wait "$pid" || wrong "the executor ended with $?"
cases_end
exit $failed
