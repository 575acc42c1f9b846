#!/bin/bash
# A job is edited, disabled and deleted at every step of its firing, by the dispatcher and in the session of the tasks.
# The row of the job decides: a change that comes before it is locked is followed, one that comes later waits. There is
# one run or none, of one version whole, no time is lost, nothing is left of a deleted job, and the other jobs fire.
# ctest: slow nosan timeout=400 long
. "$(dirname "$0")/../support/e2e.bash"
tasks=$(scratch_name)_tasks
e2e_roles=("$tasks")
q=$(scratch_name)
sql <<SQL
CREATE ROLE $tasks LOGIN IN ROLE lockstep_task;
INSERT INTO lockstep.queue (name, topic) VALUES ('$q', '$q');
CREATE TABLE staging (id int PRIMARY KEY, batch uuid, version text);
GRANT SELECT, UPDATE ON staging TO $tasks;
-- A session that comes to the step in this table says so by a lock, and waits until it gets another one.
CREATE TABLE gate (step text);
GRANT SELECT ON gate TO PUBLIC;
CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
    IF EXISTS (SELECT FROM public.gate WHERE step = TG_ARGV[0]) THEN
        PERFORM pg_catalog.pg_advisory_lock_shared(4711, 2);
        WHILE NOT pg_catalog.pg_try_advisory_lock_shared(4711, 1) LOOP
            PERFORM pg_catalog.pg_sleep(0.02);
        END LOOP;
        PERFORM pg_catalog.pg_advisory_unlock_shared(4711, 1), pg_catalog.pg_advisory_unlock_shared(4711, 2);
    END IF;
    RETURN NEW;
END
\$\$;
CREATE TRIGGER gate BEFORE UPDATE ON staging FOR EACH STATEMENT EXECUTE FUNCTION gate('mark');
CREATE TRIGGER gate BEFORE INSERT ON lockstep.enqueued FOR EACH ROW EXECUTE FUNCTION gate('enqueued');
CREATE TRIGGER gate BEFORE INSERT ON lockstep.job_occurrence FOR EACH ROW EXECUTE FUNCTION gate('occurrence');
CREATE TRIGGER gate BEFORE INSERT ON lockstep.job_event FOR EACH ROW WHEN (NEW.event = 'fired')
EXECUTE FUNCTION gate('event');
CREATE TRIGGER gate BEFORE UPDATE ON lockstep.schedule FOR EACH ROW
WHEN (OLD.next_at <= now() AND NEW.next_at > now() AND NEW.is_active) EXECUTE FUNCTION gate('schedule');
CREATE CONSTRAINT TRIGGER gate_commit AFTER INSERT ON lockstep.job_occurrence DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION gate('commit');
CREATE FUNCTION clean() RETURNS void LANGUAGE sql AS \$\$
    DELETE FROM lockstep.job WHERE name = 'changed';
    DELETE FROM lockstep.enqueued;
    DELETE FROM staging;
    DELETE FROM lockstep.job_event;
    DELETE FROM lockstep.run;
    DELETE FROM lockstep.job_occurrence;
    UPDATE lockstep.schedule SET next_at = now() + interval '1 h', wake_at = now() + interval '1 h';
\$\$;
-- The runs of the job, as VERSIONxTASKS.
CREATE VIEW fired AS SELECT string_agg(v.version || 'x' || v.tasks, ' ') AS runs FROM (
    SELECT string_agg(DISTINCT substring(m, '(v[12])'), '+') AS version, count(*) AS tasks
    FROM lockstep.enqueued e, unnest(e.messages) AS m WHERE m LIKE '%SELECT ''v%' GROUP BY e.enqueue_id) AS v;
-- The other job has fired, and nothing of this one is left to be decided.
CREATE VIEW decided AS SELECT (SELECT count(*) = 1 FROM lockstep.job_log WHERE job = 'other' AND event = 'fired')
    AND NOT EXISTS (SELECT FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
                    WHERE j.name = 'changed' AND s.is_active AND j.spec ? 'schedules' AND s.wake_at <= now())
    AND (NOT EXISTS (SELECT FROM staging WHERE batch IS NULL)
         OR NOT EXISTS (SELECT FROM lockstep.job WHERE name = 'changed' AND enabled AND spec ? 'trigger'))
    AS is_decided;
-- Of the job, or without a run: how many, and how many of them have a run.
CREATE VIEW occurrences AS SELECT count(*) || ' ' || count(r.run_id) AS occurrences
    FROM lockstep.job_occurrence o LEFT JOIN lockstep.enqueued r USING (run_id)
    WHERE o.run_id IS NULL OR r.run_id IS NULL
       OR o.job_id IN (SELECT job_id FROM lockstep.job WHERE name = 'changed');
CREATE VIEW left_over AS SELECT FROM (
    SELECT job_id FROM lockstep.schedule UNION ALL SELECT job_id FROM lockstep.job_ask
    UNION ALL SELECT job_id FROM lockstep.job_occurrence) AS x
    WHERE job_id NOT IN (SELECT job_id FROM lockstep.job);
CREATE VIEW marked AS SELECT string_agg(DISTINCT s.version || ' ' || (e.run_id IS NOT NULL), ', ') AS versions
    FROM staging s LEFT JOIN lockstep.enqueued e ON e.run_id = s.batch;
SQL

# due in half an hour: not while the test runs
hourly='"schedules": [{"name": "s", "kind": "interval", "every": "1h", "phase": "'$((($(date +%s) + 1800) % 3600))'s"}]'
# template VERSION: v1 has one task, v2 two, of one phase each
template() {
    local one="{\"order\": 1, \"sql\": \"SELECT '$1'\"}"
    printf '{"job": "changed", "queue": "%s", "overlap": "allow", "tasks": [%s], %s}' "$q" \
        "$([ "$1" = v1 ] && echo "$one" || echo "$one, ${one/: 1/: 2}")" "$hourly"
}
# by_rows VERSION: the same by a query, with a trigger and its mark
by_rows() {
    printf '{"job": "changed", "queue": "%s", "overlap": "allow",
 "query": "SELECT n AS \\"order\\", '"'SELECT ''%s'''"' AS sql FROM generate_series(1, %s) AS n",
 "trigger": {"on": "public.staging", "pending": "batch IS NULL", "check_every": "1s", "threshold": 1,
             "mark": "UPDATE staging SET batch = ${run}, version = '"'%s'"' WHERE batch IS NULL"}}' \
        "$q" "$1" "${1#v}" "$1"
}
lockstep job apply - -q >/dev/null <<<"{\"job\": \"other\", \"queue\": \"$q\", \"overlap\": \"allow\",
 \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}], $hourly}"
due() { # JOB
    sql "UPDATE lockstep.schedule s SET next_at = clock_timestamp(), wake_at = clock_timestamp()
         FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = '$1'; NOTIFY lockstep_jobs, '$1'"
}
change() { # KIND CHANGE
    case $2 in
    edit) "$1" v2 | "$LOCKSTEP_BIN" job apply - -q -d "$db" -s "postgres.task_conninfo=$db user=$tasks" ;;
    disable) "$LOCKSTEP_BIN" job disable changed -q -d "$db" ;;
    delete) "$LOCKSTEP_BIN" job delete changed -q -d "$db" ;;
    esac >"$tmp/change" 2>&1 || return
    touch "$tmp/made"
}
held() {
    is "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND classid = 4711 AND objid = 2 AND granted
        AND $own_locks" t
}
# The change is made, or waits for the row of the job.
made_or_waits() {
    [ -e "$tmp/made" ] || is "SELECT count(*) > 0 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'" t
}
fired() { sql 'SELECT runs FROM fired'; }
decided() { is 'SELECT is_decided FROM decided' t; }
# step KIND STEP CHANGE EXPECTED: the firing is held at the step, the change comes, and the step is let go
step() {
    local kind=$1 at=$2 what=$3 point=${2%@*} holder dispatcher probe='' said wanted
    sql 'SELECT clean()' >/dev/null
    "$kind" v1 | lockstep job apply - -q -s "postgres.task_conninfo=$db user=$tasks" >/dev/null
    [ "$kind" = template ] || sql "INSERT INTO staging SELECT generate_series(1, 3)"
    due changed
    rm -f "$tmp"/*.hit "$tmp"/*.go "$tmp/made"
    case $at in
    *.*) probe=$point=hold${at#"$point"} ;;
    *)
        sql "INSERT INTO gate VALUES ('$at')"
        exec {holder}> >(exec psql -X -q -d "$db" >/dev/null)
        echo "SELECT pg_advisory_lock(4711, 1);" >&"$holder"
        eventually 20 is "SELECT count(*) FROM pg_locks
            WHERE locktype = 'advisory' AND classid = 4711 AND objid = 1 AND granted
            AND $own_locks" 1
        ;;
    esac
    LOCKSTEP_PROBE=$probe LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" scheduler run -d "$db" \
        -s "postgres.task_conninfo=$db user=$tasks" 2>"$tmp/scheduler.log" &
    dispatcher=$!
    if [ -n "$probe" ]; then eventually 30 [ -e "$tmp/$point.hit" ]; else eventually 30 held; fi ||
        { wrong "$kind, $at: the step is not come to: $(tail -3 "$tmp/scheduler.log")"; return; }
    change "$kind" "$what" &
    changer=$!
    eventually 30 made_or_waits || wrong "$kind, $what at $at: the change neither ends nor waits"
    sql 'DELETE FROM gate'
    due other
    if [ -n "$probe" ]; then touch "$tmp/$point.go"; else echo 'SELECT pg_advisory_unlock(4711, 1);' >&"$holder"; fi
    wait "$changer" || wrong "$kind, $what at $at: it is refused: $(cat "$tmp/change")"
    eventually 30 decided || wrong "$kind, $what at $at: it does not continue: $(tail -3 "$tmp/scheduler.log")"
    said=$(fired)
    expect "$kind, $what at $at: runs" "$said" "$4"
    # An occurrence for the run; for a time that was not fired one that is skipped; none of a job that is deleted.
    case $what:$kind:$said in
    delete:* | disable:by_rows:) wanted='0 0' ;;
    *:template:) wanted='1 0' ;;
    *) wanted='1 1' ;;
    esac
    expect "$kind, $what at $at: occurrences" "$(sql 'SELECT occurrences FROM occurrences')" "$wanted"
    expect "$kind, $what at $at: left over" "$(sql 'SELECT count(*) FROM left_over')" 0
    [ "$kind" = template ] ||
        expect "$kind, $what at $at: what is marked" "$(sql 'SELECT versions FROM marked')" "${4:+${4%x*} true}"
    told_to_end "$dispatcher"
    [ -n "$probe" ] || exec {holder}>&-
}
# The change comes before the row of the job is locked, or after it.
steps() { # KIND BEFORE|AFTER STEP...
    local kind=$1 when=$2 at
    shift 2
    for at in "$@"; do
        step "$kind" "$at" edit "$([ "$when" = before ] && echo v2x2 || echo v1x1)"
        step "$kind" "$at" disable "$([ "$when" = before ] || echo v1x1)"
        step "$kind" "$at" delete "$([ "$when" = before ] || echo v1x1)"
    done
}

case_begin 'a change that comes before the row of the job is locked is followed'
steps template before dispatch.send
case_begin 'a change that comes while the firing holds the row waits, and changes nothing of the run'
steps template after enqueued occurrence event schedule commit dispatch.done
case_begin 'a change that comes before the firing in the session of the tasks has locked the row is followed'
steps by_rows before dispatch.send ask.send ask.done ask.send@2 mark
case_begin 'a change that comes after it waits, and changes nothing of the run'
steps by_rows after enqueued occurrence event schedule commit ask.done@2
cases_end
exit $failed
