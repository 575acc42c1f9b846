#!/usr/bin/env bats
# queue advise, of runs whose rows are written by hand: what it says depends on no clock. That it foretells what happens
# is in tests/e2e/advise.sh.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    # Three runs of two phases: seven tasks of 100 ms and one of 600 ms each, by two readers, then 50 ms until the next
    # phase; the newest one is cancelled.
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't'), ('none', 't');
         INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at, ended_at)
         SELECT ('aaaa0000-0000-4000-8000-00000000000' || n)::uuid, q.queue_id, 'n', 'stop',
             CASE n WHEN 3 THEN 'Cancelled' ELSE 'Completed' END, 2, 16,
                timestamptz '2024-05-06 07:00:00Z' + n * interval '1 h', '2024-05-06 12:00:00Z'
         FROM lockstep.queue q, generate_series(1, 3) AS n WHERE q.name = 'q';
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at, done_at)
         SELECT r.run_no, r.queue_id, o, o - 10, r.started_at, r.ended_at
         FROM lockstep.run r, (VALUES (10), (20)) AS v (o);
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", seq, kafka_offset, payload, status,
                                    attempt_num, started_at, duration)
         SELECT p.phase_id, p.run_no, p.queue_id, p.\"order\", n, n, '{}', 'Completed', 1,
             r.started_at + make_interval(secs => CASE p.\"order\" WHEN 20 THEN 0.75 ELSE 0 END + v.s),
                make_interval(secs => v.d)
         FROM lockstep.phase p JOIN lockstep.run r USING (run_no),
              (VALUES (0, 0, 0.1), (1, 0, 0.1), (2, 0.1, 0.6), (3, 0.1, 0.1), (4, 0.2, 0.1), (5, 0.3, 0.1),
                      (6, 0.4, 0.1), (7, 0.5, 0.1))
              AS v (n, s, d)"
}

teardown() {
    scratch_drop
}

@test "queue advise replays the newest runs with 1 to 64 readers" {
    lockstep queue advise q -o json >"$BATS_TEST_TMPDIR/q.json"
    run jq -c '[.runs, .tasks,
        (.measured | .phases, .readers, .makespan_s, .replayed_s, .work_s, .barrier_s),
        .knee, (.readers | length)] | map(. * 1000 | round)' "$BATS_TEST_TMPDIR/q.json"
    echo "$output"
    [ "$output" = '[2000,32000,2000,2000,1450,1450,2600,50,3000,64000]' ]
    run jq -c '[.readers[0, 1, 2, 63] | [.readers, .makespan_s, .cost_s, .idle] | map(. * 10000 | round)]' \
        "$BATS_TEST_TMPDIR/q.json"
    echo "$output"
    [ "$output" = \
        '[[10000,26500,26500,189],[20000,14500,29000,1034],[30000,12500,37500,3067],[640000,12500,800000,9675]]' ]
    run jq -c '.stragglers | map([.order, .seconds * 10, .readers])' "$BATS_TEST_TMPDIR/q.json"
    [ "$output" = '[[10,6,3],[20,6,3]]' ]
    [ "$(jq '.stragglers[0].task_id' "$BATS_TEST_TMPDIR/q.json")" = \
        "$(sql "SELECT min(task_id) FROM lockstep.task WHERE duration = '0.6 s' AND run_no = 2 AND \"order\" = 10")" ]
    [ "$(lockstep queue advise q --runs 1 -o json | jq -c '[.runs, .tasks]')" = '[1,16]' ]
}

@test "queue advise for people shows some of the numbers, the knee and the stragglers in words" {
    COLUMNS=200 run lockstep queue advise q --readers 40
    [ "$status" -eq 0 ]
    [[ $output =~ 2\ +1\.450\ .*measured ]]
    [[ $output =~ 3\ +1\.250\ .*knee ]]
    [[ $output == *'2 runs, 32 attempts, at most 2 readers busy at once'* ]]
    [[ $output == *'of one run: makespan 1.450 s (1.450 s when replayed)'* ]]
    [[ $output == *'knee: 3 readers; up to 40, no number is faster by a tenth'* ]]
    [[ $output == *'order 10: task '*' alone takes 0.600 s; more than 3 readers do not help'* ]]
    [ "$(lockstep queue advise q --readers 4 -o csv | cut -d, -f1 | tr '\n' ' ')" = 'readers 1 2 3 4 ' ]
    [ "$(lockstep queue advise q -o jsonl | wc -l)" = 64 ]
}

@test "queue advise counts failed attempts, and what no reader does, and refuses what it cannot know" {
    # The straggler of the first phase failed once, waited for 2 s and ran again; in the second one it was external.
    sql "INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at)
         SELECT task_id, 1, 'Error', started_at, started_at + interval '100 ms' FROM lockstep.task
         WHERE seq = 2 AND \"order\" = 10;
         UPDATE lockstep.task SET attempt_num = 2, started_at = started_at + interval '2.1 s', duration = '0.5 s'
         WHERE seq = 2 AND \"order\" = 10;
         UPDATE lockstep.task SET type = 'external', worker = 'w' WHERE seq = 2 AND \"order\" = 20;
         UPDATE lockstep.task SET started_at = started_at + interval '2 s' WHERE \"order\" = 20"
    run bash -c "'$LOCKSTEP_BIN' queue advise q -d '$db' -o json |
        jq -c '[.measured.makespan_s, .measured.work_s, .tasks, .readers[0].makespan_s, .readers[7].makespan_s]
            | map(. * 1000 | round)'"
    echo "$output"
    [ "$output" = '[3450,2000,32000,3350,3250]' ]
    run lockstep queue advise none
    [ "$status" -eq 1 ]
    [[ $output == *'none: no run that could be replayed has ended'* ]]
    [ "$(lockstep queue advise none -o json | jq -c '[.runs, .readers, .knee]')" = '[0,[],null]' ]
    run lockstep queue advise q --readers 65
    [ "$status" -eq 2 ]
    [[ $output == *'--readers must be 1 to 64, not 65'* ]]
}

@test "queue advise leaves out runs that were cut short, and only these" {
    # The second run failed in its first phase, and its second one was not run.
    sql "SET session_replication_role = replica; -- no change of a status is refused
         UPDATE lockstep.run SET status = 'Failed', stop_after = 10 WHERE run_no = 2;
         UPDATE lockstep.task SET status = 'Cancelled', attempt_num = 0, started_at = NULL, duration = NULL
         WHERE run_no = 2 AND \"order\" = 20"
    run lockstep queue advise q -o json
    [ "$(jq -c '[.runs, .tasks, .measured.phases]' <<<"$output")" = '[1,16,2]' ]
    # A phase that only a failure would have needed is no cut, nor is a failure in the last phase.
    sql "UPDATE lockstep.task SET skipped = 'condition' WHERE run_no = 2 AND \"order\" = 20"
    run lockstep queue advise q -o json
    [ "$(jq -c '[.runs, .tasks]' <<<"$output")" = '[2,24]' ]
    sql "UPDATE lockstep.run SET aborted = true WHERE run_no = 1"
    run lockstep queue advise q -o json
    [ "$(jq -c '[.runs, .tasks]' <<<"$output")" = '[1,8]' ]
}

@test "queue advise takes the wait for a date for no work of a reader" {
    # The last task of the first phase was not to start before 10 min had passed.
    sql "UPDATE lockstep.task t SET scheduled_for = r.started_at + interval '10 min',
             started_at = r.started_at + interval '10 min'
         FROM lockstep.run r WHERE r.run_no = t.run_no AND t.\"order\" = 10 AND t.seq = 7;
         UPDATE lockstep.task SET started_at = started_at + interval '10 min' WHERE \"order\" = 20"
    run lockstep queue advise q -o json
    echo "$output"
    [ "$(jq -c '[.measured.makespan_s, .measured.handover_s, .readers[0].makespan_s, .readers[7].makespan_s]
             | map(. * 100 | round)' <<<"$output")" = '[60145,0,60205,60135]' ]
}

@test "queue advise counts the failed attempt of a task that was declared done" {
    sql "INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at)
         SELECT task_id, attempt_num, 'Failed', started_at, started_at + duration FROM lockstep.task
         WHERE duration = '0.6 s';
         UPDATE lockstep.task SET started_at = NULL, duration = NULL WHERE duration = '0.6 s'"
    run jq -c '[.tasks, (.measured | .makespan_s, .work_s)]' <(lockstep queue advise q -o json)
    [ "$output" = '[32,1.45,2.6]' ] || { echo "$output"; return 1; }
}
