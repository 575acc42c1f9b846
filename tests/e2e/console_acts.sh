#!/bin/bash
# The actions of an operator in the console: each does the same as its command, once, and the event log has the login
# and the reason.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name)
acts=$(scratch_name)
publishes=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --max-attempts 1 --on-failure pause >/dev/null
person "$acts" 'lockstep_operator'
person "$publishes" 'lockstep_monitor, lockstep_producer'
lockstep executor run --queue "$q" --readers 3 >/dev/null 2>"$tmp/executor.log" &
running=$!
tasks=$(scratch_name)_tasks
e2e_roles+=("$tasks")
sql "CREATE ROLE $tasks LOGIN IN ROLE lockstep_task; CREATE TABLE staging (id int); GRANT SELECT ON staging TO $tasks"
console_start -s "kafka.bootstrap.servers=$LOCKSTEP_TEST_BROKERS" -s "postgres.task_conninfo=$db user=$tasks"
sign_in "$acts"
does() { # WHAT METHOD PATH BODY FILTER WANTED
    as "$2" "$3" "$4"
    expect "$1" "$status $(api_is "$5")" "200 $6"
}
logged() { # EVENT REASON [ACTOR]
    expect "$1 is logged" "$(sql "SELECT count(*) > 0 FROM lockstep.event_log
        WHERE event = '$1' AND actor = '${3:-$acts}' AND detail LIKE '%$2%'")" t
}

case_begin 'runs are paused, continued, cancelled and tried again'
lockstep queue pause "$q" -q
run=$(lockstep publish --queue "$q" -q - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1"}')
eventually 30 is "SELECT count(*) FROM lockstep.run WHERE run_id = '$run'" 1
does pause POST "api/v1/runs/$run/pause" '{"reason": "wait for it"}' .run_id "$run"
logged run_paused 'wait for it'
does resume POST "api/v1/runs/$run/resume" '{"reason": "here it is"}' '.run_id' "$run"
does queue POST "api/v1/queues/$q/resume" '{"reason": "go"}' '.queue' "$q"
ends() {
    eventually 30 is "SELECT status FROM lockstep.run WHERE run_id = '$1'" "$2" ||
        { lockstep run explain "$1"; tail "$tmp"/*.log; }
}
ends "$run" Completed
does 'pause a queue' POST "api/v1/queues/$q/pause" '{"reason": "night"}' '.queue' "$q"
does 'and again' POST "api/v1/queues/$q/resume" '{"reason": "day"}' '.queue' "$q"
failing=$(lockstep publish --queue "$q" -q - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1 / 0"}')
ends "$failing" Paused
task=$(sql "SELECT task_id FROM lockstep.task WHERE status = 'Failed'")
does 'task retry' POST "api/v1/tasks/$task/retry" '{"reason": "once more"}' '.task_id' "$task"
logged task_retried 'once more'
eventually 30 is "SELECT status FROM lockstep.task WHERE task_id = '$task'" Failed
does 'task complete' POST "api/v1/tasks/$task/complete" '{"reason": "by hand"}' '.status' Completed
as POST "api/v1/tasks/$task/complete" '{"reason": "again"}'
expect 'not twice' "$status" 409
as GET "api/v1/runs/$failing/attempts"
expect 'each of its attempts is there once' "$(api_is '.items[] | "\(.attempt) \(.status)"' | paste -sd,)" \
    '1 Failed,2 Failed'
does 'and without it on' POST "api/v1/runs/$failing/resume" '{"reason": "done by hand"}' .run_id "$failing"
ends "$failing" Completed

case_begin 'a run is tried again, its tasks are failed and cancelled, and one whose end never comes is closed'
failing=$(lockstep publish --queue "$q" -q - 2>/dev/null < <(
    printf '%s\n' '{"order": 1, "sql": "SELECT 1 / 0"}' '{"order": 2, "sql": "SELECT 2"}' \
        '{"order": 2, "sql": "SELECT 3"}'))
ends "$failing" Paused
does 'all that failed' POST "api/v1/runs/$failing/retry" '{"reason": "again"}' \
    '"\(.tasks) \(.phases) \(.order)"' '1 1 1'
ends "$failing" Paused
mapfile -t waits < <(sql "SELECT task_id FROM lockstep.task WHERE \"order\" = 2 ORDER BY task_id")
does 'task cancel' POST "api/v1/tasks/${waits[0]}/cancel" '{"reason": "not needed"}' .status Cancelled
does 'task fail' POST "api/v1/tasks/${waits[1]}/fail" '{"reason": "it is wrong"}' .status Failed
logged task_failed 'it is wrong'
does 'and the run' POST "api/v1/runs/$failing/cancel" '{"reason": "enough"}' .run_id "$failing"
endless=00000000-0000-4000-8000-000000000e4d
printf '{"run": "%s", "seq": 0, "previous_order": 0, "order": 1, "sql": "SELECT 1"}\n' "$endless" |
    kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0
eventually 30 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$endless' AND t.status = 'Completed'" 1
does 'its end' POST "api/v1/runs/$endless/end" '{"reason": "its producer is gone"}' '"\(.status) \(.unfinished)"' \
    'Failed 0'

case_begin 'several runs at once: what is not possible with one is said, and the others are done'
lockstep queue pause "$q" -q
one=$(lockstep publish --queue "$q" -q --name bulk - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1"}')
two=$(lockstep publish --queue "$q" -q --name bulk - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1"}')
eventually 30 is "SELECT count(*) FROM lockstep.run WHERE name = 'bulk'" 2
eventually 30 eval \
    '[ "$(sql "SELECT count(*) FROM lockstep.run WHERE name = '"'bulk'"' AND published_at IS NOT NULL")" = 2 ]'
does 'of the state that the list shows' POST api/v1/runs/actions \
    '{"action": "pause", "filter": {"name": "bulk", "status": "Published"}, "reason": "state"}' .done 2
does 'of no other' POST api/v1/runs/actions \
    '{"action": "resume", "filter": {"name": "bulk", "status": "Publishing"}, "reason": "state"}' .done 0
does 'by a part of an id, as the list finds it' POST api/v1/runs/actions \
    "{\"action\": \"resume\", \"filter\": {\"name\": \"${one:4:20}\"}, \"reason\": \"id\"}" .done 1
does 'by a time in a zone that PostgreSQL does not know' POST api/v1/runs/actions \
    '{"action": "cancel", "filter": {"name": "bulk", "since": "2108-09-28T19:53:53-22:56"}, "reason": "none"}' .done 0
does 'by ids' POST api/v1/runs/actions \
    "{\"action\": \"cancel\", \"runs\": [\"$one\", \"$run\"], \"reason\": \"bulk\"}" \
    '"\(.done) \(.refused[0].run_id)"' "1 $run"
does 'by a filter of time' POST api/v1/runs/actions \
    '{"action": "cancel", "filter": {"name": "bulk", "since": "2099-01-01T00:00:00Z"}, "reason": "none"}' .done 0
does 'by another' POST api/v1/runs/actions \
    '{"action": "cancel", "filter": {"name": "bulk", "until": "2001-01-01T00:00:00Z"}, "reason": "none"}' .done 0
does 'by filter' POST api/v1/runs/actions \
    "{\"action\": \"cancel\", \"filter\": {\"name\": \"bulk\", \"since\": \"2001-01-01T00:00:00Z\", \"until\": \"2099-01-01T00:00:00Z\"}, \"reason\": \"the rest\"}" \
    '"\(.done) \(.refused | length)"' '1 1'
expect 'both' "$(sql "SELECT bool_and(cancelled_at IS NOT NULL) FROM lockstep.run WHERE run_id IN ('$one', '$two')")" t
# Each run takes 0.7 s: three portions or more, each its own transaction, until about four seconds are over.
sql "CREATE FUNCTION lockstep.test_slow()
     RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN NEW; END';
     CREATE TRIGGER test_slow BEFORE INSERT ON lockstep.event_log FOR EACH ROW WHEN (NEW.event = 'run_cancelled')
     EXECUTE FUNCTION lockstep.test_slow()" >/dev/null
for ((i = 0; i < 12; i++)); do
    lockstep publish --queue "$q" -q --name slow - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1"}' >/dev/null
done
eventually 30 eval \
    '[ "$(sql "SELECT count(*) FROM lockstep.run WHERE name = '"'slow'"' AND published_at IS NOT NULL")" = 12 ]'
api POST api/v1/runs/actions '{"action": "cancel", "filter": {"name": "slow"}, "reason": "many"}' -b "$tmp/cookies" \
    -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: many'
first=$answer
expect 'answered, not timed out' "$status" 200
expect 'each is done, or left' "$(api_is '.done + (.left | length)') $(api_is '.refused | length')" '12 0'
expect 'some of both' "$(api_is '.done > 1 and (.left | length) > 0')" true
expect 'what is told is what is so' \
    "$(sql "SELECT count(*) FROM lockstep.run WHERE name = 'slow' AND cancelled_at IS NOT NULL")" "$(api_is .done)"
expect 'in several transactions' "$(sql "SELECT count(DISTINCT cancelled_at) > 1 FROM lockstep.run
    WHERE name = 'slow' AND cancelled_at IS NOT NULL")" t
api POST api/v1/runs/actions '{"action": "cancel", "filter": {"name": "slow"}, "reason": "many"}' -b "$tmp/cookies" \
    -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: many'
expect 'the key has the last answer, and nothing more is done' "$answer" "$first"
sql "CREATE OR REPLACE FUNCTION lockstep.test_slow()
    RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(20); RETURN NEW; END'" >/dev/null
as POST "api/v1/runs/$(jq -r '.left[0]' <<<"$first")/cancel" '{"reason": "slow"}'
expect 'what took too long says what to do' "$status $(api_is .hint | cut -d. -f 1)" \
    '504 Its transaction was rolled back'
sql 'DROP TRIGGER test_slow ON lockstep.event_log; DROP FUNCTION lockstep.test_slow()' >/dev/null
does 'what is left, asked for' POST api/v1/runs/actions \
    "$(jq -c '{action: "cancel", runs: .left, reason: "the rest"}' <<<"$first")" '"\(.done) \(.left | length)"' \
    "$(jq '.left | length' <<<"$first") 0"
for ((i = 0; i < 3; i++)); do
    stuck[i]=$(lockstep publish --queue "$q" -q --name stuck - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1"}')
done
eventually 30 eval \
    '[ "$(sql "SELECT count(*) FROM lockstep.run WHERE name = '"'stuck'"' AND published_at IS NOT NULL")" = 3 ]'
run_no=$(sql "SELECT run_no FROM lockstep.run WHERE run_id = '${stuck[1]}'")
sql "CREATE FUNCTION lockstep.test_slow()
     RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
     CREATE TRIGGER test_slow BEFORE INSERT ON lockstep.event_log FOR EACH ROW WHEN (NEW.run_no = $run_no)
     EXECUTE FUNCTION lockstep.test_slow()" >/dev/null
cancelled() { sql "SELECT count(*) FROM lockstep.run WHERE name = 'stuck' AND cancelled_at IS NOT NULL"; }
acts_on() { # RUNS
    as POST api/v1/runs/actions "$(jq -nc --argjson runs "$1" '{action: "cancel", $runs, reason: "one is slow"}')"
}
all_stuck=$(jq -nc '$ARGS.positional' --args "${stuck[@]}")
asked="SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
    AND query LIKE '%runs_act%' AND pid <> pg_backend_pid()"
curl -s -m 60 -o /dev/null -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Content-Type: application/json' \
    -d "$(jq -nc --argjson runs "$all_stuck" '{action: "cancel", $runs, reason: "a client that goes"}')" \
    "${url}api/v1/runs/actions" &
gone=$!
eventually 20 is "$asked AND wait_event = 'PgSleep'" 1
kill "$gone"
eventually 20 is "$asked" 0
expect 'of a client that has gone nothing is made' "$(cancelled)" 0
acts_on "$all_stuck"
expect 'those before one that takes too long are done' "$status $(api_is .done) $(cancelled)" '200 1 1'
expect 'it is left, with those behind it' "$(api_is '.left | join(" ")')" "${stuck[1]} ${stuck[2]}"
acts_on "$(api_is .left)"
expect 'as the first one it is refused' "$status $(api_is '.refused[0] | "\(.run_id) \(.detail): \(.hint)"')" \
    "200 ${stuck[1]} it takes longer than 5s: Use the command, which waits for it: lockstep run cancel ${stuck[1]}"
expect 'and is left no more' "$(api_is '.left | join(" ")')" "${stuck[2]}"
acts_on "$(api_is .left)"
expect 'the runs that were left are done' "$status $(api_is .done) $(cancelled)" '200 1 2'
sql 'DROP TRIGGER test_slow ON lockstep.event_log; DROP FUNCTION lockstep.test_slow()' >/dev/null
as POST api/v1/runs/actions '{"action": "cancel", "reason": "x"}'
expect 'none named' "$status" 400
as POST api/v1/runs/actions '{"action": "delete", "runs": [], "reason": "x"}'
expect 'no such action' "$status $(api_is .field)" '400 action'
lockstep queue resume "$q" -q

case_begin 'queues and executors are tuned while they run'
does readers PUT "api/v1/queues/$q/readers" '{"max_readers": 2, "reason": "calm"}' .max_readers 2
logged queue_changed 'max_readers 2: calm'
does policy PUT "api/v1/queues/$q/policy" '{"policy": {"on_failure": "continue", "lookahead": 4}, "reason": "x"}' \
    '"\(.on_failure) \(.lookahead) \(.runs)"' 'continue 4 serial'
for policy in '{"on_failure": "explode"}' '{"lookahead": 0}' '{"lookahead": "9999"}' '{"nonsense": 1}' \
    '{"runs": null}'; do
    as PUT "api/v1/queues/$q/policy" "{\"policy\": $policy, \"reason\": \"x\"}"
    expect "$policy" "$status" 400
done
events=$(sql 'SELECT count(*) FROM lockstep.event_log')
does 'the same readers' PUT "api/v1/queues/$q/readers" '{"max_readers": 2, "reason": "again"}' \
    '"\(.max_readers) \(.changed)"' '2 false'
does 'the same policy' PUT "api/v1/queues/$q/policy" '{"policy": {"on_failure": "continue"}, "reason": "again"}' \
    '"\(.on_failure) \(.lookahead) \(.changed)"' 'continue 4 false'
does 'continued again' POST "api/v1/queues/$q/resume" '{"reason": "again"}' '"\(.paused) \(.changed)"' 'false false'
expect 'nothing that is so already is an event' "$(sql 'SELECT count(*) FROM lockstep.event_log')" "$events"
as PUT api/v1/queues/nonsense/readers '{"max_readers": 2, "reason": "calm"}'
expect 'no such queue' "$status" 404
executor=$(sql 'SELECT executor_id FROM lockstep.executor WHERE ended_at IS NULL')
does 'readers of an executor' PUT "api/v1/executors/$executor/readers" '{"readers": 1, "reason": "x"}' \
    '"\(.executor_id) \(.changed)"' "$executor true"
events=$(sql 'SELECT count(*) FROM lockstep.event_log')
does 'so many again' PUT "api/v1/executors/$executor/readers" '{"readers": 1, "reason": "again"}' \
    '"\(.executor_id) \(.changed)"' "$executor false"
expect 'no event of it' "$(sql 'SELECT count(*) FROM lockstep.event_log')" "$events"
as PUT "api/v1/executors/$executor/readers" '{"readers": 1000, "reason": "x"}'
expect 'more than it has' "$((status >= 400 && status < 500))" 1

case_begin 'jobs are tested, fired, disabled and silenced'
lockstep job apply - \
    -q <<<"{\"job\": \"nightly\", \"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}], \"schedules\": [{\"name\": \"day\", \"kind\": \"interval\", \"every\": \"24h\"}]}" >/dev/null
does test POST api/v1/jobs/nightly/test '{}' '.items[0].would_fire' false
does run POST api/v1/jobs/nightly/run '{"reason": "now"}' '"\(.run_id | length) \(.requested)"' '36 false'
eventually 60 is 'SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL AND job_id IS NOT NULL' 0 # both ask then
later=$(date -u -d '400 days' +%FT%TZ)
as POST api/v1/jobs/nightly/test "{\"at\": \"$later\"}"
expect 'test at a time, as the command says' \
    "$status $(api_is '[.items[] | .verdict, .next_scheduled_run] | tostring')" \
    "200 $(lockstep job test nightly --at "$later" -o json | jq -c '[.[] | .verdict, .next_scheduled_run]')"
expect 'which is that time' "$(api_is "[.items[].next_scheduled_run | . == null or . > \"$later\"] | all")" true
as POST api/v1/jobs/nightly/disable '{"reason": "holiday", "version": 7}'
expect 'of another version' "$status" 409
does disable POST api/v1/jobs/nightly/disable '{"reason": "holiday", "version": 1}' .version 2
expect 'why' "$(sql "SELECT count(*) FROM lockstep.job_log
    WHERE job = 'nightly' AND message LIKE '%holiday%' AND source = '$acts'")" 1
does enable POST api/v1/jobs/nightly/enable '{"reason": "back"}' .version 3
lines=$(sql "SELECT count(*) FROM lockstep.job_log WHERE job = 'nightly'")
does 'enable once more' POST api/v1/jobs/nightly/enable '{"reason": "again"}' '"\(.version) \(.changed)"' '3 false'
expect 'no line of it' "$(sql "SELECT count(*) FROM lockstep.job_log WHERE job = 'nightly'")" "$lines"
does silence POST api/v1/jobs/nightly/silence "{\"until\": \"$(date -u -d '+1 hour' +%FT%TZ)\", \"reason\": \"disk\"}" \
    .job nightly
as POST api/v1/jobs/nightly/run '{"parameters": {"nonsense": 1}, "reason": "x"}'
expect 'an unknown parameter' "$((status >= 400 && status < 500))" 1
as POST api/v1/jobs/none/run '{"reason": "x"}'
expect 'an unknown job' "$status" 404

alert=$(sql "INSERT INTO lockstep.job_alert (job, kind, seen_at, last_seen_at, opened_at)
    VALUES ('nightly', 'late', now(), now(), now()) RETURNING alert_id")
does acknowledge POST "api/v1/alerts/$alert/ack" '{"reason": "seen"}' .acknowledged 1
lockstep job apply - -q >/dev/null <<END
{"job": "backup", "watch": true, "schedules": [{"name": "day", "kind": "interval", "every": "24h"}]}
END
does 'a watch reports' POST api/v1/ping/backup '{"status": "ok"}' '"\(.job) \(.status)"' 'backup ok'

case_begin 'a change with an Idempotency-Key is made once'
before=$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_changed'")
for _ in 1 2 3; do
    api PUT "api/v1/queues/$q/readers" '{"max_readers": 3, "reason": "once"}' -b "$tmp/cookies" \
        -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: one' >/dev/null
    expect 'the same answer' "$status $(api_is .max_readers)" '200 3'
done
expect 'one change' "$(($(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_changed'") - before))" 1
api PUT "api/v1/queues/$q/readers" '{"max_readers": 2, "reason": "other"}' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" \
    -H 'Idempotency-Key: one'
expect 'the key for another change' "$status" 409
api PUT "api/v1/queues/nonsense/readers" '{"max_readers": 2, "reason": "other"}' -b "$tmp/cookies" \
    -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: two'
expect 'refused' "$status" 404
api PUT "api/v1/queues/$q/readers" '{"max_readers": 2, "reason": "other"}' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" \
    -H 'Idempotency-Key: two'
expect 'what was refused leaves its key free' "$status" 200

sql <<'SQL' >/dev/null
CREATE SEQUENCE undone;
GRANT USAGE ON SEQUENCE undone TO PUBLIC;
CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('public.undone') % 3 <> 0 THEN RAISE 'made up' USING ERRCODE = '40P01'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER undo BEFORE UPDATE OF max_readers ON lockstep.queue FOR EACH STATEMENT EXECUTE FUNCTION undo()
SQL
for key in '' 'Idempotency-Key: undone'; do
    sql "ALTER SEQUENCE undone RESTART"
    api PUT "api/v1/queues/$q/readers" '{"max_readers": 1, "reason": "undone"}' -b "$tmp/cookies" \
        -H "X-CSRF-Token: $csrf" -H "$key"
    expect "a change that the server has undone is repeated: $key" "$status $(api_is .max_readers)" '200 1'
    as PUT "api/v1/queues/$q/readers" '{"max_readers": 2, "reason": "other"}'
done
expect 'and made once' "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_changed'
    AND detail LIKE '%undone'")" 2
sql 'DROP TRIGGER undo ON lockstep.queue; DROP FUNCTION undo(); DROP SEQUENCE undone' >/dev/null

for _ in 1 2; do
    api POST api/v1/tokens '{"name": "once", "role": "monitor", "days": 1, "reason": "x"}' -b "$tmp/cookies" \
        -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: three'
    [ -z "${secret:-}" ] || break
    secret=$(api_is .token)
    expect 'a token is made' "$status ${#secret}" '200 64'
done
expect 'and shown once' "$status $(api_is .code) $(grep -c "$secret" <<<"$answer") $(api_is '.hint | length > 0')" \
    '409 key 0 true'
expect 'it is kept nowhere' "$(sql "SELECT count(*) FROM lockstep.console_change c WHERE c.answer LIKE '%$secret%'")" 0
as DELETE api/v1/tokens/once '{"reason": "x"}'
unset secret

case_begin 'a producer publishes, an operator who is none does not'
tasks='{"name": "from the page", "tasks": [{"order": 1, "sql": "SELECT 1"}, {"order": 2, "sql": "SELECT 2"}]}'
as POST "api/v1/queues/$q/runs" "$tasks"
expect 'no producer' "$status $(api_is .hint)" "403 GRANT lockstep_producer TO $acts;"
sign_in "$publishes"
does publish POST "api/v1/queues/$q/runs" "$tasks" '.run_id | length' 36
published=$(api_is .run_id)
ends "$published" Completed
as POST "api/v1/queues/$q/runs" '{"tasks": [{"order": 1}]}'
expect 'a task that is wrong' "$((status >= 400 && status < 500)) $(api_is .detail | grep -c 'nothing to do')" '1 1'

case_begin 'a run with an id of the caller is published once, and a policy of its own goes with it'
own=$(cat /proc/sys/kernel/random/uuid)
once() { as POST "api/v1/queues/$q/runs" \
    "{\"run\": \"$own\", \"name\": \"once\", \"on_failure\": \"continue\", \"tasks\": [$1]}"; }
fails='{"order": 1, "sql": "SELECT 1 / 0"}, {"order": 2, "sql": "SELECT 2"}'
for _ in 1 2; do
    once "$fails"
    expect 'the run' "$status $(api_is .run_id)" "200 $own"
done
ends "$own" PartiallyCompleted
once "$fails"
expect 'when it has ended, too' "$status $(api_is .run_id)" "200 $own"
expect 'it has run once' "$(sql "SELECT count(*) || ' ' || sum(tasks) FROM lockstep.run WHERE name = 'once'")" '1 2'
once '{"order": 1, "sql": "SELECT 1"}'
expect 'another content' "$status $(api_is .code) $(api_is .hint | grep -c "lockstep run show $own")" '409 LS002 1'
as POST "api/v1/queues/$q/runs" '{"run": "7", "tasks": [{"order": 1, "sql": "SELECT 1"}]}'
expect 'no id' "$status $(api_is .field)" '400 run'
as POST "api/v1/queues/$q/runs" '{"on_failure": "explode", "tasks": [{"order": 1, "sql": "SELECT 1"}]}'
expect 'no policy' "$status $(api_is .field)" '400 on_failure'
own=$(cat /proc/sys/kernel/random/uuid)
lockstep queue pause "$q" -q
for _ in 1 2 3 4 5 6; do
    curl -s -m 30 -o /dev/null -w '%{http_code}\n' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" \
        -H 'Content-Type: application/json' \
        -d "{\"run\": \"$own\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}" "${url}api/v1/queues/$q/runs" &
done >"$tmp/at_once"
eventually 30 eval '[ "$(wc -l <"$tmp/at_once")" = 6 ]'
expect 'six at once' "$(sort -u "$tmp/at_once") $(sql "SELECT count(*) FROM lockstep.run WHERE run_id = '$own'")" \
    '200 1'
lockstep queue resume "$q" -q
ends "$own" Completed

case_begin 'tasks come as JSON Lines, too, and a line that is wrong is named'
lines() {
    api POST "api/v1/queues/$q/runs?$1" '' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" \
        -H 'Content-Type: application/jsonl' --data-binary "$2"
}
lines name=lines $'{"order": 1, "sql": "SELECT 1"}\n\n{"order": 2, "sql": "SELECT 2"}\n'
expect 'published' "$status $(api_is '.run_id | length')" '200 36'
ends "$(api_is .run_id)" Completed
expect 'its name and tasks' "$(sql "SELECT name || ' ' || completed FROM lockstep.run_status WHERE name = 'lines'")" \
    'lines 2'
lines '' $'{"order": 1, "sql": "SELECT 1"}\n{"order": 2'
expect 'half a line' "$status $(api_is .field) $(api_is .detail | grep -c '^line 2: ')" '400 tasks 1'
for none in '' $'\n\n'; do
    lines '' "$none"
    expect 'no task' "$status $(api_is '.field, .detail, .hint' | paste -sd,)" \
        '400 tasks,the body has no task,Each line is a JSON object.'
done
lines 'nonsense=1' '{"order": 1, "sql": "SELECT 1"}'
expect 'an unknown parameter' "$status $(api_is .field)" '400 nonsense'

case_begin 'a rejected message is redriven, corrected, once; a preview changes nothing'
rejected=$(sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT queue_id, 100000, 'bad_field', 'd', '{\"order\": 7, \"sgl\": \"SELECT 1\", \"seq\": 3}' FROM lockstep.queue
    RETURNING rejected_id")
person "${acts}_all" 'lockstep_operator, lockstep_producer'
sign_in "${acts}_all"
api POST "api/v1/runs/actions" '' -b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Content-Type: application/jsonl' \
    --data-binary '{}'
expect 'where no tasks are taken' "$status" 415
lockstep console openapi >"$tmp/openapi"
expect 'what stands in the address, then' "$(jq -r '.paths["/queues/{queue}/runs"].post.parameters |
    map(select(.in == "query") | "\(.name) \(.required) \(.description | endswith("; with application/jsonl only"))") |
    join(", ")' "$tmp/openapi")" 'name false true, run false true, on_failure false true'
as POST "api/v1/rejected/$rejected/redrive" '{"reason": "as it is", "preview": true}'
expect 'as it is' "$status $(api_is '.detail, .code' | paste -sd' ') $(api_is .hint | grep -c value)" \
    '409 $.sgl is not a field of a message; did you mean sql? bad_field 1'
as POST "api/v1/rejected/$rejected/redrive" '{"reason": "x", "value": "{"}'
expect 'no JSON' "$status $(api_is '.field, (.hint | length > 0)' | paste -sd' ')" '400 value true'
# PostgreSQL takes these; an executor would reject them again.
for value in '{"order": 1, "sql": "SELECT 1", "max_attempts": 1.0e0}' '{"order": 1, "order": 2, "sql": "SELECT 1"}' \
    '{"order": 1, "sql": "SELECT 1", "retry_on": ["nonsense"]}' \
    '{"order": 1, "sql": "SELECT 1", "not_before": "2026-02-31T00:00:00Z"}'; do
    as POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", \"value\": $(jq -Rn --arg v "$value" '$v')}"
    expect "the codec refuses $value" "$status $(api_is .field)" '400 value'
done
expect 'nothing was published' "$(sql "SELECT count(*) FROM lockstep.run WHERE name = 'redrive'")" 0
right='"value": "{\"order\": 7, \"sql\": \"SELECT 1\", \"seq\": 3}"'
does preview POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", $right, \"preview\": true}" \
    '"\(.preview) \(.order) \(.task.seq)"' 'true 7 null'
expect 'nothing was done' \
    "$(sql "SELECT redrive_run IS NULL AND redrive_noted IS NULL FROM lockstep.rejected_message
            WHERE rejected_id = $rejected")" t
does redrive POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"corrected\", $right}" '.messages' 1
again=$(api_is .run_id)
ends "$again" Completed
expect 'by whom' "$(sql "SELECT redrive_run = '$again' AND redriven_at IS NOT NULL AND redriven_by = '${acts}_all'
    FROM lockstep.rejected_message WHERE rejected_id = $rejected")" t
as POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", $right}"
expect 'once' "$status $(api_is '.hint')" '409 If it is meant once more, say again: true.'
as POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", $right, \"preview\": true}"
expect 'nor does a preview show it' "$status $(api_is '.hint')" '409 If it is meant once more, say again: true.'
does 'but again' POST "api/v1/rejected/$rejected/redrive" \
    "{\"reason\": \"x\", $right, \"preview\": true, \"again\": true}" .preview true
does 'or again' POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", $right, \"again\": true}" '.messages' 1
as POST api/v1/rejected/999999/redrive '{"reason": "x"}'
expect 'none such' "$status" 404
sign_in "$publishes"
as POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", $right}"
expect 'no operator' "$status" 403

case_begin 'a message that a command is about to redrive is left to it, until that command has ended'
sign_in "${acts}_all"
another=$(sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT queue_id, 100001, 'bad_field', 'd', '{\"order\": 7, \"sql\": \"SELECT 1\", \"seq\": 3}'
    FROM lockstep.queue WHERE name = '$q' RETURNING rejected_id")
session_open "SELECT pg_advisory_lock(lockstep.lock_class('producer'), queue_id)
              FROM lockstep.queue WHERE name = '$q'" \
    "SELECT lockstep.redrive_begin(queue_id, ARRAY[$another], gen_random_uuid(), false, 'x', true)
     FROM lockstep.queue WHERE name = '$q'"
eventually 20 is "SELECT redrive_noted IS NOT NULL FROM lockstep.rejected_message WHERE rejected_id = $another" t
noted=$(sql "SELECT redrive_noted FROM lockstep.rejected_message WHERE rejected_id = $another")
as POST "api/v1/rejected/$another/redrive" "{\"reason\": \"x\", $right}"
expect 'while it is at work' "$status $(api_is .hint)" \
    "409 Try again: a producer is at work. If it makes the run: lockstep run show $noted"
as POST "api/v1/rejected/$another/redrive" "{\"reason\": \"x\", $right, \"preview\": true}"
expect 'nor is there a preview' "$status $(api_is .hint)" \
    "409 Try again: a producer is at work. If it makes the run: lockstep run show $noted"
session_close
eventually 20 session_gone
previewed_now() {
    as POST "api/v1/rejected/$another/redrive" "{\"reason\": \"x\", $right, \"preview\": true}"
    [ "$status" = 200 ]
}
eventually 20 previewed_now || echo "a preview after its end: $status $answer"
expect 'it changes nothing' \
    "$(sql "SELECT redrive_noted FROM lockstep.rejected_message WHERE rejected_id = $another")" "$noted"
# The relay holds the producers' lock, too, while it sends what was enqueued before.
redriven_now() { as POST "api/v1/rejected/$another/redrive" "{\"reason\": \"x\", $right}"; [ "$status" = 200 ]; }
eventually 20 redriven_now || echo "after its end: $status $answer"
expect 'after its end' "$status $(api_is .messages)" '200 1'

case_begin 'a message whose run a command had begun, before it was killed, is free when that run is closed'
# No executor serves this queue: the relay of one would take over from the command.
alone=$(scratch_name)
lockstep queue create "$alone" -q --create-topic
begun=$(sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT queue_id, 1, 'out_of_range', 'd', '{\"order\": 7, \"sql\": \"SELECT 1\", \"seq\": 3}'
    FROM lockstep.queue WHERE name = '$alone' RETURNING rejected_id")
status=0
LOCKSTEP_PROBE=publish.started=kill "${LOCKSTEP_BIN}-probed" rejected redrive "$begun" -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" --reason killed -q >/dev/null 2>&1 || status=$?
expect 'the command was killed' "$status" 137
noted=$(sql "SELECT redrive_noted FROM lockstep.rejected_message WHERE rejected_id = $begun")
# The backend of the killed command ends a moment after it, and the lock with it.
refused_with() {
    as POST "api/v1/rejected/$begun/redrive" "{\"reason\": \"x\", $right, \"preview\": $1}"
    [ "$status $(api_is .hint)" = "409 $2" ]
}
closes="Close this run, whose producer is gone, and try again: lockstep run end $noted"
eventually 20 refused_with false "$closes" || wrong "$status $answer"
refused_with true "$closes" || wrong "a preview: $status $answer"
read -ra helps <<<"${closes#*again: }"
"${helps[@]}" -q >/dev/null || wrong "${helps[*]}"
does 'then it is redriven' POST "api/v1/rejected/$begun/redrive" "{\"reason\": \"x\", $right}" '.messages' 1
does 'and the queue goes' DELETE "api/v1/queues/$alone" '{"reason": "x"}' .queue "$alone"

case_begin 'a message whose run a command had made, before it was killed, was redriven'
third=$(sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw, redrive_noted)
    SELECT queue_id, 100002, 'out_of_range', 'd', '{\"order\": 7, \"sql\": \"SELECT 1\", \"seq\": 3}', '$again'
    FROM lockstep.queue WHERE name = '$q' RETURNING rejected_id")
expect 'the view says so' \
    "$(sql "SELECT redrive_run, redriven_at IS NOT NULL, redrive_noted IS NULL FROM lockstep.rejected
            WHERE rejected_id = $third")" "$again|t|t"
as POST "api/v1/rejected/$third/redrive" "{\"reason\": \"x\", $right}"
expect 'so it is refused' "$status $(api_is .hint)" '409 If it is meant once more, say again: true.'
as POST api/v1/rejected/redrive "{\"reason\": \"x\", \"filter\": {\"reason_is\": \"out_of_range\"}}"
expect 'a filter leaves it out' "$status $(api_is '.detail // .messages')" '409 there is nothing to redrive'
does 'once more' POST "api/v1/rejected/$third/redrive" "{\"reason\": \"x\", $right, \"again\": true}" '.messages' 1

case_begin 'several rejected messages are redriven as one run, corrected or as they are: all of them or none'
sign_in "${acts}_all"
sql <<SQL >/dev/null
INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
SELECT queue_id, 200000 + n, 'hole', 'd', convert_to(m, 'UTF8') FROM lockstep.queue, unnest(ARRAY[
    '{"run": "$run", "seq": 4, "order": 20, "sql": "SELECT 20"}', '{"order": 10, "sql": "SELECT 10"}',
    '{"type": "end", "run": "$run", "seq": 5, "tasks": 5, "phases": 1}', '{"order": 30, "sgl": "SELECT 30"}', NULL])
    WITH ORDINALITY AS t (m, n) WHERE name = '$q'
SQL
read -r first second end wrong none < <(sql "SELECT string_agg(rejected_id::text, ' ' ORDER BY kafka_offset)
    FROM lockstep.rejected_message WHERE reason = 'hole'")
many() { as POST api/v1/rejected/redrive "{\"reason\": \"${2:-x}\", $1}"; }
redriven() { sql "SELECT count(*) FROM lockstep.rejected_message WHERE reason = 'hole' AND redrive_run IS NOT NULL"; }
holes='"filter": {"reason_is": "hole"}'
many "$holes"
expect 'one that is wrong' "$status $(api_is .code) $(api_is .detail | cut -d: -f 1)" \
    "409 bad_field rejected message $wrong"
many "\"messages\": [{\"rejected_id\": $first}, {\"rejected_id\": $none}]"
expect 'one without a text' "$status $(api_is .detail)" "409 rejected message $none: it has no text"
many "\"messages\": [{\"rejected_id\": $end}]"
expect 'nothing but an end' "$status $(api_is .detail)" '409 there is nothing to redrive'
many "\"messages\": [{\"rejected_id\": $first}, {\"rejected_id\": 999999}]"
expect 'one that there is not' "$status $(api_is .detail)" '404 there is no rejected message 999999'
for odd in '[]' '[{}]' '[{"rejected_id": "1"}]' '[{"rejected_id": 1.5}]' \
    "[{\"rejected_id\": $first, \"valeu\": \"x\"}]" \
    "[{\"rejected_id\": $first}, {\"rejected_id\": $first}]" "[{\"rejected_id\": $first, \"value\": 7}]"; do
    many "\"messages\": $odd"
    expect "$odd" "$status $(api_is .field)" '400 messages'
done
many "$holes, \"messages\": [{\"rejected_id\": $first}]"
expect 'both' "$status" 400
many '"filter": {"queue": "none"}'
expect 'none that match' "$status $(api_is .detail)" '409 there is nothing to redrive'
many '"filter": {"reason": "hole"}'
expect 'an unknown filter' "$status $(api_is .field)" '400 reason'
corrected="\"messages\": [{\"rejected_id\": $first}, {\"rejected_id\": $second}, {\"rejected_id\": $end},
    {\"rejected_id\": $wrong, \"value\": \"{\\\"order\\\": 5, \\\"sql\\\": \\\"SELECT 5\\\"}\"}]"
many "$corrected, \"preview\": true"
expect 'a preview' "$status $(api_is '[.preview, .queue, .messages, .ends] | tostring')" "200 [true,\"$q\",3,1]"
expect 'nothing was done' "$(redriven)" 0
many "$corrected" 'the phase before is loaded'
expect 'redriven' "$status $(api_is '[.queue, .messages, .ends] | tostring')" "200 [\"$q\",3,1]"
ends "$(api_is .run_id)" Completed
expect 'in the order of their phases' "$(sql "SELECT string_agg(t.\"order\"::text, ' ' ORDER BY t.task_id)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$(api_is .run_id)'")" '5 10 20'
expect 'and noted' "$(redriven)" 3
logged messages_redriven 'the phase before is loaded' "${acts}_all"
many "\"messages\": [{\"rejected_id\": $second}]"
expect 'once' "$status $(api_is .hint)" '409 If it is meant once more, say again: true.'
many "\"messages\": [{\"rejected_id\": $second}], \"preview\": true"
expect 'nor does a preview show it' "$status $(api_is .hint)" '409 If it is meant once more, say again: true.'
many "\"messages\": [{\"rejected_id\": $second}], \"again\": true"
expect 'or again' "$status $(api_is .messages)" '200 1'
sign_in "$acts"
many "\"messages\": [{\"rejected_id\": $second}], \"again\": true"
expect 'an operator is no producer' "$status $(api_is .hint)" "403 GRANT lockstep_producer TO $acts;"
sign_in "$publishes"

case_begin 'a part of the topic is replayed as lockstep replay does it: first a preview'
sign_in "${acts}_all"
does preview POST api/v1/replay \
    "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$published\", \"reason\": \"look\", \"preview\": true}" \
    '"\(.preview) \(.counts.run_again) \(.replay_id)"' 'true 2 null'
does 'a run in capitals' POST api/v1/replay \
    "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"${published^^}\", \"reason\": \"look\", \"preview\": true}" \
    .counts.run_again 2
expect 'nothing was done' "$(sql 'SELECT count(*) FROM lockstep.replay')" 0
expect 'as the command says' "$(api_is '[.lines[] | "\(.action) \(.why) \(.messages)"] | join(",")')" \
    "$(lockstep replay --queue "$q" --mode all --run "$published" -q -o json |
        jq -r '[.[] | "\(.action) \(.why) \(.messages)"] | join(",")')"
does replay POST api/v1/replay \
    "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$published\", \"reason\": \"once more\"}" \
    '"\(.counts.run_again) \(.replay_id > 0)"' '2 true'
expect 'by whom and why' "$(sql "SELECT started_by || ': ' || reason || ', ' || state FROM lockstep.replay")" \
    "${acts}_all: once more, Completed"
eventually 30 eval \
    '[ "$(sql "SELECT min(attempt_num) FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '"'$published'"' AND t.status = '"'Completed'"'")" -ge 2 ]'
long=$(for order in 1 2 3 4; do echo "{\"order\": $order, \"sql\": \"SELECT 1\"}"; done |
    lockstep publish --queue "$q" -q - 2>/dev/null)
ends "$long" Completed
lockstep queue set "$q" --lookahead 1 -q
lockstep queue pause "$q" -q
again="{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$long\", \"reason\": \"no room\"}"
as POST api/v1/replay "$again"
held=$(sql "SELECT replay_id FROM lockstep.replay WHERE reason = 'no room' AND state = 'Running'")
expect 'one that waits for a queue that is paused is interrupted' "$status $(api_is .detail)" \
    '409 the replay is interrupted: enough phases wait to be opened; the queue is paused'
expect 'the hint says how the replay continues' "$(api_is .hint)" \
    "Its steps so far are done. The same request continues it, or one with \"resume\": $held."
lockstep queue resume "$q" -q
does 'and the same request continues it' POST api/v1/replay "$again" .replay_id "$held"
lockstep queue set "$q" --lookahead 8 -q
ends "$long" Completed
expect 'all is run again, once' "$(sql "SELECT DISTINCT t.attempt_num
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$long'")" 2
again="{\"queue\": \"$q\", \"mode\": \"all\", \"reason\": \"to the end\", \"from\": $(
    sql "SELECT first_offset FROM lockstep.run WHERE run_id = '$long'")}"
lockstep queue set "$q" --lookahead 1 -q
lockstep queue pause "$q" -q
as POST api/v1/replay "$again"
expect 'a range to the end' "$status" 409
beyond=$(lockstep publish --queue "$q" -q - 2>/dev/null <<<'{"order": 1, "sql": "SELECT 1"}')
lockstep queue resume "$q" -q
does 'one that ends before the end that is asked for now says so' POST api/v1/replay "$again" '.wanted > .to' true
lockstep queue set "$q" --lookahead 8 -q
ends "$long" Completed
ends "$beyond" Completed
sql "CREATE TABLE takes (seconds int); INSERT INTO takes VALUES (0)"
slow=$(for order in 1 2 3; do echo "{\"order\": $order, \"sql\": \"SELECT pg_sleep(seconds) FROM takes\"}"; done |
    lockstep publish --queue "$q" -q - 2>/dev/null)
ends "$slow" Completed
lockstep queue set "$q" --lookahead 1 -q
sql 'UPDATE takes SET seconds = 7'
does 'a replay that waits for executors at work continues until it ends' POST api/v1/replay \
    "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$slow\", \"reason\": \"slow\"}" .counts.run_again 3
sql 'UPDATE takes SET seconds = 0'
lockstep queue set "$q" --lookahead 8 -q
ends "$slow" Completed
barred=$(lockstep publish --queue "$q" -q - 2>/dev/null < <(
    printf '%s\n' '{"order": 1, "sql": "SELECT 1"}' '{"order": 2, "sql": "SELECT pg_sleep(600)"}'))
eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
as POST api/v1/replay "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$barred\", \"reason\": \"barred\"}"
held=$(sql "SELECT replay_id FROM lockstep.replay WHERE reason = 'barred' AND state = 'Running'")
expect 'the hint says how a replay that a later phase refuses continues' "$status $(api_is .hint)" \
    "409 Its steps so far are done. The same request continues it, or one with \"resume\": $held."
as POST "api/v1/replays/$held/abandon" '{"reason": "x"}'
does 'its run is cancelled' POST "api/v1/runs/$barred/cancel" '{"reason": "x"}' .run_id "$barred"
ends "$barred" Cancelled
lockstep queue create "${q}_halted" -q --topic "$q"
sql "UPDATE lockstep.queue SET halted_reason = 'topic_deleted', halted_at = now() WHERE name = '${q}_halted'"
as POST api/v1/replay "{\"queue\": \"${q}_halted\", \"from\": 0, \"reason\": \"halted\"}"
expect 'of a queue that is halted' "$status $(api_is .hint) $(grep -ci '^retry-after' "$tmp/headers")" \
    "409 To see the cause and the remedy: lockstep queue explain ${q}_halted 0"
lockstep queue delete "${q}_halted" --yes -q >/dev/null
does 'a range' POST api/v1/replay \
    "{\"queue\": \"$q\", \"from\": 0, \"to\": \"2001-01-01T00:00:00Z\", \"reason\": \"x\", \"preview\": true}" \
    '.counts.run_again' 0
for wrong in '"from": 0, "run": "'"$published"'"' '"from": -1' '"from": "soon"' '"mode": "some", "from": 0' \
    '"to": 7' '"run": "'"$published"'", "order": -1'; do
    as POST api/v1/replay "{\"queue\": \"$q\", \"reason\": \"x\", $wrong}"
    expect "$wrong" "$status" 400
done
as POST api/v1/replay "{\"queue\": \"none\", \"from\": 0, \"reason\": \"x\"}"
as POST api/v1/replay \
    "{\"queue\": \"$q\", \"run\": \"00000000-0000-4000-8000-000000000000\", \"reason\": \"x\", \"preview\": true}"
expect 'no such run' "$status $(api_is .hint)" '404 See: lockstep run list'
as POST api/v1/replay "{\"queue\": \"none\", \"from\": 0, \"reason\": \"x\"}"
expect 'no such queue' "$status $(api_is .hint)" '404 GET api/v1/queues lists what there is.'
sign_in "$acts"
as POST api/v1/replay "{\"queue\": \"$q\", \"from\": 0, \"reason\": \"x\"}"
expect 'who is no producer may not' "$status" 403
replay=$(sql "INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason)
    SELECT queue_id, 'all', 0, 1, 0, 'interrupted' FROM lockstep.queue WHERE name = '$q' RETURNING replay_id")
as POST "api/v1/replays/$replay/abandon" '{"reason": "x"}'
expect 'nor give one up' "$status $(api_is .hint)" "403 GRANT lockstep_producer TO $acts;"
sign_in "${acts}_all"
does 'one that was interrupted is given up' POST "api/v1/replays/$replay/abandon" '{"reason": "not needed"}' \
    '"\(.replay_id) \(.abandoned)"' "$replay true"
expect 'it is' "$(sql "SELECT state FROM lockstep.replay WHERE replay_id = $replay")" Abandoned
as POST "api/v1/replays/$replay/abandon" '{"reason": "again"}'
expect 'not twice' "$status $(api_is '.hint | length > 0')" '409 true'
as POST api/v1/replays/999999/abandon '{"reason": "x"}'
expect 'no such replay' "$status" 404
sign_in "$acts"

case_begin 'a job is made, changed and deleted; a dry run changes nothing'
definition="{\"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}], \"schedules\": [{\"name\": \"day\", \"kind\": \"interval\", \"every\": \"24h\"}]}"
does 'a dry run' PUT api/v1/jobs/made "{\"definition\": $definition, \"dry_run\": true}" '"\(.action) \(.dry_run)"' \
    'create true'
expect 'nothing was made' "$(sql "SELECT count(*) FROM lockstep.job WHERE name = 'made'")" 0
does make PUT api/v1/jobs/made "{\"definition\": $definition, \"reason\": \"new\"}" '"\(.action) \(.version)"' \
    'create 1'
does 'the same again' PUT api/v1/jobs/made "{\"definition\": $definition}" '"\(.action) \(.version)"' 'unchanged 1'
does 'the same with its defaults' PUT api/v1/jobs/made \
    "{\"definition\": ${definition/\"name\"/\"enabled\": true, \"name\"}}" '"\(.action) \(.version)"' 'unchanged 1'
does 'and with those of the job' PUT api/v1/jobs/made \
    "{\"definition\": ${definition/\"tasks\"/\"enabled\": true, \"tasks\"}}" '"\(.action) \(.version)"' 'unchanged 1'
does change PUT api/v1/jobs/made "{\"definition\": ${definition/24h/12h}, \"version\": 1}" '"\(.action) \(.version)"' \
    'change 2'
as PUT api/v1/jobs/made "{\"definition\": ${definition/24h/6h}, \"version\": 1}"
expect 'somebody was quicker' "$status" 409
as PUT api/v1/jobs/made "{\"definition\": ${definition/24h/often}}"
expect 'what job apply refuses' "$status $(api_is '.field, .detail' | paste -sd'|')" \
    '400 every|job made, schedule day: every: "often" is not a length of time'
as PUT api/v1/jobs/made "{\"definition\": {\"job\": \"other\"}}"
expect 'another name' "$status" 400
does backfill POST api/v1/jobs/made/backfill \
    '{"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "dry_run": true, "reason": "x"}' '.items | length' 2
does 'backfill it is' POST api/v1/jobs/made/backfill \
    '{"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T12:00:00Z", "reason": "x"}' \
    '.items[0] | "\(.action) \(.run_id | length)"' 'fire 36'
as POST api/v1/jobs/made/backfill '{"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z", "reason": "x"}'
expect 'a range that ends before it begins' "$status $(api_is '.field, .detail' | paste -sd'|')" \
    '400 to|to: it is not after from'
does 'no firing waits' DELETE api/v1/jobs/made/requests '{"reason": "x"}' .withdrawn 0
sql "CREATE FUNCTION public.busy() RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE SQLSTATE ''40001''; END'" # tried again
sql "SELECT lockstep.job_define('{\"job\": \"asks\", \"queue\": \"$q\", \"enabled\": false,
    \"query\": \"SELECT public.busy() AS order, ''SELECT 1'' AS sql\",
    \"schedules\": [{\"name\": \"day\", \"kind\": \"interval\", \"every\": \"24h\"}]}')" >/dev/null
does 'backfill of a job with a query' POST api/v1/jobs/asks/backfill \
    '{"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z", "reason": "x"}' \
    '.items | map(.action) | unique | join(" ")' request
does 'its run by hand' POST api/v1/jobs/asks/run '{"reason": "now"}' .requested true
as POST api/v1/jobs/asks/run '{"reason": "again"}'
expect 'once' "$status $(api_is .hint)" \
    '409 Wait for its end, or withdraw it: lockstep job withdraw asks'
does 'all of it is withdrawn' DELETE api/v1/jobs/asks/requests '{"reason": "not needed"}' .withdrawn 3
does 'and nothing left' DELETE api/v1/jobs/asks/requests '{"reason": "not needed"}' .withdrawn 0
does delete DELETE api/v1/jobs/made '{"reason": "not needed"}' .deleted true
expect 'why' \
    "$(sql "SELECT string_agg(message, '; ' ORDER BY job_event_id) LIKE '%version 1: new%deleted: not needed%'
        FROM lockstep.job_event WHERE job = 'made'")" t

case_begin 'SQL of a job is tried as the login of the tasks, as job apply does it, before it is stored'
tries() { # QUERY
    as PUT api/v1/jobs/tried "{\"definition\": {\"queue\": \"$q\", \"query\": \"$1\"}}"
}
tries 'SELECT 1 AS \"order\", note AS sql FROM staging'
expect 'a column that there is not' \
    "$status $(api_is '.field, .code, .detail' | paste -sd'|') $(api_is .hint | grep -c task_conninfo)" \
    '400 tried: query|42703|column "note" does not exist 1'
tries 'SELECT 1 AS \"order\", detail AS sql FROM lockstep.event_log'
expect 'what that login may not read' "$status $(api_is '.field, .code' | paste -sd'|')" '400 tried: query|42501'
expect 'nothing was made' "$(sql "SELECT count(*) FROM lockstep.job WHERE name = 'tried'")" 0
tries 'SELECT id AS \"order\", $$SELECT 1$$ AS sql FROM staging'
expect 'what it may' "$status $(api_is .action)" '200 create'
sql <<'SQL' >/dev/null
INSERT INTO lockstep.schedule (job_id, name, spec, rows_rule, look, is_active, misfire, catchup_window, jitter,
                               uses_sql)
SELECT job_id, 'trigger', '{}',
       ROW('public.staging', 'true', NULL, '1 h', 7, NULL, NULL, NULL, NULL, NULL)::lockstep.rows_rule,
       ROW(now(), 3, now(), now(), 0, NULL)::lockstep.rows_look, true, 'once', '1 h', '0', true
FROM lockstep.job WHERE name = 'tried'
SQL
does 'a test says what waits, and what it does not run' POST api/v1/jobs/tried/test '{}' \
    '.items[0] | "\(.pending_rows) \(.advice | test("are those of its query"))"' '3 true'
as DELETE api/v1/jobs/tried '{"reason": "tried"}'

case_begin 'jobs are declared by a list, as job apply does it: all of them or none, and what is declared no more goes'
one="{\"job\": \"one\", \"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}" two=${one/one/two}
applies() { as POST api/v1/jobs "{\"file\": \"deploy\", \"jobs\": [$1]${2:+, $2}}"; }
actions='[.items[] | "\(.job) \(.action)"] | join(", ")'
applies "$one, $two" '"dry_run": true'
expect 'told' "$status $(api_is .dry_run) $(api_is "$actions")" '200 true one create, two create'
applies "$one, {\"job\": \"three\"}"
expect 'one is wrong' "$status $(sql "SELECT count(*) FROM lockstep.job WHERE name IN ('one', 'two', 'three')")" '400 0'
applies "$one, $two" '"reason": "first"'
expect 'made' "$status $(api_is "$actions")" '200 one create, two create'
expect 'why' "$(sql "SELECT string_agg(job, ' ' ORDER BY job) FROM lockstep.job_event
    WHERE job IN ('one', 'two') AND message = 'create: first' AND source = '$acts'")" 'one two'
applies "$one"
expect 'what is declared no more stays' "$status $(api_is "$actions")" '200 one unchanged'
as PUT api/v1/jobs/one "{\"definition\": {\"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 2\"}]}}"
applies "$one" '"prune": true'
expect 'what was changed by hand is kept, and the other one goes' "$status $(api_is .kept) $(api_is "$actions")" \
    '200 1 one kept, two delete'
applies "$one" '"force": true'
expect 'by force' "$status $(api_is .kept) $(api_is "$actions")" '200 0 one change'
expect 'the jobs' "$(sql "SELECT string_agg(name || ' ' || file, ', ') FROM lockstep.job
    WHERE name IN ('one', 'two')")" 'one deploy'
applies "{\"job\": \"tried\", \"queue\": \"$q\", \"query\": \"SELECT 1 AS \\\"order\\\", note AS sql FROM staging\"}"
expect 'its SQL is tried' "$status $(api_is '.field, .code' | paste -sd'|')" '400 tried: query|42703'
for wrong in '"jobs": []' '"jobs": [7]' '"jobs": {}'; do
    as POST api/v1/jobs "{\"file\": \"deploy\", $wrong}"
    expect "$wrong" "$status $(api_is .field)" '400 jobs'
done
as DELETE api/v1/jobs/one '{"reason": "done"}'

case_begin 'single schedules of a job are added, changed and removed, as by the command line'
as PUT api/v1/jobs/timed "{\"definition\": {\"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}}"
does add POST api/v1/jobs/timed/schedules \
    '{"definition": {"name": "night", "kind": "cron", "expr": "0 2 * * *", "zone": "Europe/Warsaw"}, "reason": "it is time"}' \
    '"\(.schedule) \(.version)"' 'night 2'
as POST api/v1/jobs/timed/schedules \
    '{"definition": {"name": "night", "kind": "cron", "expr": "0 3 * * *"}, "reason": "x"}'
expect 'the name is taken' "$status $(api_is .detail | grep -c 'has a schedule "night" already')" '400 1'
as POST api/v1/jobs/timed/schedules \
    '{"definition": {"name": "day", "kind": "cron", "expr": "0 25 * * *"}, "reason": "x"}'
expect 'no such hour' "$status" 400
does disable PUT api/v1/jobs/timed/schedules/night '{"change": {"enabled": false}, "version": 2, "reason": "holiday"}' \
    .version 3
expect 'it does not fire' \
    "$(sql "SELECT s.is_active FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'timed'")" f
as PUT api/v1/jobs/timed/schedules/night '{"change": {"enabled": true}, "version": 2, "reason": "x"}'
expect 'somebody was quicker' "$status" 409
does remove DELETE api/v1/jobs/timed/schedules/night '{"reason": "not needed"}' '"\(.deleted) \(.version)"' 'true 4'
as DELETE api/v1/jobs/timed/schedules/night '{"reason": "x"}'
expect 'none such' "$((status == 400 || status == 404))" 1
expect 'who and why' "$(sql "SELECT string_agg(message, '; ' ORDER BY job_event_id) FROM lockstep.job_event
    WHERE job = 'timed' AND source = '$acts' AND message LIKE 'schedule%'")" \
    'schedule night added: it is time; schedule night changed: holiday; schedule night removed: not needed'
does 'what a rule means' POST api/v1/schedules/explain \
    '{"rule": {"kind": "cron", "expr": "0 2 * * *", "zone": "Europe/Warsaw"}, "count": 3}' \
    '"\(.means | length > 0) \(.next | length) \(.clock_changes | length > 0)"' 'true 3 true'
as DELETE api/v1/jobs/timed '{"reason": "done"}'
clock() { as GET api/v1/overview && api_is .now; }
keeps() { # METHOD PATH BODY: an answer that was kept is kept still
    local before
    before=$(clock)
    as "$1" "$2" "$3"
    [ "$status $(clock)" = "200 $before" ]
}
eventually 20 keeps POST api/v1/schedules/explain '{"rule": {"kind": "interval", "every": "1h"}}' ||
    wrong 'a request that only reads ends a kept answer'
eventually 20 keeps PUT api/v1/jobs/dry \
    "{\"definition\": {\"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}, \"dry_run\": true}" ||
    wrong "a dry run ends a kept answer: $status $answer"
! keeps POST "api/v1/queues/$q/resume" '{"reason": "x"}' || wrong 'a change keeps an old answer'

case_begin 'queues are made, accepted and deleted, as by the command line'
made=$(scratch_name)
as POST api/v1/queues "{\"name\": \"$made\", \"reason\": \"new\"}"
expect 'no topic, and the command that makes it' \
    "$status $(api_is .detail) $(api_is .hint | grep -c "kafka-topics.*--create.*$made")" \
    '409 there is no topic of this name 1'
key=(-b "$tmp/cookies" -H "X-CSRF-Token: $csrf" -H 'Idempotency-Key: makes-a-queue')
making="{\"name\": \"$made\", \"create_topic\": true, \"max_readers\": 2, \"lookahead\": 3, \"external_lease\": 90, \"dead_letters\": false, \"reason\": \"new\"}"
for _ in 1 2; do
    api POST api/v1/queues "$making" "${key[@]}"
    expect 'made once' "$status $(api_is '"\(.queue) \(.topic) \(.next_offset) \(.topic_created)"')" \
        "200 $made $made 0 true"
done
expect 'as it was said' "$(sql "SELECT max_readers, lookahead, on_failure, external_lease, dead_letters
    FROM lockstep.queue WHERE name = '$made'")" '2|3|stop|00:01:30|f'
expect 'its birthmark' "$(sql "SELECT marked_at IS NOT NULL FROM lockstep.queue WHERE name = '$made'")" t
logged queue_created ': new'
as POST api/v1/queues "$making"
expect 'the name is taken' "$status $(api_is .detail)" '409 there is a queue of this name already'
no_topic() { # NAME
    as POST api/v1/queues "{\"name\": \"${made}_none\", \"topic\": \"$1\", \"reason\": \"x\"}"
    [ "$status $(api_is .detail)" = '409 there is no topic of this name' ]
}
as POST api/v1/queues "{\"name\": \"$made\", \"topic\": \"${made}_x\", \"create_topic\": true, \"reason\": \"x\"}"
expect 'the name is taken' "$status $(api_is .detail)" '409 there is a queue of this name already'
no_topic "${made}_x" || wrong "a topic was made for a name that is taken: $status $answer"
as POST api/v1/queues "{\"name\": \"${made}_x\", \"create_topic\": true, \"from_offset\": 7, \"reason\": \"x\"}"
expect 'an offset that no new topic has' "$status $(api_is .field)" '400 from_offset'
no_topic "${made}_x" || wrong "a topic was made for an offset that it does not have: $status $answer"
as POST api/v1/queues "{\"name\": \"${made}_x\", \"create_topic\": true, \"partition\": 3, \"reason\": \"x\"}"
expect 'a topic that was made is named' "$status $(api_is .hint | grep -c "^Topic ${made}_x was made, and stays\. ")" \
    '409 1'
while read -r field wrong; do
    as POST api/v1/queues "{$wrong, \"reason\": \"x\"}"
    expect "$wrong" "$status $(api_is .field)" "400 $field"
    expect "$wrong: its words" "$(api_is '.detail, .hint' | grep -c -e --)" 0
done <<END
name "name": "a b"
retry_on "name": "b", "retry_on": "every"
retry_intervals "name": "b", "retry_intervals": "1,,2"
partition "name": "b", "partition": -1
from_end "name": "b", "from_offset": 7, "from_end": true
END
as POST api/v1/queues "{\"name\": \"${made}_far\", \"topic\": \"$made\", \"from_offset\": 7, \"reason\": \"x\"}"
expect 'an offset outside the log' "$status $(api_is .field) $(api_is .hint)" \
    '400 from_offset Choose an offset inside, or leave it out.'
for accepts in accept accept-server; do
    as POST "api/v1/queues/$made/$accepts" '{"reason": "x"}'
    expect "$accepts of what is not halted" "$status $(api_is .detail | grep -c 'there is nothing to accept')" '409 1'
    as POST "api/v1/queues/none/$accepts" '{"reason": "x"}'
    expect "$accepts of none" "$status" 404
done
sql "UPDATE lockstep.queue SET halted_at = now(), halted_reason = 'other_server', halted_detail = 'it was another one'
    WHERE name = '$made'"
as POST "api/v1/queues/$made/accept" '{"reason": "x"}'
expect 'its topic is not what it is halted for' "$status" 409
does 'its server is accepted' POST "api/v1/queues/$made/accept-server" '{"reason": "we moved"}' \
    '"\(.queue) \(.next_offset)"' "$made 0"
logged server_accepted 'we moved'

case_begin 'a halted queue continues where it is said, if that is in its log'
printf 'a\nb\nc\n' | kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$made" -p 0
halted() {
    sql "UPDATE lockstep.queue SET halted_at = now(), halted_reason = 'topic_changed', halted_detail = 'x'
         WHERE name = '$made'" >/dev/null
}
queue_is() { sql "SELECT next_offset, epoch, halted_at IS NULL, partitions FROM lockstep.queue WHERE name = '$made'"; }
halted
as POST "api/v1/queues/$made/accept" '{"from_offset": 999999, "reason": "x"}'
expect 'an offset outside the log' \
    "$status $(api_is .field) $(api_is .hint | grep -c '^Give one from 0 to [0-9]*, or earliest or latest.$')" \
        '400 from_offset 1'
for wrong in '"2026-11-23T08:00:00Z"' '"first"' -1; do
    as POST "api/v1/queues/$made/accept" "{\"from_offset\": $wrong, \"reason\": \"x\"}"
    expect "$wrong" "$status $(api_is .field)" '400 from_offset'
done
expect 'it is halted as before' "$(queue_is | cut -d'|' -f 1,3)" '0|f'
does 'an offset' POST "api/v1/queues/$made/accept" '{"from_offset": 2, "reason": "two are done"}' .next_offset 2
expect 'it continues there' "$(queue_is)" '2|0|t|1'
logged topic_accepted 'cursor 0 -> 2, two are done'
halted
does 'the beginning' POST "api/v1/queues/$made/accept" '{"from_offset": "earliest", "reason": "all again"}' \
    .next_offset 0
expect 'an epoch of its own' "$(queue_is)" '0|1|t|1'
halted
does 'the end' POST "api/v1/queues/$made/accept" '{"from_offset": "latest", "reason": "none of it"}' \
    '.next_offset >= 3' true
halted
does 'where it is' POST "api/v1/queues/$made/accept" '{"reason": "as it is"}' '.next_offset >= 3' true
expect 'it is open' "$(queue_is | cut -d'|' -f 2,3)" '1|t'

case_begin 'a queue at work is not deleted'
working=$(lockstep publish --queue "$q" -q - 2>/dev/null <<<'{"order": 1, "sql": "SELECT pg_sleep(600)"}')
eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
as DELETE "api/v1/queues/$q" '{"reason": "x"}'
expect 'a queue at work is not deleted' "$status $(api_is .detail | grep -cE 'readers? works? on it') $(api_is .hint)" \
    '409 1 Stop its executors first. To see them: lockstep executor list'
does 'what works is cancelled' POST "api/v1/runs/$working/cancel" '{"reason": "x"}' .run_id "$working"
ends "$working" Cancelled
does delete DELETE "api/v1/queues/$made" '{"reason": "not needed"}' '"\(.queue) \(.deleted) \(.tasks)"' "$made true 0"
logged queue_deleted "$made: not needed"
as DELETE "api/v1/queues/$made" '{"reason": "x"}'
expect 'it is gone' "$status" 404

case_begin 'a token publishes, redrives and replays if it was made so, by one who may'
as POST api/v1/tokens '{"name": "bold", "role": "operator", "publish": true, "reason": "x"}'
expect 'an operator who may not publish makes none that may' "$status $(api_is .hint)" \
    "403 GRANT lockstep_producer TO $acts;"
lockstep console token create acting --role operator -q >"$tmp/acting"
lockstep console token create publishing --publish -q >"$tmp/publishing"
with() { api "$2" "$3" "$4" -H "Authorization: Bearer $(cat "$tmp/$1")"; }
as_token() {
    with "$1" POST "api/v1/queues/$q/runs" '{"name": "by token", "tasks": [{"order": 1, "sql": "SELECT 1"}]}'
}
as_token acting
expect 'an operator is no producer' "$status $(api_is .hint | grep -c -- '--role operator --publish')" '403 1'
with acting POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", \"again\": true, $right}"
expect 'nor redrives' "$status" 403
with acting POST api/v1/replay "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$published\", \"reason\": \"x\"}"
expect 'nor replays, whatever the console itself may' "$status" 403
as_token publishing
expect 'one that may' "$status $(api_is '.run_id | length')" '200 36'
ends "$(api_is .run_id)" Completed
expect 'in its own name' "$(sql "SELECT DISTINCT published_by FROM lockstep.run WHERE name = 'by token'")" \
    'lockstep_test, token publishing'
with publishing POST "api/v1/queues/$q/pause" '{"reason": "x"}'
expect 'it is no operator' "$status" 403
with publishing POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", \"again\": true, $right}"
expect 'so it does not redrive' "$status" 403
sign_in "${acts}_all"
does 'one who may makes one that may' POST api/v1/tokens \
    '{"name": "bold", "role": "operator", "publish": true, "reason": "x"}' '"\(.role) \(.publishes)"' 'operator true'
api_is .token >"$tmp/bold"
as_token bold
expect 'it publishes' "$status" 200
with bold POST "api/v1/rejected/$rejected/redrive" "{\"reason\": \"x\", \"again\": true, $right}"
expect 'redrives' "$status $(api_is .messages)" '200 1'
with bold POST api/v1/replay "{\"queue\": \"$q\", \"mode\": \"all\", \"run\": \"$published\", \"reason\": \"x\"}"
expect 'and replays' "$status $(api_is .counts.run_again)" '200 2'
expect 'listed' "$(lockstep console token list -o json |
    jq -r '.[] | select(.name != "once") | "\(.name) \(.role) \(.publishes)"' | sort | paste -sd,)" \
    'acting operator false,bold operator true,publishing monitor true'
lockstep console token revoke bold -q
lockstep console token revoke publishing -q
lockstep console token revoke acting -q
eventually 60 eval 'as_token publishing; [ "$status" = 401 ]'
sign_in "$acts"

case_begin 'tokens are made and revoked, the configuration is shown without secrets, metrics to those who may look'
does make POST api/v1/tokens '{"name": "made", "role": "monitor", "days": 3, "reason": "for a test"}' \
    '.token | length' 64
made=$(api_is .token)
does list GET api/v1/tokens '' \
    '[.items[] | select(.name == "made") | "\(.name) \(.role) \(.state) \(.created_by)"] | join(",")' \
    "made monitor valid $acts"
api GET metrics '' -H "Authorization: Bearer $made"
expect 'metrics' "$status $(grep -c "^lockstep_readers.*$q.*target" <<<"$answer") $(grep \
    -ci '^content-type: text/plain; version=0.0.4' "$tmp/headers")" '200 1 1'
api GET metrics
expect 'not to others' "$status" 401
does revoke DELETE api/v1/tokens/made '{"reason": "over"}' .revoked true
expect 'by whom and why' "$(sql "SELECT string_agg(concat_ws('|', event, actor, detail), ', ' ORDER BY event_id)
    FROM lockstep.event_log WHERE event LIKE 'token%' AND detail LIKE 'token made%'")" \
    "token_created|$acts|token made, monitor, expires after 3 days: for a test, token_revoked|$acts|token made: over"
as DELETE api/v1/tokens/made '{}'
expect 'not without a reason' "$status $(api_is .field)" '400 reason'
does settings GET api/v1/settings '' \
    '[.items[] | select(.section == "postgres" and .key == "conninfo") | .value] | join(" ") | test("password=[^*]") | not' \
    true
expect 'with origins' \
    "$(api_is '[.items[] | select(.section == "console" and .key == "listen") | .origin] | join(" ")')" default

case_begin 'what more readers would bring is answered from measured times'
does advise GET "api/v1/queues/$q/advise?runs=5" '' '.readers | length' 64
expect 'nothing is left out' "$(api_is '"\(.most_tasks) \(.larger_runs)"')" '20000 0'
sql "UPDATE lockstep.run r SET tasks = 20001 FROM lockstep.queue q
    WHERE q.queue_id = r.queue_id AND q.name = '$q' AND r.ended_at IS NOT NULL" >/dev/null
does 'runs that are too large' GET "api/v1/queues/$q/advise?runs=6" '' '"\(.runs) \(.larger_runs > 0)"' '0 true'
as GET api/v1/queues/nonsense/advise
expect 'no such queue' "$status" 404

case_begin 'an executor is drained, a session that holds a lock is ended'
sign_in "$acts"
sql "GRANT pg_signal_backend TO $acts"
does drain POST "api/v1/executors/$executor/drain" '{"reason": "new version"}' \
    '"\(.executor_id) \(.changed)"' "$executor true"
wait "$running"
slot=$(sql 'SELECT min(slot_id) FROM lockstep.slot')
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c "SET application_name = stray" \
    -c "SELECT pg_advisory_lock(lockstep.lock_class('slot'), $slot)" -c "SELECT pg_sleep(600)" >/dev/null 2>&1 &
stray=$!
eventually 20 eval \
    '[ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"'stray'"' AND query LIKE '"'%pg_sleep%'"'")" = 1 ]'
holder=$(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'stray' AND query LIKE '%pg_sleep%'")
as POST "api/v1/locks/$holder/end" '{"reason": "it is stray"}'
# REMEDY_GRANT_END_OTHER.
expect 'a session of a superuser is not ended' "$status $(api_is .hint)" \
    "403 GRANT pg_signal_backend TO \"$acts\"; the session of a superuser is ended by a superuser only"
sql "SELECT pg_terminate_backend($holder)" >/dev/null
wait "$stray" || true
person "${acts}_holds" lockstep_monitor
PGPASSWORD="secret of ${acts}_holds" "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db user=${acts}_holds" \
    -c "SET application_name = strayed" \
    -c "SELECT pg_advisory_lock($(sql "SELECT lockstep.lock_class('slot')"), $slot)" \
    -c "SELECT pg_sleep(600)" >/dev/null 2>&1 &
stray=$!
eventually 20 eval \
    '[ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"'strayed'"' AND query LIKE '"'%pg_sleep%'"'")" = 1 ]'
holder=$(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'strayed' AND query LIKE '%pg_sleep%'")
does 'end a session' POST "api/v1/locks/$holder/end" '{"reason": "it is stray"}' '"\(.pid) \(.ended)"' "$holder true"
wait "$stray" || true
logged session_ended "backend $holder of ${acts}_holds (strayed), which held a slot lock: it is stray"
as POST api/v1/locks/1/end '{"reason": "x"}'
expect 'a session without a lock' "$status" 404
does 'signed out' DELETE api/v1/session '' .signed_out true

case_begin 'each answer has the members that the OpenAPI document describes, and no others'
# Those that are named have a value if no broker answers, a replay leaves a run open, or a topic loses messages.
answers_fit 'POST PUT DELETE' 'POST /queues/{queue}/accept.warning' 'POST /replay.open_runs' Warning.{text,hint}
console_stop

case_begin 'a broker that does not answer ends no session of a person'
console_start -s kafka.bootstrap.servers=127.0.0.1:1
sign_in "$acts"
as POST api/v1/replay "{\"queue\": \"$q\", \"mode\": \"all\", \"from\": 0, \"preview\": true, \"reason\": \"look\"}"
[ "$status $(api_is .detail | grep -c 'not known')" = '503 0' ] || wrong "a preview: $status $answer"
as POST api/v1/queues "{\"name\": \"${q}_new\", \"reason\": \"x\"}"
[ "$status $(api_is .detail | grep -c 'not known')" = '503 0' ] || wrong "a new queue: $status $answer"
as GET api/v1/queues
expect 'the person is signed in' "$status" 200
does 'and acts' POST "api/v1/queues/$q/pause" '{"reason": "no broker"}' '.queue' "$q"
console_stop

case_begin 'idle connections, however many, keep no one out'
console_start -s console.connections=32
python3 - "$url" <<'END'
import socket, sys, time, urllib.request, urllib.parse
at = urllib.parse.urlparse(sys.argv[1])
idle = []
for i in range(300):
    s = socket.create_connection((at.hostname, at.port), timeout=10)
    if i % 2:
        s.sendall(b'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    idle.append(s)
for i in range(5):
    assert urllib.request.urlopen(sys.argv[1] + 'livez', timeout=20).read() == b'alive\n'
END
expect 'it answers' $? 0
console_stop
cases_end
exit $failed
