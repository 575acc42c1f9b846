#!/bin/bash
# The reads of the console's API: each route gives a member of lockstep_monitor the data of its pages, answers 404 for a
# thing that does not exist, and hides values that a monitor may not see. The pages of a list are complete and without
# doubles while rows arrive.
# ctest: nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name)
looks=$(scratch_name)
acts=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 >/dev/null
printf '%s\n' '{"order": 1, "sql": "SELECT 1"}' '{"order": 1, "sql": "SELECT 2"}' '{"order": 2, "sql": "SELECT 3"}' \
    >"$tmp/tasks"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks")
executors 1 "$q" 3
executors_wait
open=$(lockstep publish --queue "$q" -q --name waiting "$tmp/tasks")
# The rest of the world as rows: other tests make them for real.
sql "CREATE TABLE public.waiting (id int)" >/dev/null
sql <<SQL >/dev/null
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'h', n, '1', 2, ARRAY['$q']
FROM generate_series(1, 5) n;
INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw, header_names, header_values)
SELECT q.queue_id, 1000 + n, 'bad_json', 'detail ' || n, CASE n WHEN 5 THEN '\xff00' ELSE '{"sql": ' END::bytea,
       '{a}', ARRAY['b'::bytea]
FROM lockstep.queue q, generate_series(1, 5) n;
INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason, state, ended_at)
SELECT q.queue_id, 'failed', 0, n, n, 'r', 'Completed', now() FROM lockstep.queue q, generate_series(1, 5) n;
INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after)
SELECT 'job ' || n, q.queue_id, '{"tasks": [{"order": 1, "sql": "SELECT secret"}]}', true, 'allow', '30 min'
FROM lockstep.queue q, generate_series(1, 5) n;
INSERT INTO lockstep.schedule (job_id, name, spec, rule, is_active, misfire, catchup_window, jitter, next_at, wake_at)
SELECT j.job_id, 'hourly', '{"kind": "interval", "every": "1h"}',
       lockstep.rule_of('{"kind": "interval", "every": "1h"}'), true, 'once', '1 h', '0', now() + interval '1 h',
       now() + interval '1 h'
FROM lockstep.job j;
INSERT INTO lockstep.schedule (job_id, name, spec, rows_rule, is_active, misfire, catchup_window, jitter, uses_sql)
SELECT j.job_id, 'trigger', '{}',
       ROW('public.waiting', 'secret', NULL, '10 s', 1, NULL, NULL, NULL, NULL, 'secret')::lockstep.rows_rule, true,
       'once', '1 h', '0', true
FROM lockstep.job j;
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, dispatcher)
SELECT j.job_id, s.schedule_id, now() - n * interval '1 h', CASE n WHEN 2 THEN 'missed' ELSE 'fired' END,
       'schedule hourly', 'd'
FROM lockstep.job j JOIN lockstep.schedule s USING (job_id), generate_series(1, 5) n
WHERE j.name = 'job 1' AND s.name = 'hourly';
INSERT INTO lockstep.job_event (job, event, source, message)
SELECT 'job 1', CASE n WHEN 2 THEN 'missed' ELSE 'fired' END, 'schedule hourly', 'line ' || n
FROM generate_series(1, 5) n;
INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text, closed_at, ended)
SELECT 'job ' || n, 'missed', now(), now(), now(), now(), 'sentence', CASE WHEN n > 1 THEN now() END,
       CASE WHEN n > 1 THEN 'recovered' END
FROM generate_series(1, 5) n;
INSERT INTO lockstep.event_log (event, queue_id, detail)
SELECT 'queue_changed', q.queue_id, 'found ' || n FROM lockstep.queue q, generate_series(1, 5) n
SQL
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" \
    -c "SELECT pg_advisory_lock(lockstep.lock_class('slot'), s.slot_id), 'secret' FROM lockstep.slot s
        ORDER BY s.slot_no LIMIT 1" -c "SELECT pg_sleep(600)" >/dev/null 2>&1 &
person "$looks" lockstep_monitor
person "$acts" lockstep_operator
console_start
eventually 60 eval 'sign_in "$looks"; [ "$status" != 429 ]'
expect 'signed in' "$status" 200

# reads NAME PATH FILTER EXPECTED: the route answers, and jq's FILTER of it is so
reads() {
    as GET "api/v1/$2"
    expect "$1: $2" "$status $(api_is "$3" | paste -sd' ')" "200 $4"
}
has='. as $x | [$names | split(" ")[] | select(. as $n | $x | has($n) | not)] | join(" ")'
# has_all PATH FILTER NAMES: the value of FILTER has all of these members
has_all() {
    as GET "api/v1/$1"
    expect "$1" "$status $(jq -r --arg names "$3" "($2) | $has" <<<"$answer" 2>&1)" '200 '
}

case_begin 'the overview and the queues'
has_all overview '.' 'queues queues_all open_runs alerts alerts_all next executors now'
has_all overview '.queues[0]' \
    'queue status reason max_readers target in_use open_run open_run_name open_order pending processing error failed rejected lag oldest_waiting_s throughput barrier_ms'
reads 'its sparks' overview '.queues[0].throughput, .queues[0].barrier_ms | length' '60 60'
reads 'its tasks of the hour' overview '[.queues[0].throughput[]? // 0] | add | round' 3
reads 'its alerts' overview '.alerts | map(.job) | join(" ")' 'job 1'
reads 'its next firings' overview '.next | map(.job) | join(",")' 'job 1,job 2,job 3,job 4,job 5'
has_all 'queues?limit=1000' '.items[0]' \
    'queue state topic next_offset max_readers in_use on_failure runs active_runs rejected halted_reason halted_detail'
has_all "queues/$q" .queue \
    'queue name status topic partition next_offset cursor lag max_readers in_use on_failure runs max_attempts retry_intervals retry_on lookahead active_runs rejected outbox kept swept_at birthmark cluster_id halted_detail halted_remedy paused_reason'
reads 'its reader' "queues/$q" '.queue.rejected, .queue.status' '5 open'
reads 'its readers over time' "queues/$q/readers" \
    '.points | length, (.[0] | has("at") and has("target") and has("in_use"))' '60 true'
reads 'why it waits' "queues/$q/explain" '.lines | length > 0' true

case_begin 'a run and its events'
has_all "runs/$run/gantt?buckets=400" '.' 'started_at ended_at now phases readers'
reads 'its phases' "runs/$run/gantt" '.phases | map(.tasks) | join(" ")' '2 1'
has_all "runs/$run/events" '.items[0]' 'event_id at event kind queue run_id order task_id executor_id actor detail'
reads 'its end' "runs/$run/events" '[.items[] | select(.event == "run_ended")] | length' 1
reads 'of one run' "events?run=$run&kind=run_started,run_ended" '.items | map(.event) | join(" ")' \
    'run_ended run_started'
task=$(sql 'SELECT max(task_id) FROM lockstep.task')
reads 'when it ended' "tasks/$(sql 'SELECT min(task_id) FROM lockstep.task')" '.task | .ended_at > .started_at' true
reads 'why a task waits' "tasks/$task/explain" '.lines | length > 0' true

case_begin 'the event log by what it is about'
reads 'by text' 'events?text=FOUND%203' '.items | map(.detail) | join(" ")' 'found 3'
reads 'by queue and kind' "events?queue=$q&kind=queue_changed" '.count' \
    "$(sql "SELECT count(*) FROM lockstep.event_log WHERE event = 'queue_changed'")"
reads 'since' 'events?since=2099-01-01T00:00:00Z' '.items, .next | length' '0 0'
reads 'until' 'events?until=2001-01-01T00:00:00Z' '.items | length' 0
id=$(sql "SELECT event_id FROM lockstep.event_log WHERE detail = 'found 2'")
reads 'from a number back' "events?event=$id&limit=2" '.items[0].event_id' "$id"

case_begin 'jobs, their times and their log'
has_all jobs '.items[0]' \
    'job queue mode enabled schedules next_at last_scheduled last_outcome last_status open_run overlap version file changed_at changed_by drifted description'
reads 'by name' 'jobs?name=B%203' '.items | map(.job) | join(" ")' 'job 3'
has_all 'jobs/job%201' .job 'job queue mode enabled overlap definition hidden'
reads 'no SQL' 'jobs/job%201' '.job.definition, .job.hidden' 'null true'
reads 'next' 'jobs/job%201/next?count=3' '.items | map(.schedule) | join(" ")' 'hourly hourly hourly'
reads 'as many as it counts' 'jobs/job%201/next?count=3' '.count' 3
sql "INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after)
     SELECT 'by hand', queue_id, '{\"tasks\": []}', true, 'allow', '30 min' FROM lockstep.queue"
reads 'none' 'jobs/by%20hand/next?count=3' '"\(.items | length) \(.count) \(.capped)"' '0 0 false'
sql "DELETE FROM lockstep.job WHERE name = 'by hand'"
has_all 'jobs/job%201/occurrences' '.items[0]' \
    'occurrence_id scheduled_for outcome run_id status lateness duration source reason'
reads 'its log' 'jobs/job%201/history?kind=missed' '.items | map(.message) | join(" ")' 'line 2'
reads 'the log' 'job-log?name=job%201&text=line%204' '.items | map(.kind) | join(" ")' fired
reads 'missed' 'occurrences?status=missed,error&limit=50' '.items | map(.job) | join(" ")' 'job 1'
has_all 'health?limit=1000' '.items[0]' 'job queue state is_problem since detail next_at open_run last_run last_status'
reads 'those in a state, whether or not a monitor knows of them' \
    "health?limit=1&kind=$(sql "SELECT state FROM lockstep.job_health WHERE job = 'job 5'")&name=5" \
    '.items[0].job, .count' 'job 5 1'
reads 'in no such state' 'health?limit=1&kind=silenced' '.items, .next | length' '0 0'
reads 'those with an incident first' 'health?limit=1' '.items[0].job' 'job 1'
reads 'schedules' 'schedules?name=job%202' '.items | map(.words) | join(" ")' \
    'every 1h, counted from 1970-01-01 00:00:00 UTC'
reads 'triggers' 'triggers?name=job%202' '.items[0].relation, .items[0].pending, .items[0].mark, .items[0].hidden' \
    'public.waiting null null true'
has_all alerts '.items[0]' 'alert_id job kind since text acknowledged_at acknowledged_by note closed_at ended'
reads 'open' 'alerts?status=open' '.items | map(.job) | join(" ")' 'job 1'
alert=$(sql "SELECT min(alert_id) FROM lockstep.job_alert")
reads 'an alert' "alerts/$alert" '.alert.job, .notices' 'job 1 []'

case_begin 'the sums of a job by day, and the times that are to come, as the commands have them'
# same PATH FILTER ARGS...: jq's FILTER of the document's items is that of the command's list
same() {
    as GET "api/v1/$1"
    expect "$1" "$status $(api_is ".items | map($2) | sort | tostring")" \
        "200 $(lockstep "${@:3}" -o json | jq -c "map($2) | sort")"
}
same 'jobs/job%201/days' '[.day, .times, .fired, .completed, .failed, .skipped, .missed, .errors, .passed]' job \
    history 'job 1' --days --limit 100
reads 'of all its days' 'jobs/job%201/days' '[.items[].times] | add' 5
has_all 'jobs/job%201/days' '.items[0]' \
    'day times fired completed failed skipped missed errors passed seconds longest latest'
reads 'a job without' 'jobs/job%205/days' '.items, .next | length' '0 0'
from=$(date -u -d '+1 hour' +%FT%TZ) to=$(date -u -d '+2 days' +%FT%TZ)
times='[(.at | .[0:19]), .job, .schedule, .local]'
same "forecast?from=$from&to=$to&job=job%203&limit=1000" "$times" schedule forecast 'job 3' --from "$from" --to "$to" \
    -n 1000
same "forecast?from=$from&limit=7" "$times" schedule forecast --from "$from" -n 7
reads 'up to a time, which is not part of it' "forecast?from=2030-01-01T00:00:00Z&to=2030-01-01T02:00:00Z&job=job%201" \
    '.items | map(.at | .[0:13]) | join(" ")' '2030-01-01T00 2030-01-01T01'
reads 'of a job that has none' 'forecast?from=2030-01-01T00:00:00Z&to=2029-01-01T00:00:00Z' '.items, .next | length' \
    '0 0'
as GET 'api/v1/forecast?job=none'
expect 'of none' "$status $(api_is .hint)" '404 lockstep job list'
as GET 'api/v1/forecast?from=0000-01-01T00:00:00Z'
expect 'from a year that there is not' "$status $(api_is .detail | grep -c '^from: ')" '400 1'

case_begin 'the tasks of all runs, and of a queue'
has_all tasks '.items[0]' \
    'task_id queue run_id run_name order seq name type status step attempt max_attempts lost started_at seconds error'
has_all tasks '.items[0]' 'scheduled_for executor_id cancelled_by'
reads 'the last phase first' "tasks?queue=$q" '[.count, (.items | map(.order))] | tostring' '[3,[2,1,1]]'
reads 'in a state' "tasks?queue=$q&status=Completed,Failed" '.items | map(.run_id) | unique | tostring' "[\"$run\"]"
for states in Failed Pending,Processing,Error,Paused Failed,Error; do reads 'in none such' \
    "tasks?queue=$q&status=$states" '.items, .next | length' '0 0'; done
reads 'of a queue that there is not' 'tasks?queue=none' '.items | length' 0
as GET 'api/v1/tasks?status=Done'
expect 'no state' "$status $(api_is .field)" '400 status'

case_begin 'what runs, what is rejected, what was replayed'
has_all executors '.items[0]' 'executor_id state host pid queues readers in_use heartbeat_at started_at version'
reads 'gone' executors '.items | map(.state) | unique | join(" ")' gone
eventually 30 eval 'as GET "api/v1/locks?limit=1000"; [ "$(api_is ".items | length > 0")" = true ]'
has_all "locks?queue=$q" '.items[0]' \
    'kind mode state granted queue run_id order pid login may_end application_name host since age_s blocked_by query'
reads 'why no query, once' locks '.hidden | has("reason") and has("hint")' true
reads 'whose session it may not end' locks '.items | map(.may_end) | unique | tostring' '[false]'
reads 'no query' locks '.items | map(.query) | unique | tostring' '[null]'
token=$(lockstep console token create acts --role operator -q)
api GET 'api/v1/locks' '' -H "Authorization: Bearer $token"
expect 'with a token, the group that looks' "$status $(api_is '.hidden.hint')" \
    '200 GRANT pg_read_all_stats TO lockstep_operator'
expect 'no query, and not its substitute' \
    "$(api_is '[.items[].query] | map(select(. != null and startswith("<"))) | length')" 0
api GET 'api/v1/system' '' -H "Authorization: Bearer $token"
expect 'so does System' "$status $(api_is '.hidden.hint')" '200 GRANT pg_read_all_stats TO lockstep_operator'
expect 'System has the tokens' "$(api_is '.tokens | map(.name) | join(" ")')" \
    "$(sql "SELECT string_agg(name, ' ' ORDER BY token_no) FROM lockstep.console_token")"
sql "INSERT INTO lockstep.console_token (name, hash, operator, revoked_at)
     SELECT 'over-' || g, sha256(g::text::bytea), false, now() FROM generate_series(1, 1000) g"
# As another token: the answer of System depends on the login, so this one is not kept from before.
counts=$(lockstep console token create counts -q)
api GET 'api/v1/system' '' -H "Authorization: Bearer $counts"
expect 'the newest thousand' "$status $(api_is '.tokens | "\(length) \(.[0].name) \(.[-1].name)"')" \
    '200 1000 over-2 counts'
sql "DELETE FROM lockstep.console_token WHERE name LIKE 'over-%' OR name = 'counts'"
lockstep check -o json >"$tmp/check" || true
expect 'check and System judge alike' \
    "$(jq -r '.[] | select(.subject == "durability" or .subject == "lock table" or .subject == "alerts") | .result' \
        "$tmp/check" | paste -sd' ')" \
    "$(api_is '.checks[] | select(.check == "durability" or .check == "lock table" or .check == "alerts") | .status' |
        paste -sd' ')"
expect 'each line of System is one of check' \
    "$(api_is '.checks[].check' | sort -u | grep -vxF "$(jq -r '.[].subject' "$tmp/check")")" ''
has_all rejected '.items[0]' 'rejected_id queue offset reason detail run_id rejected_at redriven_at redrive_run'
sql "WITH r AS (SELECT run_no FROM lockstep.run WHERE run_id = '$open')
    UPDATE lockstep.rejected_message m SET run_no = r.run_no FROM r
    WHERE m.rejected_id IN (SELECT rejected_id FROM lockstep.rejected_message ORDER BY rejected_id LIMIT 2)" >/dev/null
reads 'of a run' "rejected?run=$open" '.items | map(.run_id) | tostring' "[\"$open\",\"$open\"]"
as GET "api/v1/rejected?run=$open&limit=1"
reads 'the next page of them' "rejected?run=$open&after=$(api_is .next)" '[(.items | length), .next] | tostring' \
    '[1,null]'
reads 'of a run without' "rejected?run=$run" '.items | length' 0
sql "UPDATE lockstep.run SET rejected = 2 WHERE run_id = '$run'" >/dev/null
reads 'a rejected message is no failed task' "runs/$run" '.run.failed, .run.rejected, .run.tasks' '0 2 3'
reads 'not by what is hidden' "rejected?queue=$q&text=DETAIL%203" '.items | length' 0
rejected=$(sql 'SELECT min(rejected_id) FROM lockstep.rejected_message')
reads 'hidden' "rejected/$rejected" '.message.hidden, .message.raw_text, .message.raw_hex, .message.headers' \
    'true null null []'
has_all replays '.items[0]' 'replay_id queue status mode from_offset to_offset started_at ended_at actor reason'
has_all system '.' 'checks versions database sessions tokens hidden'
reads 'size' system '.database.size_bytes > 1000000' true

case_begin 'what there is not is 404'
for path in jobs/none/days queues/none queues/none/explain queues/none/readers tasks/999999999/explain jobs/none \
    jobs/none/next jobs/none/occurrences alerts/999999999 rejected/999999999 \
    runs/00000000-0000-4000-8000-00000000ffff/{gantt,attempts,events}; do
    as GET "api/v1/$path"
    expect "$path" "$status" 404
done

# walk PATH KEY INSERT: pages of two while rows come, which INSERT makes: everything that there was is there once, and
# nothing twice
walk() {
    local path=$1 key=$2 insert=$3 after='' page sep='?' i
    [[ $path != *\?* ]] || sep='&'
    as GET "api/v1/$path${sep}limit=1000"
    api_is ".items[] | $key" | sort >"$tmp/before"
    : >"$tmp/walked"
    for ((i = 0; i < 100; i++)); do
        as GET "api/v1/$path${sep}limit=2${after:+&after=$after}"
        [ "$status" = 200 ] || break
        page=$(api_is "(.next // \"\" | @uri), (.items[] | $key)")
        after=${page%%$'\n'*}
        [ "$page" = "$after" ] || echo "${page#*$'\n'}" >>"$tmp/walked"
        [ -n "$after" ] || break
        [ $i -gt 2 ] || sql "$insert" >/dev/null
    done
    expect "$path: its end" "$status $after" '200 '
    expect "$path: doubles" "$(sort "$tmp/walked" | uniq -d | head -n 3)" ''
    expect "$path: left out" "$(sort -u "$tmp/walked" | comm -23 "$tmp/before" - | head -n 3)" ''
    expect "$path: some" "$([ "$(wc -l <"$tmp/before")" -ge 3 ] && echo some)" some
}
case_begin 'pages are complete and without doubles while rows come'
event="INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', queue_id, 'later' FROM lockstep.queue"
walk events .event_id "$event"
walk "events?text=found&queue=$q" .event_id "$event"
walk "runs/$run/events" .event_id \
    "INSERT INTO lockstep.event_log (event, run_no) SELECT 'run_paused', run_no FROM lockstep.run WHERE run_id = '$run'"
sql <<SQL >/dev/null
SET session_replication_role = replica;
INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at, ended_at)
SELECT ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid, queue_id, 'walked', 'stop', 'Completed', 5, 25,
       now(), now()
FROM lockstep.queue, generate_series(1, 4) AS n;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at, done_at)
SELECT r.run_no, r.queue_id, n * 10, n * 10 - 10, now(), now() FROM lockstep.run r, generate_series(1, 5) AS n
WHERE r.name = 'walked';
INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, name, status, attempt_num,
                           started_at, duration)
SELECT p.phase_id, p.run_no, p.queue_id, p."order", p."order" + n, p.run_no * 1000 + p."order" + n,
       '{"sql": "SELECT 1"}', 'walked', 'Completed', 1, now(), '1 s'
FROM lockstep.phase p JOIN lockstep.run r USING (run_no), generate_series(1, 5) AS n WHERE r.name = 'walked'
SQL
walked=00000000-0000-4000-9000-000000000001
newer="SET session_replication_role = replica;
    INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, started_at, ended_at)
    SELECT gen_random_uuid(), queue_id, 'walked', 'stop', 'Completed', now(), now() FROM lockstep.queue
    WHERE name = '$q'"
walk runs .run_id "$newer"
walk "runs?status=Completed&name=walk" .run_id "$newer"
walk "runs/$walked/phases" .order "SET session_replication_role = replica;
    INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order)
    SELECT run_no, queue_id, max(\"order\") + 10, max(\"order\")
    FROM lockstep.phase JOIN lockstep.run r USING (run_no, queue_id) WHERE r.run_id = '$walked'
    GROUP BY run_no, queue_id"
sql <<SQL >/dev/null
SET session_replication_role = replica;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order)
SELECT run_no, queue_id, n, n - 1
FROM lockstep.run, unnest(ARRAY[1, 1000000000000000000, 9223372036854775805, 9223372036854775806]) AS n
WHERE run_id = '00000000-0000-4000-9000-000000000002'
SQL
walk runs/00000000-0000-4000-9000-000000000002/phases .order 'SELECT 1'
as GET "api/v1/runs/$walked/phases?after=phases.9999999999999999999"
expect 'behind all orders' "$status $(api_is '.items | length')" '200 0'
task="SET session_replication_role = replica;
    INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", seq, kafka_offset, payload, name, status)
    SELECT phase_id, run_no, t.queue_id, t.\"order\", t.seq + 5, t.kafka_offset + 5, '{}', 'walked', 'Pending'
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$walked' ORDER BY t.kafka_offset DESC
    LIMIT 1"
walk "runs/$walked/tasks" .task_id "$task"
walk "runs/$walked/tasks?name=walk" .task_id "$task"
sql <<SQL >/dev/null
SET session_replication_role = replica;
UPDATE lockstep.task t SET attempt_num = 3 FROM lockstep.run r WHERE r.run_no = t.run_no AND r.run_id = '$walked';
INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at, sqlstate, error)
SELECT t.task_id, n, (ARRAY['Error', 'Failed'])[n]::lockstep.status, now(), now() + interval '2 s', '22012', 'x'
FROM lockstep.task t JOIN lockstep.run r USING (run_no), generate_series(1, 2) AS n WHERE r.run_id = '$walked';
SQL
walk "runs/$walked/attempts" '"\(.task_id)_\(.attempt)"' "$task"
walk "runs/$walked/attempts?status=Failed" .task_id "$task"
as GET "api/v1/runs/$walked/attempts?limit=1000"
attempts=$(api_is '.items[] | "\(.task_id) \(.attempt) \(.status) \(.seconds)"' | sort)
expect 'attempts are those of the command' "$attempts" \
    "$(lockstep log --executions --run "$walked" --limit 1000 -o json |
        jq -r '.[] | "\(.task_id) \(.attempt) \(.status) \(.seconds | tonumber)"' | sort)"
for filter in '' "?queue=$q" '?name=walk' "?queue=$q&status=Completed,Pending"; do walk "tasks$filter" .task_id \
    "$newer; $task"; done
sql <<SQL >/dev/null
SET session_replication_role = replica;
INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at)
SELECT ('00000000-0000-4000-a000-' || lpad(n::text, 12, '0'))::uuid, queue_id, 'pends', 'stop', 'Running', 3, 9, now()
    FROM lockstep.queue, generate_series(1, 3) AS n WHERE name = '$q';
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at, done_at)
SELECT r.run_no, r.queue_id, n * 10, n * 10 - 10, now(), CASE n WHEN 1 THEN now() END FROM lockstep.run r,
    generate_series(1, 3) AS n WHERE r.name = 'pends';
INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, name, status)
SELECT p.phase_id, p.run_no, p.queue_id, p."order", p."order" + n, p.run_no * 1000 + p."order" + n, '{}', 'pends',
    CASE p."order" WHEN 10 THEN 'Completed' ELSE 'Pending' END::lockstep.status
FROM lockstep.phase p JOIN lockstep.run r USING (run_no), generate_series(1, 3) AS n WHERE r.name = 'pends'
SQL
task=${task//'{}'/'{"more": 1}'} \
    task=${task//"r.run_id = '$walked'"/"r.run_id = '00000000-0000-4000-a000-000000000001'"}
for filter in '?status=Pending' "?queue=$q&status=Pending,Error&name=PEND"; do walk "tasks$filter" .task_id \
    "$newer; ${task//\'walked\'/\'pends\'}"; done
reads 'what waits, of whatever run' "tasks?status=Pending&limit=1000" '[.items[] | select(.order == 10)] | length' 0
sql "INSERT INTO lockstep.queue (name, topic) SELECT 'a' || n, 'a' || n FROM generate_series(1, 3) n" >/dev/null
walk queues .queue "INSERT INTO lockstep.queue (name, topic) SELECT gen_random_uuid(), 't'"
walk jobs .job "INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after)
    SELECT gen_random_uuid(), queue_id, '{}', false, 'allow', '1 h' FROM lockstep.queue"
walk health .job "INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after)
    SELECT gen_random_uuid(), queue_id, '{}', false, 'allow', '1 h' FROM lockstep.queue"
occurrence="INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, outcome, source, dispatcher)
    SELECT job_id, now(), 'fired', 'manual', 'd' FROM lockstep.job WHERE name = 'job 1'"
walk 'jobs/job%201/occurrences' .occurrence_id "$occurrence"
sql <<'SQL' >/dev/null
INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, outcome, source, dispatcher)
SELECT job_id, now() - n * interval '1 day', 'fired', 'manual', 'd' FROM lockstep.job, generate_series(1, 5) n
WHERE name = 'job 1'
SQL
walk 'jobs/job%201/days' .day "${occurrence/now()/now() + random() * interval \'9 days\'}"
walk "forecast?from=$from&to=$(date -u -d '+10 hours' +%FT%TZ)" '"\(.at) \(.job)"' \
    "INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after)
     SELECT gen_random_uuid(), queue_id, '{}', false, 'allow', '1 h' FROM lockstep.queue LIMIT 1"
walk occurrences .occurrence_id "$occurrence"
line="INSERT INTO lockstep.job_event (job, event, message) VALUES ('job 1', 'fired', 'later')"
walk 'jobs/job%201/history' .job_event_id "$line"
walk 'job-log?kind=fired' .job_event_id "$line"
walk alerts .alert_id "INSERT INTO lockstep.job_alert (job, kind, seen_at, last_seen_at, opened_at, closed_at)
    SELECT 'job 2', 'failed', now(), now(), now(), now()"
walk schedules '"\(.job) \(.schedule)"' \
    "INSERT INTO lockstep.schedule (job_id, name, spec, rule, is_active, misfire, catchup_window, jitter)
    SELECT job_id, gen_random_uuid(), '{\"kind\": \"interval\"}',
        lockstep.rule_of('{\"kind\": \"interval\", \"every\": \"1h\"}'), false, 'once', '1 h', '0'
    FROM lockstep.job WHERE name = 'job 1'"
walk triggers .job 'SELECT 1'
walk executors .executor_id "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
    VALUES (gen_random_uuid(), 'h', 9, '1', 2, '{x}')"
walk rejected .rejected_id "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail)
    SELECT queue_id, (SELECT max(kafka_offset) + 1 FROM lockstep.rejected_message), 'bad_json', 'd' FROM lockstep.queue"
walk replays .replay_id \
    "INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason, state, ended_at)
        SELECT queue_id, 'all', 0, 1, 1, 'r', 'Completed', now() FROM lockstep.queue"
as GET 'api/v1/events?after=events.nonsense'
expect 'no place' "$status" 400
as GET 'api/v1/job-log?after=job-log.nonsense'
expect 'no place' "$status" 400

case_begin 'no text that may quote a parameter, or a message, is shown to who may only look'
secret=$(scratch_name)
lockstep queue create "$secret" -q --create-topic --max-readers 1 --max-attempts 1 --on-failure stop >/dev/null
printf '%s\n' '{"order": 1, "sql": "SELECT $1::int", "params": ["pin x9876x"]}' '{"order": 2, "sql": "SELECT 1"}' \
    >"$tmp/tasks"
failed_run=$(lockstep publish --queue "$secret" -q "$tmp/tasks")
executors 1 "$secret" 1
executors_wait
task=$(sql "SELECT task_id FROM lockstep.task WHERE error LIKE '%x9876x%'")
sql "INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
    SELECT queue_id, 7777, 'bad_message', '\$.params must be an array, not {\"card\": \"pin x9876x\"}', 'x'
    FROM lockstep.queue WHERE name = '$secret'" >/dev/null
sql "INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'message_rejected', queue_id, 'offset 7777: bad_message: \$.params must be an array, not pin x9876x'
    FROM lockstep.queue WHERE name = '$secret'" >/dev/null
sql <<SQL >/dev/null
UPDATE lockstep.task SET key = 'key x9876x', notices = 'NOTICE: x9876x' WHERE task_id = $task;
UPDATE lockstep.schedule
SET next_at = now() + interval '1 h',
    look = ROW(now(), NULL, NULL, NULL, 3, '22P02: invalid input: "pin x9876x"')::lockstep.rows_look
WHERE name = 'trigger' AND job_id = (SELECT job_id FROM lockstep.job WHERE name = 'job 3');
INSERT INTO lockstep.job_event (job, event, source, message)
VALUES ('job 3', 'error', 'trigger', '22P02: invalid input: "pin x9876x"'),
       ('job 3', 'alert', 'monitor', 'failed: trigger: 22P02: invalid input: "pin x9876x"'),
       ('job 3', 'error', 'r', 'the run is Failed');
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, dispatcher)
SELECT j.job_id, s.schedule_id, now(), 'error', 'trigger', '22P02: invalid input: "pin x9876x"', 'd'
FROM lockstep.job j JOIN lockstep.schedule s USING (job_id) WHERE j.name = 'job 3' AND s.name = 'trigger';
INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text)
VALUES ('job 3', 'failed', now(), now(), now(), now(), 'trigger: 22P02: invalid input: "pin x9876x"')
SQL
failing=$(sql "SELECT alert_id FROM lockstep.job_alert WHERE kind = 'failed' AND job = 'job 3'")
# A job whose run has failed: its health quotes the reason of the run, which quotes the error of a task.
cat >"$tmp/fails.json" <<END
{"job": "fails", "queue": "$secret", "tasks": [{"order": 1, "sql": "SELECT 1"}],
 "schedules": [{"name": "s", "kind": "once", "at": "2041-01-01T00:00:00Z"}]}
END
lockstep job apply "$tmp/fails.json" >/dev/null
sql >/dev/null <<SQL
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, dispatcher, status, run_id,
                                     ended_at)
SELECT j.job_id, s.schedule_id, now(), 'fired', 'schedule s', 'd', 'Failed', '$failed_run', now()
FROM lockstep.job j JOIN lockstep.schedule s USING (job_id) WHERE j.name = 'fails';
INSERT INTO lockstep.job_ask (job_id, scheduled_for, run_id, asked_at, source, asked_by, fills, fills_overlap, wake_at,
                              failing_since)
SELECT job_id, now() - interval '1 d', gen_random_uuid(), now(), 'backfill by me', 'me', schedule_id, 'allow',
       now() + interval '1 d', now()
FROM lockstep.job j JOIN lockstep.schedule s USING (job_id) WHERE j.name = 'fails';
INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text)
SELECT h.job, h.state, h.since, now(), now(), now(), h.detail FROM lockstep.job_health h WHERE h.job = 'fails';
INSERT INTO lockstep.job_event (job, event, source, message)
SELECT a.job, 'alert', 'monitor', 'failed: ' || a.text FROM lockstep.job_alert a WHERE a.job = 'fails'
SQL
quoting=$(sql "SELECT alert_id FROM lockstep.job_alert WHERE job = 'fails'")
# Its next run has begun, and the failure is not over by that.
sql <<SQL
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, job_id, first_offset)
SELECT gen_random_uuid(), j.queue_id, 'stop', 'Running', j.job_id, 900000000
FROM lockstep.job j WHERE j.name = 'fails';
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'lives', 1, '1', 1, ARRAY['$secret'])
SQL
reads 'a job that runs behind a failure has a problem' 'health?limit=1000&kind=problem&name=fails' \
    '.items[0].state, .items[0].is_problem, .count' 'running true 1'
sql "DELETE FROM lockstep.executor WHERE host = 'lives'; DELETE FROM lockstep.run WHERE first_offset = 900000000"
sql >/dev/null <<SQL
INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, attempts, due_at, error)
VALUES ($failing, 'oncall', 'opened', 1, now() - interval '1 hour', 1, now() + interval '1 hour', 'PIN x9876x?');
SELECT lockstep.monitor_seen('m', 'h', '1 min', true), lockstep.monitor_receives('m', 'oncall', '{*}', NULL, '0 s')
SQL
reads 'a job that fails' 'health?name=job%203' '.items[0].state' failed
places=(system triggers health jobs jobs/fails jobs/fails/history "alerts/$quoting"
    'jobs/job%203' 'jobs/job%203/history' 'jobs/job%203/occurrences' job-log
    'job-log?text=x9876x' occurrences alerts "alerts/$failing" "tasks/$task" "tasks/$task/explain" "runs/$failed_run"
    "runs?queue=$secret" "runs/$failed_run/tasks" "runs/$failed_run/attempts" "runs/$failed_run/events"
    "runs/$failed_run/explain"
    "runs/$failed_run/gantt"
    "tasks?queue=$secret" "tasks?status=Failed"
    "events?queue=$secret" "events?text=PIN%20x9876x" "queues/$secret" "queues/$secret/explain"
    "rejected?queue=$secret" overview)
for place in "${places[@]}"; do
    as GET "api/v1/$place"
    expect "$place" "$status $(grep -c x9876x <<<"$answer")" '200 0'
done
reads 'of those that failed' "tasks?queue=$secret&status=Failed" '.items | map([.task_id, .error]) | tostring' \
    "[[$task,\"22P02: the text is hidden: it may quote parameters\"]]"
reads 'its SQLSTATE' "tasks/$task" '.task.error, .attempts[0].error' \
    '22P02: the text is hidden: it may quote parameters the text is hidden: it may quote parameters'
reads 'what is known of its run' "runs/$failed_run" '.run.reason' \
    "task $task of order 1 failed: the text is hidden: it may quote parameters"
hides='the text is hidden: it may quote parameters'
reads 'of a job' 'health?name=job%203' '.items[0].detail' "trigger: 22P02: $hides"
reads 'of its alert' "alerts/$failing" '.alert.text' "trigger: 22P02: $hides"
of_run="run $failed_run is Failed: task $task of order 1 failed: $hides"
reads 'of a job whose run failed' 'health?name=fails' '.items[0].detail' "$of_run"
reads 'of its alert' "alerts/$quoting" '.alert.text' "$of_run"
reads 'of its log' jobs/fails/history '.items[0].message' "failed: $of_run"
reads 'of the event that it was opened' 'events?kind=alert_opened&text=fails' '.items[0].detail' \
    "job fails: alert $quoting: failed: $of_run"
reads 'of its notice' "alerts/$failing" '.notices[0].error' "$hides"
finding='.checks[] | select(.check == "receiver oncall").text | sub("^.* not delivered since [^Z]*Z"; "not delivered")'
reads 'of a receiver' system "$finding" 'not delivered'
reads 'of the event that it was opened' 'events?kind=alert_opened&text=job%203' '.items[0].detail' \
    "job job 3: alert $failing: failed: $hides"
reads 'of its log' 'jobs/job%203/history' '[.items[].message] | sort | join("|")' \
    "22P02: $hides|failed: trigger: 22P02: $hides|the run is Failed"
reads 'its key and its notices' "tasks/$task" '.task.key, .task.notices' 'null null'
reads 'why' "tasks/$task/explain" '.lines[0].sentence' \
    "task $task of order 1 is Failed: 22P02: the text is hidden: it may quote parameters"
id=$(sql "SELECT min(event_id) - 1 FROM lockstep.event_log WHERE event = 'task_failed' AND task_id = $task")
curl -s -N -m 60 -b "$tmp/cookies" -H "Last-Event-ID: $id" "${url}api/v1/stream" >"$tmp/stream" &
hears=$!
eventually 30 grep -q message_rejected "$tmp/stream"
kill "$hears"
expect 'the stream' \
    "$(grep -c 'task_failed.*22P02: the text is hidden' "$tmp/stream") $(grep -c x9876x "$tmp/stream")" '1 0'

case_begin 'who may act sees what is hidden from others'
eventually 60 eval 'sign_in "$acts"; [ "$status" != 429 ]'
reads 'a definition' 'jobs/job%201' '.job.definition.tasks[0].sql, .job.hidden' 'SELECT secret false'
reads 'a trigger' 'triggers?name=job%202' '.items[0].pending, .items[0].mark' 'secret secret'
reads 'by text' "rejected?queue=$q&text=DETAIL%203" '.items | map(.detail) | join(" ")' 'detail 3'
reads 'a message' "rejected/$rejected" \
    '.message.raw_text, .message.raw_hex, .message.headers[0].name, .message.headers[0].value' \
    '{"sql":  7b2273716c223a20 a b'
reads 'no text' "rejected/$((rejected + 4))" '.message.raw_text, .message.raw_hex' 'null ff00'
reads 'in a list' "tasks?queue=$secret&status=Failed" '.items[0].error' \
    '22P02: invalid input syntax for type integer: "pin x9876x"'
reads 'an error' "tasks/$task" '.task.error' '22P02: invalid input syntax for type integer: "pin x9876x"'
reads 'its key and its notices' "tasks/$task" '.task.key, .task.notices' 'key x9876x NOTICE: x9876x'
reads 'why a job fails' 'health?name=job%203' '.items[0].detail' 'trigger: 22P02: invalid input: "pin x9876x"'
reads 'why its run failed' 'health?name=fails' \
    '.items[0].detail | test(": task .* of order 1 failed: .*x9876x")' true
reads 'why a notice failed' "alerts/$failing" '.notices[0].error' 'PIN x9876x?'
reads 'why a receiver waits' system "$finding" 'not delivered: PIN x9876x?'
reads 'a line of its log' 'job-log?text=x9876x&kind=alert' '.items | length' 2
reads 'by an error' 'events?text=PIN%20x9876x' '.items | map(.event) | sort | unique | join(" ")' \
    'alert_opened message_rejected run_stopped task_failed'

case_begin 'the visitor, the databases, the week, a part of a run, the settings, the tokens'
reads 'the visitor' session '.login, .operator' "$acts true"
reads 'the databases' clusters '.items | map([.default, .signed_in, .figures.queues > 0]) | tostring' \
    '[[true,true,true]]'
reads 'the week' 'calendar?name=job%201' '.items[0] | .job, (.words | length > 0), (.quarters | length > 0)' \
    'job 1 true true'
reads 'a part of a run' "runs/$run/bars?from_ms=0&to_ms=3600000" '.phases | map(.bars | length) | tostring' '[2,1]'
reads 'the settings' settings '[.items[] | select(.key == "show_payloads") | .value] | tostring' '["off"]'
reads 'the tokens' tokens '.items | map([.name, .role, .state]) | tostring' '[["acts","operator","valid"]]'
reads 'the document' openapi.json .openapi 3.1.0

case_begin 'each answer has the members that the OpenAPI document describes, and no others'
# What is rare, as rows: each column that may be null has a value in one of them.
pends=00000000-0000-4000-a000-000000000001 slow=00000000-0000-4000-9000-000000000002
sketched=00000000-0000-4000-9000-000000000003
sql <<SQL >/dev/null
SET session_replication_role = replica;
UPDATE lockstep.run SET paused_by = 'p', paused_at = now(), cancelled_by = 'c', cancelled_at = now(), started_by = 's',
    job_id = (SELECT job_id FROM lockstep.job WHERE name = 'job 1')
WHERE run_id = '$pends';
INSERT INTO lockstep.run_summary (run_no, swept_at) SELECT run_no, now() FROM lockstep.run WHERE run_id = '$pends';
UPDATE lockstep.run SET tasks = 10001 WHERE run_id = '$sketched';
UPDATE lockstep.task t SET duration = '30 s' FROM lockstep.run r
WHERE r.run_no = t.run_no AND r.run_id = '$slow' AND t.kafka_offset = r.run_no * 1000 + 11;
UPDATE lockstep.task SET name = 'n', step = 's', scheduled_for = now(), cancelled_by = 'c', worker = 'w', rows = 1,
    lease_until = now(), condition = 'failure', skipped = 'condition', needs = '{a}', backend_pid = 1, response = 'r',
    traceparent = 't'
WHERE task_id = $task;
UPDATE lockstep.run r SET name = 'n' FROM lockstep.task t WHERE t.run_no = r.run_no AND t.task_id = $task;
UPDATE lockstep.task_attempt SET worker = 'w', rows = 1, detail = 'd', hint = 'h', context = 'c', notices = 'n'
WHERE task_id = $task;
UPDATE lockstep.executor SET drain_by = 'd', drain_at = now(), memory_bytes = 1, readers_limit = 1, trouble = 't',
    trouble_at = now(), trouble_kind = 'login', heartbeat_at = now(), frozen_after = '1 h', ends = ARRAY[1000],
    ended_at = NULL
WHERE host = 'h' AND queues = ARRAY['$q'];
UPDATE lockstep.slot s SET executor_no = (SELECT max(executor_no) FROM lockstep.executor), taken_at = now()
WHERE s.slot_id = ANY (SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND granted AND $own_locks);
UPDATE lockstep.queue SET halted_reason = 'topic_deleted', halted_detail = 'd', halted_at = now(), blocked_offset = 1,
    blocked_at = now()
WHERE name = 'a1';
UPDATE lockstep.queue SET paused = true, paused_by = 'p', paused_at = now() WHERE name = 'a2';
INSERT INTO lockstep.event_log (event, queue_id, detail)
SELECT 'queue_paused', queue_id, 'd' FROM lockstep.queue WHERE name = 'a2';
INSERT INTO lockstep.relay (queue_id, kind, trouble) SELECT queue_id, 'outbox', 't' FROM lockstep.queue
WHERE name = 'a2';
INSERT INTO lockstep.retention (queue_id, swept_at, detail) SELECT queue_id, now(), 'd' FROM lockstep.queue
WHERE name = 'a2';
UPDATE lockstep.rejected_message SET seq = 1, dead_lettered_at = now(), redrive_run = gen_random_uuid(), key = 'k',
    redriven_at = now(), redriven_by = 'r'
WHERE rejected_id = $rejected;
INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason, run_id, "order")
SELECT queue_id, 'all', 0, 1, 0, 'r', gen_random_uuid(), 1 FROM lockstep.queue WHERE name = '$q';
UPDATE lockstep.job SET spec = '{"description": "d"}' WHERE name = 'job 1';
UPDATE lockstep.schedule SET spec = '{"kind": "cron", "expr": "e"}', grace = '1 s', queued_for = now()
WHERE name = 'hourly';
UPDATE lockstep.schedule SET fired_at = now(), failing_since = now(),
    rows_rule = ROW('public.waiting', 'secret', 'at', '10 s', 1, '1 s', '1 s', '1 s', '1 s', 'm')::lockstep.rows_rule,
    look = ROW(now(), 1, now(), now(), 0, 'e')::lockstep.rows_look
WHERE name = 'trigger';
UPDATE lockstep.job_occurrence SET missed_from = now(), rows = 1 WHERE status IS NOT NULL;
UPDATE lockstep.job_event SET run_id = gen_random_uuid(), duration = '1 s', rows = 1 WHERE job = 'job 1';
UPDATE lockstep.job_alert SET acknowledged_by = 'a', acknowledged_at = now(), note = 'n' WHERE alert_id = $failing;
UPDATE lockstep.job_notice SET delivered_at = now(), by_whom = 'b';
UPDATE lockstep.schedule s SET rule = lockstep.rule_of('{"kind": "interval", "every": "1m"}')
FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = 'job 2' AND s.name = 'hourly';
UPDATE lockstep.console_token SET expires_at = now(), revoked_by = 'r', revoked_at = now();
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind) -- the one that holds a slot
SELECT s.executor_no, a.pid, a.backend_start, 'control'
FROM lockstep.slot s
JOIN pg_locks l ON l.classid = lockstep.lock_class('slot')::oid AND l.objid::bigint = s.slot_id AND l.$own_locks
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE s.executor_no IS NOT NULL;
GRANT pg_read_all_stats TO $acts
SQL
console_stop # what it has answered is kept for some seconds
console_start
sign_in "$acts"
phase=$(sql "SELECT min(phase_id) FROM lockstep.phase")
session_open "SELECT pg_advisory_lock_shared(lockstep.lock_class('phase'), ($phase * 2)::int)"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" \
    -c "SELECT pg_advisory_lock(lockstep.lock_class('phase'), ($phase * 2)::int)" >/dev/null 2>&1 &
eventually 30 is "SELECT count(*) FROM lockstep.lock_list() WHERE state = 'waiting'" 1
for place in overview queues queues/a1 queues/a2 "queues/$q" "queues/$q/advise?runs=100" runs "runs/$pends" \
    "runs/$sketched/gantt" "runs/$slow/gantt" "runs/$failed_run/tasks" "runs/$failed_run/attempts" "tasks/$task" tasks \
    executors locks "rejected/$rejected" rejected replays jobs 'jobs/job%201' 'jobs/job%201/history' jobs/fails/days \
    occurrences health schedules calendar triggers job-log "alerts/$failing" tokens system; do
    as GET "api/v1/$place"
    expect "$place" "$status" 200
done
answers_fit GET DatabaseSession.address # the server has a Unix socket alone
session_close
console_stop
cases_end
exit $failed
