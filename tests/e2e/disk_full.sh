#!/bin/bash
# The disk of the database server is full for the writes of one queue: the queue is set aside, the executor lives and
# its other queue continues, and explain names the remedy. An executor that can do nothing at all starts again after a
# growing pause. A trigger raises the error of a server whose disk is full, as long as a table names the queue.
# ctest: timeout=180 nosan
. "$(dirname "$0")/../support/e2e.bash"
hold_create
bad() { echo "$1"; failed=1; tail -n 20 "$tmp/log"; }
a=$(scratch_name) b=$(scratch_name)
for queue in "$a" "$b"; do lockstep queue create "$queue" -q --create-topic; done
sql <<'SQL'
CREATE TABLE full_for (queue_id int);
CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF EXISTS (SELECT FROM public.full_for f WHERE f.queue_id = NEW.queue_id) THEN
        RAISE EXCEPTION 'could not extend file "base/5/16": No space left on device' USING ERRCODE = '53100';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER disk_full BEFORE INSERT ON lockstep.task FOR EACH ROW EXECUTE FUNCTION disk_full();
SQL
is_full() { sql "INSERT INTO full_for SELECT queue_id FROM lockstep.queue WHERE name = '$1'"; }
is_free() { sql 'DELETE FROM full_for'; }
daemon() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 2 -s metrics.listen=0 "$@" \
        2>>"$tmp/log" &
    pid=$!
}
publish() { lockstep publish --queue "$1" -q - <<<"{\"order\": 1, \"sql\": \"SELECT ${2:-1}\"}"; }
done_is() { [ "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$1'")" = Completed ]; }
shown() {
    is "SELECT t.status FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$1'" Processing
}
lines() { grep -c "$1" "$tmp/log" || true; }
at_least() { [ "$(lines "$1")" -ge "$2" ]; }
why() { lockstep queue explain "$a" -o json | jq -r '.[0].reason'; }
incarnations() { sql 'SELECT count(*) FROM lockstep.executor'; }
ends() { kill -TERM "$pid"; wait "$pid" || bad "the executor ended with $?"; }

case_begin 'a queue without disk space is set aside, and the other queue continues'
is_full "$a"
daemon --queue "$a" --queue "$b"
starved=$(publish "$a")
eventually 20 at_least 'event=queue_set_aside' 1 || bad 'the queue is not set aside'
fed=$(publish "$b")
eventually 20 done_is "$fed" || bad 'the other queue does not run'
eventually 30 at_least 'event=queue_set_aside' 3 || bad 'the executor does not try again'
expect 'incarnations' "$(incarnations)" 1
at=$(sed -n 's,.*event=metrics_served.* url=\(http://[^/]*\)/.*,\1,p' "$tmp/log" | head -n 1)
ready=$(curl -s "$at/readyz" || true)
grep -q "$a: its statements fail" <<<"$ready" || bad "readyz: $ready"
expect 'not ready' "$(curl -s "$at/metrics" | grep -F 'queue_ready{' | cut -d'{' -f2 | sort)" \
    "$(printf '%s\n' "queue=\"$a\"} 0" "queue=\"$b\"} 1" | sort)"
lockstep queue explain "$a" >"$tmp/said"
says() { tr -s ' \n' ' ' <"$tmp/said" | grep -Eq "$1" || bad "explain: $(cat "$tmp/said")"; }
says "\(pid $pid\) has set queue $a aside and tries again .*: 53100: could not extend file"
says 'Free disk space on the database server; the executor tries again by itself'
if grep -q 'Nothing has to be done' "$tmp/said"; then bad "explain: $(cat "$tmp/said")"; fi
is_free
eventually 30 done_is "$starved" || bad 'the queue does not continue when there is space'
# For as long as it was set aside last, 4 s or more, its trouble is not over yet: there is nothing to do in that time.
used_ms() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / hz }' "/proc/$pid/stat"; }
used=$(used_ms)
sleep 2 # the observation itself
used=$(($(used_ms) - used))
[ "$used" -lt 200 ] || bad "a queue that continues uses $used ms of processor time in 2 s"
eventually 30 at_least 'event=queue_is_back' 1 || bad 'the trouble is not over'
ends

case_begin 'openings for which the log of events has no room are noted later, and nothing that runs is lost'
: >"$tmp/log"
sql <<'SQL'
CREATE TABLE log_full (full_now bool);
INSERT INTO log_full VALUES (true);
CREATE FUNCTION log_full() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF EXISTS (SELECT FROM public.log_full)
       -- the claim opens the first one
       AND (SELECT p."order" > 1 FROM lockstep.phase p WHERE p.phase_id = NEW.phase_id) THEN
        RAISE EXCEPTION 'could not extend file "base/5/17": No space left on device' USING ERRCODE = '53100';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER log_full BEFORE INSERT ON lockstep.event_log
    FOR EACH ROW WHEN (NEW.event = 'phase_opened') EXECUTE FUNCTION log_full();
SQL
known=$(incarnations)
daemon --queue "$a" --queue "$b"
long=$(publish "$b" 'pg_sleep(5)')
several=$(seq -f '{"order": %.0f, "sql": "SELECT 1"}' 40 | lockstep publish --queue "$a" -q -)
eventually 30 at_least '53100' 1 || bad 'no opening finds the log full'
eventually 30 done_is "$long" || bad 'the other queue does not run'
sql 'DELETE FROM log_full'
eventually 30 done_is "$several" || bad 'the queue does not continue'
expect 'incarnations' "$(($(incarnations) - known))" 1
expect 'attempts' "$(sql "SELECT max(attempt_num) FROM lockstep.task")" 1
noted="FROM lockstep.event_log l JOIN lockstep.run r USING (run_no)
       WHERE l.event = 'phase_opened' AND r.run_id = '$several'"
eventually 30 is "SELECT count(DISTINCT l.phase_id) $noted" 40 ||
    bad "openings were not noted later, but for $(sql "SELECT count(*) $noted")"
ends
sql 'DROP TRIGGER log_full ON lockstep.event_log'

case_begin 'an executor that has no other queue lives on, too'
: >"$tmp/log"
is_full "$a"
daemon --queue "$a"
starved=$(publish "$a")
eventually 30 at_least 'event=queue_set_aside' 3 || bad 'the executor does not try again'
expect 'incarnations' "$(incarnations)" 3
expect 'explain' "$(why)" queue_set_aside
is_free
eventually 30 done_is "$starved" || bad 'the queue does not continue when there is space'
ends

case_begin 'a disk without space for the mark of a long task ends nothing that runs'
: >"$tmp/log"
sql "CREATE TRIGGER mark_full BEFORE UPDATE OF status ON lockstep.task FOR EACH ROW WHEN (NEW.status = 'Processing')
     EXECUTE FUNCTION disk_full()"
known=$(incarnations)
daemon --queue "$a" --queue "$b"
long=$(publish "$b" 'hold($$long$$)')
eventually 20 shown "$long" || bad 'the task of the other queue is not shown'
is_full "$a"
# Only the mark of the task meets the full disk.
sql 'ALTER TABLE lockstep.task DISABLE TRIGGER disk_full'
unshown=$(publish "$a" 'hold($$unshown$$)')
eventually 20 at_least 'event=tasks_not_shown' 1 || bad 'the task is shown without space'
is_free
eventually 30 shown "$unshown" || bad 'the task is not shown when there is space'
sql "INSERT INTO let_go VALUES ('long'), ('unshown')"
eventually 20 done_is "$long" || bad 'the task of the other queue does not end'
eventually 20 done_is "$unshown" || bad 'the task that was not shown does not end'
expect 'incarnations' "$(($(incarnations) - known))" 1
expect 'attempts' "$(sql "SELECT max(attempt_num) FROM lockstep.task")" 1
ends
sql 'ALTER TABLE lockstep.task ENABLE TRIGGER disk_full; DROP TRIGGER mark_full ON lockstep.task'

case_begin 'a disk without space even for the row of the trouble is named all the same'
: >"$tmp/log"
sql 'CREATE TRIGGER disk_full BEFORE INSERT ON lockstep.executor_aside FOR EACH ROW EXECUTE FUNCTION disk_full()'
is_full "$a"
daemon --queue "$a" --queue "$b"
starved=$(publish "$a")
eventually 20 at_least 'event=trouble_not_noted' 1 || bad 'the row of the trouble is written'
state_is() { [ "$(lockstep executor list -o json | jq -r '.[].state')" = "$1" ]; }
eventually 10 state_is 'no writes' || bad "the state: $(lockstep executor list)"
lockstep queue explain "$a" >"$tmp/said"
says "\(pid $pid\) cannot write to the database for .*: queue $a: .*53100: could not extend file"
says 'Free disk space on the database server; the executor tries again by itself'
code=0
lockstep check >"$tmp/said" || code=$?
[ "$code" != 0 ] || bad "check: $(cat "$tmp/said")"
says "FAIL .*cannot write to the database"
is_free
eventually 30 done_is "$starved" || bad 'the queue does not continue when there is space'
eventually 70 state_is ok || bad "the state: $(lockstep executor list)"
ends

case_begin 'incarnations that start and can do nothing pause for longer each time'
: >"$tmp/log"
sql <<SQL
CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'broken'; END \$\$;
CREATE TRIGGER broken BEFORE UPDATE OF next_offset ON lockstep.queue FOR EACH ROW WHEN (NEW.name = '$a')
EXECUTE FUNCTION broken();
SQL
publish "$a" >/dev/null
known=$(sql 'SELECT max(executor_no) FROM lockstep.executor')
daemon --queue "$a"
eventually 60 at_least 'event=executor_started' 3 || bad 'the executor does not start again'
# From the first start to the third there are pauses of 1 and 2 s.
passed=$(sql "SELECT extract(epoch FROM max(started_at) - min(started_at)) >= 3
    FROM (SELECT started_at FROM lockstep.executor WHERE executor_no > $known ORDER BY executor_no LIMIT 3) AS e")
expect 'pauses of 1 and 2 s' "$passed" t
sql 'DROP TRIGGER broken ON lockstep.queue'
# An executor that gets SIGTERM while a claim fails ends with that error, so first it works again.
eventually 60 is "SELECT count(*) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                  WHERE q.name = '$a' AND r.ended_at IS NULL" 0 || bad 'the executor does not work again'
ends
cases_end
exit $failed
