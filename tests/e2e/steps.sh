#!/bin/bash
# Tasks with steps: each step is a transaction of its own, recorded with its effect. A retry, an operator's or another
# executor's too, continues with the step that is not done. steps_kill.sh kills executors between them.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
sql <<'SQL'
CREATE TABLE effect (n int GENERATED ALWAYS AS IDENTITY, task text, step text, tx bigint DEFAULT txid_current());
CREATE TABLE broken (task text);
CREATE FUNCTION did(task text, step text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM broken b WHERE b.task = did.task || ' ' || did.step) THEN RAISE EXCEPTION 'not yet'; END IF;
    INSERT INTO effect (task, step) VALUES (did.task, did.step);
END $$;
CREATE FUNCTION once(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF nextval(what) = 1 THEN RAISE EXCEPTION 'the first time'; END IF;
END $$;
CREATE SEQUENCE first_b; CREATE SEQUENCE slow_b
SQL
effects() { sql "SELECT string_agg(step, ' ' ORDER BY n) FROM effect WHERE task = '$1'"; }
state() { sql "SELECT t.status, t.step, t.attempt_num, t.lost_num FROM lockstep.task t WHERE t.name = '$1'"; }
task_id() { sql "SELECT task_id FROM lockstep.task WHERE name = '$1'"; }
# task NAME STEPS [FIELDS]: STEPS is step=what, ...
task() {
    local steps
    steps=$(sed "s/\([a-z]*\)=\([^|]*\)|\?/{\"name\": \"\1\", \2}, /g; s/, \$//" <<<"$2")
    printf '{"order": %s, "name": "%s", "steps": [%s]%s}\n' "${order:-1}" "$1" "$steps" "${3:-}"
}
does() { printf '"sql": "SELECT did('"'%s', '%s'"')"' "$1" "$2"; }

sql "INSERT INTO broken VALUES ('stuck b')"
{
    b='"sql": ["INSERT INTO effect (task, step) VALUES ($1, '"'b1'"')", "SELECT did($1, $2)"]'
    task plain "a=$(does plain a)|b=$b, \"params\": [[\"plain\"], [\"plain\", \"b2\"]]|c=$(does plain c)"
    task fails "a=$(does fails a)|b=\"sql\": \"SELECT did('fails', 'b'); SELECT once('first_b')\"|c=$(does fails c)" \
        ', "max_attempts": 2, "retry_intervals": [0.05]'
    task stuck "a=$(does stuck a)|b=$(does stuck b)|c=$(does stuck c)" ', "max_attempts": 2, "retry_intervals": [0.05]'
    task refused "a=$(does refused a)|b=\"sql\": \"SELECT 1; COMMIT\"" ', "max_attempts": 5'
    task bare "a=$(does bare a)|b=\"sql\": \"VACUUM effect\", \"transaction\": false|c=$(does bare c)"
    a="\"sql\": [\"SELECT pg_sleep(4)\", \"SELECT did('slow', 'a')\"]"
    b="\"sql\": [\"SELECT did('slow', 'b')\", \"SELECT pg_sleep(CASE nextval('slow_b') WHEN 1 THEN 11 ELSE 1 END)\"]"
    task slow "a=$a|b=$b" ', "timeout": 12, "max_attempts": 2, "retry_intervals": [0.05]'
    a="\"sql\": \"SET work_mem = '77MB'; CREATE TEMP TABLE mine (a int); SELECT did('clean', 'a')\""
    b="concat('b ', current_setting('work_mem'), ' ', to_regclass('pg_temp.mine') IS NULL)"
    task clean "a=$a|b=\"sql\": \"SELECT did('clean', $b)\"" ', "max_attempts": 1'
    order=2 task after "a=$(does after a)"
} >"$tmp/tasks.jsonl"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --on-failure continue >/dev/null
case_begin 'each step is a transaction of its own, and the steps run in their order'
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 3
executors_wait || { cat "$tmp/$q".*.log; failed=1; }

expect 'the steps in their order' "$(effects plain)" 'a b1 b2 c'
expect 'a transaction for each step' \
    "$(sql "SELECT count(DISTINCT tx), count(DISTINCT tx) FILTER (WHERE step LIKE 'b%') FROM effect
        WHERE task = 'plain'")" '3|1'
expect 'a completed task' "$(state plain)" 'Completed|c|1|0'
expect 'it began with its first step' "$(sql "SELECT started_at < updated_at - interval '0.4 s', duration > '0.4 s'
    FROM lockstep.task WHERE name = 'slow'")" 't|t'
case_begin 'a retry continues with the step that failed'
expect 'a retry goes on with the step that failed' "$(effects fails) / $(state fails)" 'a b c / Completed|c|2|0'
expect 'an attempt tells where it failed' "$(sql "SELECT a.error, split_part(a.context, E'\n', 1)
    FROM lockstep.task_attempt a JOIN lockstep.task USING (task_id) WHERE name = 'fails'")" \
    'the first time|step "b" (2 of 3)'
expect 'no attempt is left' "$(effects stuck) / $(state stuck)" 'a / Failed|b|2|0'
case_begin 'a statement that is refused fails the task before its first step'
expect 'a statement that is refused stops the whole task before it begins' "$(effects refused) / $(state refused)" \
    ' / Failed||1|0'
expect 'it is told which' \
    "$(sql "SELECT context FROM lockstep.task_attempt JOIN lockstep.task USING (task_id) WHERE name = 'refused'")" \
    'step "b" (2 of 2)'
case_begin 'a step may be without a transaction, and finds a clean session'
expect 'a step without a transaction' "$(effects bare) / $(state bare)" 'a c / Completed|c|1|0'
expect 'a step finds a clean session' "$(effects clean)" "a b $(sql 'SHOW work_mem') t"
case_begin 'the time-out is for an attempt, and what is done stays done'
expect 'the time-out is for an attempt, and what is done stays done' "$(effects slow) / $(state slow)" \
    'a b / Completed|b|2|0'
case_begin 'the next phase waits for all steps, and task show names the step of a task'
expect 'the next phase waits for all steps' \
    "$(sql "SELECT min(n) FILTER (WHERE task = 'after') > max(n) FILTER (WHERE task <> 'after') FROM effect")" t
lockstep task show "$(task_id stuck)" >"$tmp/shown"
grep -q 'step.*b' "$tmp/shown" || wrong "task show does not name the step: $(cat "$tmp/shown")"

case_begin 'task retry and run retry continue with the step that is not done, and a replay of all begins with the first'
daemon() {
    "$LOCKSTEP_BIN-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
        2>>"$tmp/daemon.log" &
    daemon=$!
}
status_is() { is "SELECT status FROM lockstep.task WHERE name = '$1'" "$2"; }
daemon
lockstep task retry "$(task_id stuck)" -q >/dev/null
eventually 10 is \
    "SELECT count(*) FROM lockstep.task_attempt a JOIN lockstep.task USING (task_id) WHERE name = 'stuck'" 4
eventually 10 status_is stuck Failed
sql 'DELETE FROM broken'
eventually 10 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t
lockstep run retry "$run" -q >/dev/null
eventually 10 status_is stuck Completed
expect 'an operator has it go on' "$(effects stuck)" 'a b c'
eventually 10 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t
lockstep replay --queue "$q" --run "$run" --mode all --execute --reason again -q >/dev/null 2>"$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
eventually 15 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t
expect 'a replay of all begins with the first step' "$(effects stuck) / $(effects plain)" \
    'a b c a b c / a b1 b2 c a b1 b2 c'
told_to_end "$daemon"

case_begin 'a task that is cancelled between two steps begins no further step, and a retry continues behind it'
held() { # PROBE TASK: TASK waits there until its cancel was sent once; it is sent again when step "b" is next
    rm -rf "$tmp/hold" && mkdir "$tmp/hold"
    sql "DELETE FROM effect"
    LOCKSTEP_PROBE=$1=hold,stop.send=hold@2 LOCKSTEP_PROBE_DIR=$tmp/hold daemon
    run=$(lockstep publish --queue "$q" -q "$tmp/one.jsonl")
    eventually 10 test -f "$tmp/hold/$1.hit"
    eventually 10 status_is "$2" Processing
    lockstep task cancel "$(task_id "$2")" -q >/dev/null
    eventually 10 test -f "$tmp/hold/stop.send.hit"
    touch "$tmp/hold/$1.go"
    eventually 10 is "SELECT step FROM lockstep.task WHERE name = '$2'" b
    touch "$tmp/hold/stop.send.go"
    eventually 15 status_is "$2" Terminated
}
task one "a=$(does one a)|b=$(does one b)" >"$tmp/one.jsonl"
held block.ran one
expect 'the step that ran is done, the next one not' \
    "$(effects one) / $(sql "SELECT step FROM lockstep.task WHERE name = 'one'")" 'a / b'
eventually 10 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t
lockstep run explain "$run" >/dev/null
lockstep run retry "$run" -q >/dev/null
eventually 10 status_is one Completed
expect 'a retry goes on behind it' "$(effects one)" 'a b'
told_to_end "$daemon"

case_begin 'a step that has just begun is cancelled'
task two "a=$(does two a)|b=\"sql\": \"SELECT did('two', 'b'), pg_sleep(60)\"" >"$tmp/one.jsonl"
held step.done two
expect 'a step that has just begun is cancelled' \
    "$(effects two) / $(sql "SELECT step FROM lockstep.task WHERE name = 'two'")" 'a / b'
told_to_end "$daemon"
cases_end
exit $failed
