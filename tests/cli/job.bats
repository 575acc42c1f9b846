#!/usr/bin/env bats
# job backfill, job import, schedule add, set and remove, as users call them; what the functions behind them decide is in tests/sql/job_hands.sql.
# ctest: nosan timeout=300

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't')"
    cd "$BATS_TEST_TMPDIR"
}

teardown() {
    jobs_end
    scratch_drop
}

# refused WORDS COMMAND...: it is refused with exit code 2, these words, and a hint
refused() {
    local words=$1
    shift
    run lockstep "$@"
    [ "$status" -eq 2 ] || { echo "$* ($status): $output"; return 1; }
    [[ $output == *"$words"* && $output == *hint:* ]] || { echo "$*: $output"; return 1; }
}

apply() { lockstep job apply -q - >/dev/null; }
open_runs() { is "SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL" "$1"; }
is() { [ "$(sql "$1")" = "$2" ]; }
end_runs() { sql "UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL"; }

@test "backfill fires a range once, whatever is called how often" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"}]}'
    range=(job backfill j --from 2025-03-29T00:00:00Z --to 2025-04-01T00:00:00Z)
    [ "$(lockstep "${range[@]}" --dry-run -o json | jq -r 'map(.action + " " + .scheduled_for) | join(",")')" = \
        'fire 2025-03-29T05:00:00+00:00,wait 2025-03-30T04:00:00+00:00,wait 2025-03-31T04:00:00+00:00' ]
    is 'SELECT count(*) FROM lockstep.run' 0
    lockstep "${range[@]}" --overlap allow -q >/dev/null &
    lockstep "${range[@]}" --overlap allow -q >/dev/null
    wait $!
    is 'SELECT count(*) FROM lockstep.run' 3
    [ "$(lockstep "${range[@]}" --overlap allow -o json 2>/dev/null | jq 'map(select(.outcome == "fired")) | length')" -eq 3 ]
    is 'SELECT count(*) FROM lockstep.run' 3
}

@test "backfill one after the other waits for the end of each run, and can be interrupted" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'
    range=(job backfill j --from 2025-01-01T00:00:00Z --to 2025-01-01T03:00:00Z)
    "$LOCKSTEP_BIN" "${range[@]}" -d "$db" 2>log >out &
    pid=$!
    eventually 30 open_runs 1
    end_runs
    eventually 30 open_runs 1
    eventually 30 is 'SELECT count(*) FROM lockstep.run' 2
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 8 ]
    grep -q 'Run the same command again' log
    "$LOCKSTEP_BIN" "${range[@]}" -d "$db" -o json 2>log >out &
    pid=$!
    end_runs
    wait "$pid"
    is 'SELECT count(*) FROM lockstep.run' 3
    [ "$(jq -r 'map(.status) | join(",")' out)" = Completed,Completed,Publishing ]
}

@test "a transaction that sees an old state fires no job that may not overlap" {
    apply <<<'{"jobs": [{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}, {"job": "free", "overlap": "allow", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}]}'
    run sql "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT lockstep.job_run('j')"
    [[ $output == *'REPEATABLE READ'*'cannot be seen'* && $output == *'ISOLATION LEVEL READ COMMITTED'* ]]
    run sql "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT lockstep.job_backfill('j', '2020-01-01Z', '2020-01-02Z')"
    [[ $output != *'SERIALIZABLE'* ]] # the first fault is reported: it has no schedule
    is 'SELECT count(*) FROM lockstep.run' 0
    sql "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT lockstep.job_run('free'); COMMIT" >/dev/null
    is 'SELECT count(*) FROM lockstep.run' 1
}

@test "what a backfill cannot fill is refused with what to write" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "interval", "every": "1m"}]}'
    refused '--to is missing' job backfill j --from 2025-01-01T00:00:00Z
    refused 'more than 1000 times' job backfill j --from 2025-01-01T00:00:00Z --to 2025-02-01T00:00:00Z
    refused 'are fired by the dispatcher' job backfill j --from 2025-01-01T00:00:00Z --to 2225-02-01T00:00:00Z
    run lockstep job backfill j --from 2025-01-01T00:00:00Z --to 2025-01-02T00:00:00Z --overlap cancel
    [ "$status" -eq 2 ]
    is 'SELECT count(*) FROM lockstep.job_occurrence' 0
}

@test "schedules are added, changed and removed one by one, with the options of each kind" {
    apply <<<'{"jobs": [{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}, {"job": "p", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}]}'
    add() { lockstep schedule add j "$@" -q; }
    add cron --cron '0 2 * * *' --zone Europe/Warsaw --misfire all --catchup-window 4h --jitter 5m --enabled off
    add every --every 90s --phase 10s --not-before 2026-01-01T00:00:00Z --not-after 2226-01-01T00:00:00Z
    add daily --daily 06:00,18:30
    add weekly --weekly 'MON,FRI 06:00,18:30'
    add monthly --monthly '1,-1 06:00'
    add once --at 2226-01-31T06:00:00 --zone Asia/Tokyo
    add after --after-job p --on failure
    add agent --rule '{"kind": "calendar", "freq_type": 4, "freq_interval": 1}' --zone Asia/Tokyo
    diff <(lockstep job export j | jq -c '.schedules[]') - <<'END'
{"expr":"0 2 * * *","kind":"cron","name":"cron","zone":"Europe/Warsaw","jitter":"5m","enabled":false,"misfire":"all","catchup_window":"4h"}
{"kind":"interval","name":"every","every":"90s","phase":"10s","not_after":"2226-01-01T00:00:00Z","not_before":"2026-01-01T00:00:00Z"}
{"kind":"daily","name":"daily","times":["06:00","18:30"]}
{"days":["MON","FRI"],"kind":"weekly","name":"weekly","times":["06:00","18:30"]}
{"days":[1,-1],"kind":"monthly","name":"monthly","times":["06:00"]}
{"at":"2226-01-31T06:00:00","kind":"once","name":"once","zone":"Asia/Tokyo"}
{"on":"failure","job":"p","kind":"after","name":"after"}
{"kind":"calendar","name":"agent","zone":"Asia/Tokyo","freq_type":4,"freq_interval":1}
END
    lockstep schedule set j cron --enabled on --cron '0 3 * * *' -q
    [ "$(lockstep schedule list j -o json | jq -r '.[] | select(.schedule == "cron") | .rule + " " + (.is_active | tostring)')" = '0 3 * * * true' ]
    [ "$(lockstep schedule remove j after --if-version 10 2>&1)" = 'lockstep: j: version 11' ]
    [ "$(lockstep schedule list j -o json | jq length)" -eq 7 ]
}

@test "a schedule that cannot be meant is refused with its field, and nothing is stored" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'
    refused 'no rule is given' schedule add j t
    refused 'it has two rules: --cron and --every' schedule add j t --cron '0 2 * * *' --every 1h
    refused 'it is no JSON object' schedule add j t --rule '[7]'
    refused 'hour: 25 is not in the range' schedule add j t --cron '0 25 * * *'
    refused 'nothing is to change' schedule set j s
    refused 'CET' schedule set j s --zone CET
    refused 'already' schedule add j s --every 1h
    refused 'no schedule "t"' schedule set j t --every 1h
    refused 'there is no job nowhere' schedule remove nowhere s
    run lockstep schedule remove j s --if-version 3
    [ "$status" -eq 1 ]
    [[ $output == *'of version 1, not 3'*'lockstep job show j'* ]]
    run lockstep schedule add j
    [ "$status" -eq 2 ]
    is 'SELECT version FROM lockstep.job' 1
}

@test "a queue is not deleted beneath a job of another queue, and the hint says how to continue" {
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('other', 'u')"
    apply <<<'{"jobs": [{"job": "first", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]},
        {"job": "second", "queue": "other", "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "after", "job": "first"}]}]}'
    run lockstep queue delete q --yes
    [ "$status" -ne 0 ]
    [[ $output == *'job second of another queue runs after job first of this one'* ]]
    remedy=$(sed -n 's/.*lockstep schedule remove/schedule remove/p' <<<"$output")
    # shellcheck disable=SC2086
    lockstep $remedy -q
    lockstep queue delete q --yes -q
    is "SELECT string_agg(name, ' ') FROM lockstep.job" second
}
