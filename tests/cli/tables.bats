#!/usr/bin/env bats
# ctest: nosan
# Lists as people read them fit 80 columns, whatever is in them; everything else is whole.

big=9223372036854775806
cjk=$(printf '夜間バッチ処理%.0s' 1 2 3 4 5)
long=$(printf 'a_very_long_name_%.0s' 1 2 3)

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    export LC_ALL=C.UTF-8
    unset COLUMNS
    scratch_database
    sql "SET client_min_messages = warning;
         INSERT INTO lockstep.queue (name, topic, next_offset, max_readers, halted_at, halted_reason)
         VALUES ('$long', '${long}_topic', $big, 1000, now(), 'topic_changed'), ('q', 't', 3, 5, NULL, NULL);
         INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at, ended_at,
                                   end_offset, error)
         SELECT ('aaaa000' || n || '-0000-4000-8000-000000000001')::uuid, q.queue_id, '$cjk ' || n, 'stop',
                CASE n WHEN 1 THEN 'PartiallyCompleted' ELSE 'Failed' END, 2, 3, now() - n * interval '400 days',
                now(), 9, 'x'
         FROM lockstep.queue q, generate_series(1, 2) AS n WHERE q.name = '$long';
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at)
         SELECT r.run_no, r.queue_id, $big, 0, r.started_at FROM lockstep.run r;
         INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
         VALUES (gen_random_uuid(), '$long.example.org', 2147483647, '0.1.0', 1000, ARRAY['$long', 'q']);
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", seq, kafka_offset, payload, name, type,
                                    status, attempt_num,
                                    started_at, duration, error)
         SELECT p.phase_id, p.run_no, p.queue_id, p.\"order\", n, n, '{\"order\":1, \"sql\": \"SELECT ''$cjk''\"}',
             '$cjk', 'sql', 'Failed', 1000,
                now(), interval '99999999 s', E'ERROR: $cjk\nLINE 2: \t$long\x1b[31m\u202e'
         FROM lockstep.phase p, generate_series(0, 2) AS n;
         INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at, sqlstate, error)
         SELECT t.task_id, 1, 'Failed', t.started_at, t.started_at + t.duration, '22012', t.error FROM lockstep.task t;
         INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, actor, detail)
         SELECT 'task_failed', t.queue_id, t.run_no, t.phase_id, t.task_id, '$long', t.error FROM lockstep.task t;
         INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
         SELECT q.queue_id, $big - 7, 'json', '$cjk $cjk', '\\x00ff0a41'::bytea FROM lockstep.queue q"
}

teardown() {
    jobs_end
    scratch_drop
}

# The widest line of a file, in columns of a terminal, by Unicode's own table of widths.
widest() {
    python3 -c 'import sys, unicodedata
print(max((sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line.rstrip("\n"))
           for line in open(sys.argv[1], encoding="utf-8")), default=0))' "$1"
}

lists=("run list" "task list" "queue list" "executor list" "rejected list" "log" "log --executions" "lock list"
    "migrate list"
    "config list" "config show")

@test "each list fits 80 columns, and 60, with the longest names, CJK and the largest numbers" {
    PGAPPNAME=$long "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -c "SELECT pg_advisory_lock(1280507905, 2), '$cjk
        $long', pg_sleep(60)" >/dev/null &
    held() { [ -n "$(sql "SELECT 1 FROM lockstep.lock_list() AS l WHERE l.query LIKE '%sleep%'")" ]; }
    eventually 10 held
    for list in "${lists[@]}"; do
        # shellcheck disable=SC2086
        lockstep $list >"$BATS_TEST_TMPDIR/shown"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/shown")" -gt 1 ]
        width=$(widest "$BATS_TEST_TMPDIR/shown")
        echo "$list: $width"
        [ "$width" -le 80 ]
        [ "$list" = "config list" ] || [ "$list" = "config show" ] || [[ $list == migrate* ]] && continue
        # shellcheck disable=SC2086
        COLUMNS=60 lockstep $list >"$BATS_TEST_TMPDIR/shown"
        [ "$(widest "$BATS_TEST_TMPDIR/shown")" -le 60 ]
    done
}

@test "nothing that a task said reaches the terminal as a control character" {
    for list in "task list" "task list --wide" "log" "task show 1" "run show --latest"; do
        # shellcheck disable=SC2086
        lockstep $list >"$BATS_TEST_TMPDIR/shown"
        if grep -P '[\x00-\x09\x0b-\x1f\x7f]|\x{202e}' "$BATS_TEST_TMPDIR/shown"; then false; fi
    done
    lockstep task show 1 | grep -qF '\x1b[31m\u202e'
}

@test "--wide and the other forms are whole" {
    lockstep run list --wide | grep -q "aaaa0001-0000-4000-8000-000000000001 $cjk 1"
    lockstep queue list --wide | grep -q "$big"
    [ "$(lockstep run list -o json | jq -r '.[0].name')" = "$cjk 1" ]
    lockstep run list -o csv | grep -q "aaaa0001-0000-4000-8000-000000000001,$cjk 1,"
    [ "$(lockstep queue list -o jsonl | jq -r 'select(.name == "q") | .partition')" = 0 ]
}

@test "ids are cut where they still differ, times are as short as they can be" {
    sql "UPDATE lockstep.run SET run_id = 'aaaa0001-0000-4000-8000-000000000002', started_at = '2024-05-06 07:08:09Z'
        WHERE run_no = 2"
    lockstep run list >"$BATS_TEST_TMPDIR/shown"
    grep -q '2024-05-06 ' "$BATS_TEST_TMPDIR/shown"
    sql "UPDATE lockstep.run
        SET started_at = date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '1 s'"
    lockstep run list --time-zone UTC >"$BATS_TEST_TMPDIR/shown"
    grep -q ' 00:00:01 ' "$BATS_TEST_TMPDIR/shown"
    id=$(awk 'NR == 2 {print $2}' "$BATS_TEST_TMPDIR/shown")
    [ "$id" != "aaaa0001" ]
    lockstep run list --status Failed | grep -q "$(awk 'NR == 3 {print $2}' "$BATS_TEST_TMPDIR/shown" | cut -c1-8)"
}

@test "the head of a column of times names their zone; a time that has another one says so" {
    sql "UPDATE lockstep.run SET started_at = '2024-01-06 07:08:09Z', ended_at = '2024-01-06 08:00:00Z'"
    lockstep run list --time-zone UTC | head -n 1 | grep -q ' started+00 '
    lockstep run list --time-zone Europe/Berlin | head -n 1 | grep -q ' started+01 '
    sql "UPDATE lockstep.run SET started_at = '2024-07-06 07:08:09Z' WHERE run_no = 2"
    lockstep run list --time-zone Europe/Berlin >"$BATS_TEST_TMPDIR/shown"
    grep -qE ' 2024-07-06(\+02)? ' "$BATS_TEST_TMPDIR/shown"
    grep -qE ' 2024-01-06(\+01)? ' "$BATS_TEST_TMPDIR/shown"
    [ "$(grep -c ' 2024-0[17]-06+0[12] ' "$BATS_TEST_TMPDIR/shown")" = 1 ]
    lockstep run list --wide --time-zone Europe/Berlin | grep -q '2024-07-06 09:08:09+02'
}

@test "a short id is taken by every command; one that fits several names them" {
    lockstep run show aaaa0001 -o json | jq -e '.run.run_id == "aaaa0001-0000-4000-8000-000000000001"'
    for command in "run show" "run cancel" "run explain" "task list --run" "log --run" \
        "rejected redrive --dry-run --run"; do
        # shellcheck disable=SC2086
        run lockstep $command aaaa
        [ "$status" -eq 2 ]
        [[ $output == *"several runs fit"* && $output == *aaaa0001-0000* && $output == *aaaa0002-0000* ]]
    done
    sql "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
         SELECT ('bbbb000' || n || '-0000-4000-8000-000000000001')::uuid, 'h' || n, n, '0.1.0', 1, ARRAY['q']
         FROM generate_series(1, 2) AS n"
    run lockstep executor drain bbbb
    [ "$status" -eq 2 ]
    [[ $output == *bbbb0001-0000* && $output == *bbbb0002-0000* ]]
}

@test "task show has the lines of an error below each other, and --raw one field as it is" {
    lockstep task show 1 | grep -q '^ *LINE 2: '
    [ "$(lockstep task show 1 --raw payload | jq -r .sql)" = "SELECT '$cjk'" ]
    [ "$(lockstep task show 1 --raw error | head -n 1)" = "ERROR: $cjk" ]
    lockstep task show 1 -o json | jq -e '.task.seconds == 99999999'
    run lockstep task show 1 --raw response
    [ "$status" -eq 1 ]
    [[ $output == *"has no response"* ]]
}
