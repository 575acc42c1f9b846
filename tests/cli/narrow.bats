#!/usr/bin/env bats
# ctest: nosan
# What a person asks for is whole on a terminal of 80 columns: reasons, heads, times, the words of a schedule.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    export LC_ALL=C.UTF-8 PGTZ=UTC
    unset COLUMNS
    scratch_database
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('etl', 't')"
    cat >"$BATS_TEST_TMPDIR/jobs.json" <<END
{"jobs": [{"job": "load", "queue": "etl", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [
              {"name": "nightly", "kind": "daily", "times": ["02:00"], "zone": "Europe/Berlin", "grace": "20m"}]},
          {"job": "rows", "queue": "etl", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "trigger": {"on": "public.arrivals", "created_column": "came", "threshold": 1000, "idle": "5m"}}]}
END
    sql 'CREATE TABLE arrivals (came timestamptz); GRANT SELECT ON arrivals TO lockstep_task'
    lockstep job apply "$BATS_TEST_TMPDIR/jobs.json"
}

teardown() {
    scratch_drop
}

narrow() { # ARGS...: $output, each line of which fits, but for the definition of a job
    lockstep "$@" >"$BATS_TEST_TMPDIR/shown"
    output=$(grep -v '^spec ' "$BATS_TEST_TMPDIR/shown")
    echo "$output"
    [ "$(wc -L <<<"$output")" -le 80 ]
}
# A text that goes over several lines, as one.
joined() { tr -s ' \n' ' ' <<<"$output"; }
has() { [[ $(joined) == *"$1"* ]] || { echo "not there: $1"; false; }; }
has_not() { [[ $(joined) != *"$1"* ]] || { echo "there: $1"; false; }; }

@test "job test has the whole reason, and no part of a time" {
    narrow job test load --at 2027-03-01T12:00:00Z
    has_not '…'
    reason=$(lockstep job test load --at 2027-03-01T12:00:00Z -o json | jq -r '.[0].reason')
    [ "${#reason}" -gt 20 ]
    has "$reason"
}

@test "a time that is none is answered with the form that is expected" {
    for given in "job test load --at 25.12.2026" "job test load --at noon" \
        "schedule forecast load --from 25.12.2026"; do
        # shellcheck disable=SC2086
        run lockstep $given
        [ "$status" -eq 2 ]
        [[ $output == *2026-12-25T00:00:00Z* && $output != *datestyle* ]]
    done
}

@test "the schedules of a job are said in words; --wide has the rule and the grace" {
    for list in "job show load" "schedule list" "schedule list load"; do
        # shellcheck disable=SC2086
        narrow $list
        has 'at 02:00 every day, by the clock of Europe/Berlin'
        has_not '"times"'
    done
    narrow job show rows
    has 'when 1000 rows wait, or the oldest has waited for 5m, in public.arrivals'
    lockstep schedule list load --wide | grep -q '"times"'
    lockstep schedule list load --wide | grep -q '00:20:00'
}

@test "run show has whole heads and times, and no count of a status that no task has" {
    sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, phases, tasks, started_at, end_offset)
         VALUES ('aaaa0001-0000-4000-8000-000000000001', 1, 'stop', 'Running', 2, 6, now() - interval '400 days', 9);
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at, done_at)
         VALUES (1, 1, 100, 0, now() - interval '400 days', now() - interval '399 days'), (1, 1, 200, 100, now(), NULL);
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", seq, kafka_offset, payload, type, status)
         SELECT p.phase_id, 1, 1, p.\"order\", n, n, '{\"order\": 1, \"sql\": \"SELECT 1\"}', 'sql',
                CASE p.\"order\" WHEN 100 THEN 'Completed' ELSE 'Processing' END::lockstep.status
         FROM lockstep.phase p, generate_series(1, 2) AS n"
    narrow run show aaaa
    phases=$(grep -A2 '^order .*tasks' <<<"$output")
    [[ $phases != *…* ]]
    head=$(head -n 1 <<<"$phases")
    for column in order state tasks completed processing opened+00 seconds; do [[ " $head " == *" $column "* ]]; done
    [[ $head != *failed* && $head != *error* && $head != *previous* ]]
    sql "UPDATE lockstep.task SET status = 'Failed' WHERE seq = 2 AND \"order\" = 200"
    lockstep run show aaaa | grep '^order .*tasks' | grep -q ' failed '
    lockstep run show aaaa --wide | grep -q '^order previous_order tasks finished'
}

@test "job history says why a time was skipped; a time of another year has its hour" {
    sql "INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, dispatcher)
         SELECT s.job_id, s.schedule_id, '2024-03-01 01:00:00Z', 'skipped', 'schedule nightly',
                'a run of it is open: 29ad4b3b-0000-4000-8000-000000000001; overlap is skip', 'd'
         FROM lockstep.schedule s WHERE s.name = 'nightly'"
    narrow job history load
    has 'a run of it is open: 29ad4b3b-0000-4000-8000-000000000001; overlap is skip'
    has '2024-03-01 01:00'
}

@test "a job that has failed says what failed" {
    sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, started_at, ended_at, end_offset, error)
         VALUES ('29ad4b3b-0000-4000-8000-000000000001', 1, 'stop', 'Failed', now(), now(), 9,
                 'task 12 of order 100 failed: division by zero');
         INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, dispatcher, status,
                                              run_id, ended_at)
         SELECT s.job_id, s.schedule_id, now(), 'fired', 'schedule nightly', 'd', 'Failed',
                '29ad4b3b-0000-4000-8000-000000000001', now()
         FROM lockstep.schedule s WHERE s.name = 'nightly'"
    narrow monitor list
    said='run 29ad4b3b-0000-4000-8000-000000000001 is Failed: task 12 of order 100 failed: division by zero'
    has "$said"
    run lockstep monitor check
    [ "$status" -eq 1 ]
    [[ $output == *"load failed: $said"* ]]
}

@test "migrate list has a line a migration and one a state of the functions; --wide has them all" {
    narrow migrate list
    [ "$(wc -l <<<"$output")" -lt 20 ]
    [[ $output == *baseline*applied* && $output == *" functions of the schema applied"* ]]
    sql "DELETE FROM lockstep.function_version WHERE name LIKE '%queries_shown%'"
    lockstep migrate list | grep -q '1 function of the schema  *pending'
    lockstep migrate list --wide | grep -q queries_shown
}
