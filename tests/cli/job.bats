#!/usr/bin/env bats
# job backfill, job import, schedule add, set and remove, as users call them; what the functions behind them decide is
# in tests/sql/job_hands.sql.
# ctest: nosan timeout=300 long

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
watch() { # NAME EVERY
    printf '{"job": "%s", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "%s"}]}' "$@"
}
open_runs() { is "SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL" "$1"; }
end_runs() { sql "UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL"; }

@test "job test --at runs the query of each schedule with the words of its firing" {
    cat >query.json <<'END'
[{"job": "holidays", "queue": "q", "defaults": {"holiday": "2030-12-25"},
  "query": "SELECT 1 AS order, 'SELECT 1' AS sql, concat_ws(' ', ${schedule}, t.at) AS name
            FROM (SELECT ${scheduled_at} AT TIME ZONE 'UTC' AS at) AS t WHERE t.at::date::text <> ${holiday}",
  "schedules": [{"name": "night", "kind": "cron", "expr": "0 2 * * *"},
                {"name": "noon", "kind": "cron", "expr": "0 12 * * *"}]}]
END
    tr '\n' ' ' <query.json | lockstep job apply -q -
    at() {
        lockstep job test holidays --at "$1" -o json |
            jq -rc 'sort_by(.schedule)[] | [.schedule, .scheduled_for, (.tasks | map(.name))] | flatten | join(",")'
    }
    [ "$(at 2030-12-25T12:00:30Z | cut -d, -f1,3)" = "$(printf '%s\n' night noon)" ]
    [ "$(at 2030-12-26T12:00:30Z | cut -d, -f1,3)" = \
        "$(printf '%s\n' 'night,night 2030-12-26 02:00:00' 'noon,noon 2030-12-26 12:00:00')" ]
    advice=$(sql "SELECT DISTINCT advice FROM lockstep.job_test('holidays')")
    [ "$advice" = 'the tasks are those of its query, which is not run here: lockstep job test holidays' ]
}

@test "job test of a job without a schedule shows the tasks that job run would make" {
    apply <<<'{"jobs": [{"job": "j", "queue": "q", "defaults": {"region": "eu"},
                         "tasks": [{"order": 1, "sql": "CALL load($1)", "params": ["${region}"], "name": "of ${job}"}]},
                        {"job": "asks", "queue": "q",
                         "query": "SELECT 1 AS order, '"'SELECT 1'"' AS sql, ${job} AS name"},
                        {"job": "none", "queue": "q", "query": "SELECT 1 AS order FROM pg_class WHERE false"},
                        {"job": "bad", "queue": "q", "query": "SELECT 1 AS order"}]}'
    says() { # JOB: its decision and its tasks
        lockstep job test "$1" -o json |
            jq -rc '.[] | [.schedule, .would_fire, .verdict, .reason, (.tasks | tostring)] |
                    map(. // "-" | tostring) | join(" | ")'
    }
    by_hand='- | - | wait | it has no schedule, and fires by hand'
    says j >got
    says asks >>got
    says none >>got
    says bad >>got
    diff got - <<END
$by_hand | [{"sql":"CALL load(\$1)","name":"of j","order":1,"params":["eu"]}]
$by_hand | [{"sql":"SELECT 1","name":"asks","order":1}]
$by_hand | []
$by_hand; task 1: there is nothing to do: one of "sql", "command", "url", \
"steps", or "type": "external" | null
END
    said=$(lockstep job test j)
    [[ $said == *tasks*'CALL load($1)'* ]] || { echo "$said"; return 1; }
    advice=$(sql "SELECT advice FROM lockstep.job_test('asks')")
    [ "$advice" = 'the tasks are those of its query, which is not run here: lockstep job test asks' ]
    sql "SELECT lockstep.job_run('j')" >/dev/null
    [ "$(sql "SELECT messages[1]::jsonb - '{run,run_name,run_on_failure,seq,previous_order}'::text[] =
                     (SELECT t.tasks -> 0 FROM lockstep.job_test('j') AS t) FROM lockstep.enqueued")" = t ]
}

@test "job test by a login without the rights of the tasks says that task_conninfo is not set" {
    operator=$(scratch_name)
    sql "CREATE ROLE $operator LOGIN IN ROLE lockstep_operator; CREATE TABLE came (id int, at timestamptz)"
    sql 'GRANT SELECT ON came TO lockstep_task'
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
        "trigger": {"on": "public.came", "threshold": 1}}'
    run "$LOCKSTEP_BIN" job test j -d "$db user=$operator"
    sql "DROP ROLE $operator"
    [ "$status" -eq 2 ] || { echo "$status: $output"; return 1; }
    said=$(tr -s ' \n' ' ' <<<"$output")
    [[ $said == *'task_conninfo is not set'*'set [postgres] task_conninfo to a login of lockstep_task'* ]] ||
        { echo "$output"; return 1; }
}

@test "job apply without task_conninfo says that the SQL of a job was not tried, and applies it" {
    echo '{"job": "j", "queue": "q", "query": "SELECT 1 / 0"}' >asks.json
    said=$(lockstep job apply asks.json 2>&1 >/dev/null)
    [ "$said" = "lockstep: asks.json: SQL of jobs (query, mark, pending) was not tried: set [postgres] task_conninfo \
to a login of lockstep_task, and apply the file again" ] || { echo "$said"; return 1; }
    [ "$(lockstep job list -o json | jq -r '.[].job')" = j ]
    [ -z "$(lockstep job apply asks.json -q 2>&1 >/dev/null)" ]
    echo '{"job": "k", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}' >plain.json
    [ -z "$(lockstep job apply plain.json 2>&1 >/dev/null)" ]
}

@test "job apply with task_conninfo refuses a query whose columns are no fields of a task" {
    sql 'CREATE TYPE pair AS (a int, b int); CREATE DOMAIN json_of_task AS jsonb'
    columns() { # SELECT-LIST [WORDS]: it is refused with these words; without them it is accepted
        jq -n --arg list "$1" '{job: "j", queue: "q", query: ("SELECT " + $list)}' >j.json
        run lockstep job apply j.json -s "postgres.task_conninfo=$db"
        said=$(tr -s ' \n' ' ' <<<"$output")
        if [ -n "${2:-}" ]; then
            [ "$status" -eq 2 ] && [[ $said == *"lockstep: j: query: $2"* ]]
        else
            [ "$status" -eq 0 ]
        fi || { echo "$1: $status: $output"; return 1; }
    }
    columns "'SELECT 1' AS sql" 'column "order": the query does not return it hint: write a number'
    columns '1 AS order' 'column "sql": the query does not return it, nor one of "command", "url", "steps" and "type"'
    columns "1 AS order, 'SELECT 1' AS sql, 'eu' AS region" \
        'column "region": a task has no such field hint: leave it out, or bind it: jsonb_build_array(region) AS params'
    columns "1 AS order, 'SELECT 1' AS sql, \${run} AS run" 'column "run": it is computed hint: leave it out'
    columns "1 AS order, 'SELECT 1' AS sql, interval '5 s' AS timeout" \
        'column "timeout": it is of type interval, and the field of a task is a JSON number hint: write a number'
    columns "current_date AS order, 'SELECT 1' AS sql" 'column "order": it is of type date'
    columns "1 AS order, 2 AS sql" \
        'column "sql": it is of type integer, and the field of a task is a JSON string or array'
    columns "1 AS order, 'SELECT 1' AS sql, '{}'::pair[] AS params, row(1, 2)::pair AS name" \
        'column "name": it is of type public.pair, and the field of a task is a JSON string'
    columns "'SELECT 1' AS task" 'column "task": a task has no such field'
    columns 'FROM (VALUES (1)) AS v' 'column "order"'
    columns "1::numeric AS execution_order, 'SELECT 1' AS sql, ARRAY[1] AS params, now() AS not_before"
    columns "'1' AS order, ARRAY['SELECT 1', 'SELECT 2'] AS sql, '[1]' AS params, '5' AS timeout"
    columns "'{}'::jsonb AS task"
    columns "'{}'::json_of_task AS task"
    columns "q.* FROM (SELECT 1 AS order, 'load' AS command) AS q WHERE \${scheduled_at} > now()"
    columns "1 / (random() * 0)::int AS order, 'SELECT 1' AS sql, 'SELECT 2' AS sql"
    columns "1 AS order, 'SELECT 1' AS sql FROM pg_class FOR UPDATE SKIP LOCKED" # which locks nothing now
}

@test "job run by a login without the rights of the tasks makes a request" {
    operator=$(scratch_name)
    sql "CREATE ROLE $operator LOGIN IN ROLE lockstep_operator"
    apply <<<'{"job": "j", "queue": "q", "query": "SELECT 1 AS \"order\", '"'SELECT 1'"' AS sql"}'
    run "$LOCKSTEP_BIN" job run j -d "$db user=$operator" -o json
    waits=$(sql "SELECT run_id FROM lockstep.job_requests('j')")
    sql "DROP ROLE $operator"
    [ "$status" -eq 0 ] || { echo "$status: $output"; return 1; }
    [[ $output == *"a dispatcher fires this run"*"$waits"* ]] || { echo "$output"; return 1; }
}

@test "monitor check counts jobs that raise no alert apart" {
    apply <<<'{"jobs": [{"job": "a", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]},
        {"job": "b", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}], "enabled": false}]}'
    lockstep monitor silence a --for 1h --reason test -q
    run lockstep monitor check
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 'OK - 0 of 2 jobs, 1 disabled, 1 silenced' ] || { echo "$output"; return 1; }
}

@test "backfill fires a range once, whatever is called how often" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
            "schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"}]}'
    range=(job backfill j --from 2025-03-29T00:00:00Z --to 2025-04-01T00:00:00Z)
    [ "$(lockstep "${range[@]}" --dry-run -o json | jq -r 'map(.action + " " + .scheduled_for) | join(",")')" = \
        'fire 2025-03-29T05:00:00+00:00,wait 2025-03-30T04:00:00+00:00,wait 2025-03-31T04:00:00+00:00' ]
    is 'SELECT count(*) FROM lockstep.run' 0
    lockstep "${range[@]}" --overlap allow -q >/dev/null &
    lockstep "${range[@]}" --overlap allow -q >/dev/null
    wait $!
    is 'SELECT count(*) FROM lockstep.run' 3
    [ "$(lockstep "${range[@]}" --overlap allow -o json 2>/dev/null |
        jq 'map(select(.outcome == "fired")) | length')" -eq 3 ]
    is 'SELECT count(*) FROM lockstep.run' 3
}

@test "backfill one after the other waits for the end of each run, and can be interrupted" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
            "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'
    range=(job backfill j --from 2025-01-01T00:00:00Z --to 2025-01-01T03:00:00Z)
    "$LOCKSTEP_BIN" "${range[@]}" -d "$db" 2>log >out &
    pid=$!
    eventually 30 open_runs 1
    eventually 30 grep -q 'waits for the end of run .*: queue "q" has no executor: lockstep queue explain q$' log
    lockstep queue pause q -q
    eventually 30 grep -q 'waits for the end of run .*: queue "q" is paused: lockstep queue resume q$' log
    lockstep queue resume q -q
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
    apply <<<'{"jobs": [{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]},
            {"job": "free", "overlap": "allow", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}]}'
    run sql "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT lockstep.job_run('j')"
    [[ $output == *'REPEATABLE READ'*'cannot be seen'* && $output == *'ISOLATION LEVEL READ COMMITTED'* ]]
    run sql "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT lockstep.job_backfill('j', '2020-01-01Z', '2020-01-02Z')"
    [[ $output != *'SERIALIZABLE'* ]] # the first fault is reported: it has no schedule
    is 'SELECT count(*) FROM lockstep.run' 0
    sql "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT lockstep.job_run('free'); COMMIT" >/dev/null
    is 'SELECT count(*) FROM lockstep.run' 1
}

@test "an error of a file with several jobs names the job" {
    cd "$BATS_TEST_TMPDIR"
    well='{"job": "well", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'
    says() { # WORDS JOB: the error of a list of two jobs, of which the second is wrong
        printf '[%s, %s]' "$well" "$2" >several.json
        run lockstep job apply several.json
        [ "$status" -ne 0 ]
        [[ "$output" == *"lockstep: $1"* ]] || { echo "$output"; return 1; }
    }
    says 'several.json: bad: queue: it is missing' '{"job": "bad", "tasks": []}'
    says 'several.json: bad: overlap: "x" is not known' '{"job": "bad", "queue": "q", "overlap": "x"}'
    says 'several.json: bad: there is no queue nowhere' '{"job": "bad", "queue": "nowhere", "tasks": []}'
    says 'several.json: bad: schedules' '{"job": "bad", "watch": true}'
    says 'several.json: job 2 of the list: job: "" is no name of a job' '{"job": "", "watch": true}'
}

@test "a kept job of one file does not stop the next file; an error does, and names the rest" {
    for name in a b; do
        printf '{"job": "%s", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}' $name \
            >$name.json
    done
    sed 's/"1h"/"2h"/' a.json >changed.json
    lockstep job apply a.json -q
    run lockstep job apply changed.json b.json
    [ "$status" -eq 1 ]
    [[ $output == *'changed.json: 1 job is kept'* ]] || { echo "$output"; return 1; }
    [ "$(sql "SELECT string_agg(name, ' ' ORDER BY name) FROM lockstep.job")" = 'a b' ]
    echo '{' >wrong.json
    sed 's/"1h"/"3h"/' b.json >b2.json
    run lockstep job apply wrong.json b2.json
    [ "$status" -eq 2 ]
    [[ $output == *'b2.json: not applied'*'wrong.json: it is not JSON'* ]] || { echo "$output"; return 1; }
}

@test "a job that moves to another file is not deleted, in whichever order the files are applied" {
    moves() { # FILE...: job j and job gone of a.json; then b.json has job j
        printf '[%s, %s]' "$(watch j 1h)" "$(watch gone 1h)" >a.json
        lockstep job apply a.json -q --force
        id=$(sql "SELECT job_id FROM lockstep.job WHERE name = 'j'")
        echo '{"jobs": []}' >a.json
        watch j "${every:-1h}" >b.json
        run lockstep job apply "$@" --prune
        is "SELECT concat_ws(' ', name, job_id, file) FROM lockstep.job" "j $id ${owner:-b.json}"
    }
    moves b.json a.json
    [ "$status" -eq 0 ]
    moves a.json b.json
    [ "$status" -eq 0 ]
    every=2h owner=a.json
    moves b.json a.json # it is another job there, so it is kept
    [ "$status" -eq 1 ]
    moves a.json b.json
    [ "$status" -eq 1 ]
    echo '{' >b.json
    run lockstep job apply a.json b.json --prune
    [ "$status" -eq 2 ]
    [[ $output == *'a.json: not applied'*'b.json: it is not JSON'* ]] || { echo "$output"; return 1; }
    is 'SELECT name FROM lockstep.job' j
}

@test "job apply --prune refuses the standard input: all pipes have one name" {
    watch a 1h | lockstep job apply - -q
    watch b 1h >b.json
    lockstep job apply /dev/stdin -q <b.json # is the standard input, too
    watch b 1h >f.json
    for name in - /dev/stdin /dev/fd/0; do
        refused '--prune: all pipes have one name' job apply f.json "$name" --prune <b.json
        refused '--prune: all pipes have one name' job apply "$name" --prune --dry-run <b.json
    done
    is "SELECT string_agg(concat_ws(' ', name, file), ', ' ORDER BY name) FROM lockstep.job" 'a -, b -'
    watch b 2h | lockstep job apply - -q
    is "SELECT version FROM lockstep.job WHERE name = 'b'" 2
    run lockstep job apply b.json
    [ "$status" -eq 1 ]
    [[ $output == *'the standard input declares it'* ]] || { echo "$output"; return 1; }
}

@test "a job that job apply keeps makes the command fail, and is checked like the others" {
    cd "$BATS_TEST_TMPDIR"
    job() {
        printf '{"job": "j", "queue": "q", "max_runtime": "%s", "tasks": [{"order": 1, "sql": "SELECT 1"}],
                 "schedules": [{"name": "night", "kind": "cron", "expr": "0 3 * * *", "zone": "Europe/Berlin"}]}' "$1"
    }
    job 1h >jobs.json
    lockstep job apply jobs.json -q
    lockstep job apply ./jobs.json -q # is the same file
    lockstep job apply -q - <jobs.json # another file that declares the same changes nothing
    job 2h >other.json
    run lockstep job apply other.json --dry-run
    [ "$status" -eq 1 ]
    [[ $output == *kept*'other.json: 1 job is kept, and not as the file declares'*'--force makes them'* ]]
    run lockstep job apply other.json
    [ "$status" -eq 1 ]
    is "SELECT spec ->> 'max_runtime' FROM lockstep.job" 1h
    job 'two hours' >other.json
    run lockstep job apply other.json
    [ "$status" -eq 2 ]
    [[ $output == *'"two hours" is not a length of time'* ]]
    job 2h >other.json
    lockstep job apply other.json --force -q
    is "SELECT spec ->> 'max_runtime' FROM lockstep.job" 2h
    run lockstep schedule list --wide
    [[ $output == *'0 3 * * *'*Europe/Berlin* ]]
    [ "$(lockstep job show j -o json | jq -r '.schedules[0].words, .job.spec.max_runtime')" = \
        'at 03:00 every day, by the clock of Europe/Berlin
2h' ]
    run lockstep job list --time-zone Berlin
    [ "$status" -eq 2 ]
    [[ $output == *'--time-zone: there is no time zone "Berlin"'*'Write a name such as Europe/Berlin.'* ]]
}

@test "what a backfill cannot fill is refused with what to write" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
            "schedules": [{"name": "s", "kind": "interval", "every": "1m"}]}'
    refused '--to is missing' job backfill j --from 2025-01-01T00:00:00Z
    refused 'more than 1000 times' job backfill j --from 2025-01-01T00:00:00Z --to 2025-02-01T00:00:00Z
    refused '--to: the range has' job backfill j --from 2025-01-01T00:00:00Z --to 2025-02-01T00:00:00Z
    refused '--to: it is not after' job backfill j --from 2025-01-01T00:00:00Z --to 2024-02-01T00:00:00Z
    refused 'are fired by the dispatcher' job backfill j --from 2025-01-01T00:00:00Z --to 2225-02-01T00:00:00Z
    run lockstep job backfill j --from 2025-01-01T00:00:00Z --to 2025-01-02T00:00:00Z --overlap cancel
    [ "$status" -eq 2 ]
    is 'SELECT count(*) FROM lockstep.job_occurrence' 0
}

@test "schedules are added, changed and removed one by one, with the options of each kind" {
    apply <<<'{"jobs": [{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]},
            {"job": "p", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}]}'
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
    [ "$(lockstep schedule list j -o json |
        jq -r '.[] | select(.schedule == "cron") | .rule + " " + (.is_active | tostring)')" = '0 3 * * * true' ]
    [ "$(lockstep schedule remove j after --if-version 10 2>&1)" = 'lockstep: j: version 11' ]
    [ "$(lockstep schedule list j -o json | jq length)" -eq 7 ]
}

@test "a schedule that cannot be meant is refused with its field, and nothing is stored" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
            "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'
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
        {"job": "second", "queue": "other", "tasks": [{"order": 1, "sql": "SELECT 1"}],
         "schedules": [{"name": "s", "kind": "after", "job": "first"}]}]}'
    run lockstep queue delete q --yes
    [ "$status" -ne 0 ]
    [[ $output == *'job second of another queue runs after job first of this one'* ]]
    remedy=$(sed -n 's/.*lockstep schedule remove/schedule remove/p' <<<"$output")
    # shellcheck disable=SC2086
    lockstep $remedy -q
    lockstep queue delete q --yes -q
    is "SELECT string_agg(name, ' ') FROM lockstep.job" second
}

# carried FILE: "name: expr" of each job that a file of job import has
carried() {
    jq -r '.jobs[] | .job + ": " + ([.schedules[]? | .expr // .every // .freq_type | tostring] | join(" "))' "$1"
}
lost() { jq -r '.not_carried_over[] | .place + " " + .what' "$1"; }

crontab() {
    cat >'crontab' <<'END'
# what the host does
SHELL=/bin/bash
MAILTO="ops@example.com"
CRON_TZ = Europe/Warsaw
30 2 * * *  /usr/local/bin/backup.sh --full >/dev/null 2>&1
@daily cd /srv && ./rotate 100\%
*/15 9-17 * * mon-fri	/usr/bin/mail -s hi bob%first line%second 100\%
@reboot /usr/bin/warm
0 0 30 2 * /bin/never
0 22-2 * * * /bin/backwards
CRON_TZ=Asia/Tokyo
0 4 * * 5-7 /usr/local/bin/backup.sh --incremental
0 5 * * *
END
}

@test "a crontab becomes a job file that job apply accepts, and every line that does not is named" {
    crontab
    lockstep job import --from crontab crontab --queue q >jobs.json 2>talk.txt
    diff <(carried jobs.json) - <<'END'
backup.sh: 30 2 * * *
rotate: @daily
mail: */15 9-17 * * mon-fri
backup.sh-2: 0 4 * * 5-7
END
    diff <(lost jobs.json) - <<'END'
crontab:2 SHELL=/bin/bash
crontab:3 MAILTO="ops@example.com"
crontab:8 @reboot
crontab:8 /usr/bin/warm
crontab:9 0 0 30 2 *
crontab:9 /bin/never
crontab:10 0 22-2 * * *
crontab:10 /bin/backwards
crontab:13 0 5 * * *
END
    [ "$(grep -c 'not carried over' talk.txt)" -eq 9 ]
    grep -q 'crontab:10: not carried over: 0 22-2 \* \* \*: hour: 22-2 runs backwards; write 22-23,0-2' talk.txt
    [ "$(jq -r '.commands["backup.sh"]' jobs.json)" = '/usr/local/bin/backup.sh --full >/dev/null 2>&1' ]
    [ "$(jq -c '.jobs[2].tasks' jobs.json)" = \
        '[{"input":"first line\nsecond 100%","order":100,"command":"mail","max_attempts":1}]' ]
    [ "$(jq -r '.commands.rotate' jobs.json)" = 'cd /srv && ./rotate 100%' ]
    is 'SELECT count(*) FROM lockstep.job' 0
    [ "$(lockstep job apply jobs.json -o json | jq -r 'map(.action) | unique | join(",")')" = create ]
    for job in 'backup.sh|30 2 * * *|Europe/Warsaw' 'mail|*/15 9-17 * * mon-fri|Europe/Warsaw' \
        'backup.sh-2|0 4 * * 5-7|Asia/Tokyo'; do
        IFS='|' read -r name expr zone <<<"$job"
        diff <(lockstep schedule forecast "$name" --from 2026-10-20T00:00:00Z -n 30 -o json | jq -c 'map(.at)') \
            <(lockstep schedule next "$expr" --zone "$zone" --after 2026-10-19T23:59:59Z -n 30 -o json |
                jq -c 'map(.at)')
    done
}

@test "a crontab of the system names users; as watches nothing but times is carried over" {
    printf '17 * * * *\troot    cd / && run-parts --report /etc/cron.hourly\n' >system
    lockstep job import --from crontab system --system --zone Europe/Warsaw --watch -q >jobs.json
    [ "$(jq -c '.jobs' jobs.json)" = \
        '[{"job":"run-parts","description":"cd / && run-parts --report /etc/cron.hourly","schedules":[{"name":"cron","kind":"cron","expr":"17 * * * *","zone":"Europe/Warsaw"}],"watch":true}]' ]
    lockstep job apply jobs.json -q >/dev/null
    sql "SELECT lockstep.ping('run-parts')"
    lockstep job import --from crontab system --system --zone UTC --queue q -q |
        jq -e '.not_carried_over[0].what == "root"'
}

@test "the table of pg_cron becomes jobs that run its statements" {
    cat >cron.csv <<'END'
jobid,schedule,command,nodename,nodeport,database,username,active,jobname
1,0 3 * * *,"DELETE FROM event WHERE ""at"" < now() - interval '7 days';
SELECT 1",localhost,5432,shop,alice,t,purge events
2,30 seconds,SELECT tick(),localhost,5432,shop,alice,t,
3,0 2 $ * * ignored,CALL close_month(),localhost,5432,shop,alice,f,close
4,0 0 31 6 *,SELECT 1,localhost,5432,shop,alice,t,never
5,0 1 * * *,SELECT '${run}',localhost,5432,shop,alice,t,placeholder
END
    lockstep job import --from pg_cron cron.csv --queue q >jobs.json 2>talk.txt
    diff <(carried jobs.json) - <<'END'
purge-events: 0 3 * * *
pg_cron-2: 30s
close: 0 2 L * *
END
    [ "$(jq '.jobs[0].tasks[0].sql' jobs.json)" = \
        '"DELETE FROM event WHERE \"at\" < now() - interval '"'7 days'"';\nSELECT 1"' ]
    [ "$(jq '.jobs[2].enabled' jobs.json)" = false ]
    grep -q 'cron.csv:6: not carried over: 0 0 31 6 \*: .*never' talk.txt
    grep -q 'cron.csv:7: not carried over: SELECT .*stands in a statement' talk.txt
    grep -q 'cron.csv:2: not carried over: username alice' talk.txt
    grep -q 'cron.csv:4: not carried over: database shop' talk.txt
    [ "$(lockstep job apply jobs.json -o json | jq length)" -eq 3 ]
    lockstep job import --from pg_cron cron.csv --watch -q | jq -e '.jobs | length == 4'
}

agent() {
    cat >sysjobs.csv <<'END'
job_id,originating_server_id,name,enabled,description
6F9619FF-8B86-D011-B42D-00C04FC964FF,0,Backup: full,1,NULL
7F9619FF-8B86-D011-B42D-00C04FC964FF,0,Rebuild indexes (sales),1,NULL
8F9619FF-8B86-D011-B42D-00C04FC964FF,0,Start up,0,NULL
9F9619FF-8B86-D011-B42D-00C04FC964FF,0,By hand,1,NULL
END
    cat >sysschedules.csv <<'END'
schedule_id,name,enabled,freq_type,freq_interval,freq_subday_type,freq_subday_interval,freq_relative_interval,freq_recurrence_factor,active_start_date,active_end_date,active_start_time,active_end_time
1,every 2 days,1,4,2,1,0,0,0,20260101,99991231,20000,235959
2,Mo We,1,8,10,4,90,0,2,20260105,99991231,80000,180000
3,day 31,0,16,31,1,0,0,1,20260101,99991231,33000,235959
4,last Friday,1,32,6,8,4,16,1,20260101,99991231,220000,60000
5,when the agent starts,1,64,0,0,0,0,0,20260101,99991231,0,235959
6,once,1,1,0,0,0,0,0,20200101,99991231,10000,235959
7,unused,1,4,1,1,0,0,0,20260101,99991231,0,235959
END
    cat >sysjobschedules.csv <<'END'
schedule_id,job_id,next_run_date,next_run_time
1,6F9619FF-8B86-D011-B42D-00C04FC964FF,20260103,20000
2,6F9619FF-8B86-D011-B42D-00C04FC964FF,20260105,80000
3,7F9619FF-8B86-D011-B42D-00C04FC964FF,0,0
4,7f9619ff-8b86-d011-b42d-00c04fc964ff,20260130,220000
5,8F9619FF-8B86-D011-B42D-00C04FC964FF,0,0
6,6F9619FF-8B86-D011-B42D-00C04FC964FF,0,0
END
}

@test "the tables of SQL Server Agent become watches with the same times, and what has none is named" {
    agent
    import=(job import --from sqlagent sysjobschedules.csv sysjobs.csv sysschedules.csv --zone Europe/Warsaw)
    lockstep "${import[@]}" --watch >jobs.json 2>talk.txt
    diff <(carried jobs.json) - <<'END'
Backup-full: 4 8
Rebuild-indexes-sales: 16 32
END
    diff <(lost jobs.json) - <<'END'
sysjobs.csv:2 once
sysjobs.csv:4 when-the-agent-starts
sysjobs.csv:4 Start up
sysjobs.csv:5 By hand
sysschedules.csv:8 unused
END
    grep -q 'freq_type: 64 is not a kind of calendar' talk.txt
    lockstep job apply jobs.json -q >/dev/null
    sql "UPDATE lockstep.schedule SET is_active = true"
    # The times of the stored schedules are those of lockstep.forecast_agent for the rows of the file.
    for row in 'every-2-days|4,2,1,0,0,0,20260101,99991231,20000,235959' \
        'Mo-We|8,10,4,90,0,2,20260105,99991231,80000,180000' \
        'day-31|16,31,1,0,0,1,20260101,99991231,33000,235959' \
        'last-Friday|32,6,8,4,16,1,20260101,99991231,220000,60000'; do
        IFS='|' read -r name columns <<<"$row"
        [ "$(sql "SELECT array_agg(f.at) = (SELECT array_agg(a)
                                            FROM lockstep.forecast_agent($columns, '2026-03-01Z', 40, 'Europe/Warsaw')
                                                AS a)
            FROM (SELECT at FROM lockstep.job_forecast(NULL, '2026-03-01Z', NULL, 5000) WHERE schedule = '$name'
                  LIMIT 40)
                AS f")" = t ] || { echo "$name"; return 1; }
    done
    lockstep "${import[@]}" --queue q -q >jobs.json
    [ "$(carried jobs.json | grep -c .)" -eq 3 ] # By hand is a job without a schedule
    [ "$(jq -r '.commands["By-hand"]' jobs.json)" = 'By hand' ]
    lockstep job apply jobs.json -q --force >/dev/null
}

@test "long texts are cut between characters" {
    long=$(printf 'aż%.0s' {1..300})
    printf 'schedule,command,username\n@%s,SELECT 1,a%s\n' "$long" "$long" >long.csv
    printf 'MAILTO=a%s\nCRON_TZ=a%s\n0 1 * * * %s\n' "$long" "$long" "$long" >long
    lockstep job import --from pg_cron long.csv --queue q -q >jobs.json
    jq -e '.jobs == [] and (.not_carried_over | length) == 3' jobs.json
    lockstep job import --from crontab long --queue q -q >jobs.json
    jq -e '.jobs == [] and (.not_carried_over | length) == 3' jobs.json
    iconv -f UTF-8 -t UTF-8 jobs.json >/dev/null
}

@test "a long schedule of pg_cron is read whole" {
    all=$(seq -s, 0 59)
    digits() { printf "%${1}s" '' | tr ' ' 1; }
    printf 'jobid,schedule,command\n' >long.csv
    printf '1,"%s 3 * * *",SELECT 1\n' "$all,$all,$all,$all" >>long.csv
    printf '2,"%s %s %s %s *",SELECT 1\n' "$(digits 370)" "$(digits 9)" "$(digits 5)" "$(digits 1000)" >>long.csv
    lockstep job import --from pg_cron long.csv --queue q -q >jobs.json
    [ "$(jq -r '.jobs[].schedules[].expr' jobs.json)" = "$all,$all,$all,$all 3 * * *" ]
    jq -e '.not_carried_over | length == 2 and (.[0] | .place == "long.csv:3" and (.what | length == 1389)
        and (.reason | contains("at most 1000 characters")))' jobs.json
}

@test "files that are none are refused with what to write" {
    crontab
    printf 'a,b\n1,2\n' >other.csv
    refused '--from is missing' job import crontab --watch
    refused 'no file is named' job import --from crontab --watch
    refused 'neither --watch nor --queue' job import --from crontab crontab
    refused 'a watch has no queue' job import --from crontab crontab --watch --queue q
    refused 'there is no queue of this name' job import --from crontab crontab --queue nowhere
    refused 'its header has no columns schedule and command' job import --from pg_cron other.csv --watch
    refused 'three files are needed, 1 are named' job import --from sqlagent other.csv --watch
    refused 'of none of the three tables' job import --from sqlagent other.csv other.csv other.csv --watch --zone UTC
    printf '1 1 * * * /bin/true\n' >zoneless
    refused 'in which time zone' job import --from crontab zoneless --watch
    printf 'schedule,command\n"0 0 * * *,x\n' >broken.csv
    refused 'it is not CSV' job import --from pg_cron broken.csv --watch
    printf '\377\376a\n' >utf16
    refused 'it is not UTF-8' job import --from crontab utf16 --watch
    : >empty.csv
    refused 'it is empty' job import --from pg_cron empty.csv --watch
    run lockstep job import --from crontab nowhere --watch
    [ "$status" -eq 2 ]
    refused 'CET' job import --from crontab zoneless --watch --zone CET
}

@test "a job on a queue that is being deleted is refused when the queue has gone" {
    mkfifo statements
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" -f statements >/dev/null &
    exec 7>statements
    echo "BEGIN; SELECT lockstep.queue_delete(queue_id) FROM lockstep.queue WHERE name = 'q';" >&7
    eventually 30 is \
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'" 1
    echo '{"job": "late", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}' >late.json
    "$LOCKSTEP_BIN" job apply late.json -d "$db" >out 2>&1 &
    late=$!
    eventually 30 is \
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'" 1
    echo 'COMMIT;' >&7
    exec 7>&-
    status=0
    wait "$late" || status=$?
    cat out
    [ "$status" -eq 2 ]
    grep -q 'there is no queue q' out
    is 'SELECT count(*) FROM lockstep.job' 0
}

@test "a forecast is drawn, a line a job, as wide as the terminal, and not for programs" {
    export LC_ALL=C.UTF-8 COLUMNS=60
    apply <<<'{"jobs": [{"job": "six", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
            "schedules": [{"name": "s", "kind": "interval", "every": "6h"}]},
        {"job": "often-and-with-a-long-name-of-its-own", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
         "schedules": [{"name": "s", "kind": "interval", "every": "5m"}]}]}'
    lockstep schedule forecast six --from 2126-10-20T00:00:00Z --to 2126-10-21T12:00:00Z >drawn
    diff <(tail -n 3 drawn) - <<'END'
six 1·····1·····1·····1·····1·····1
from 2126-10-20 00:00 UTC on
a column is 1h
END
    lockstep schedule forecast --from 2126-10-20T00:00:00Z --to 2126-10-21T00:00:00Z -n 1000 >drawn
    diff <(tail -n 5 drawn) - <<'END'
often-and-with-a-lo… ++++++++++++++++++++++++
six                  1·····1·····1·····1·····
from 2126-10-20 00:00 UTC on
a column is 1h
+ is 10 or more
END
    for columns in 40 45 80; do
        COLUMNS=$columns lockstep schedule forecast --from 2126-10-20T00:00:00Z -n 100 >drawn
        grep -q '^a column is ' drawn
        [ "$(tail -n 5 drawn | wc -L)" -le "$columns" ]
    done
    # A time alone, and what programs read, has no drawing.
    [ "$(lockstep schedule forecast six -n 1 2>/dev/null | grep -c 'a column is')" -eq 0 ]
    [ "$(lockstep schedule forecast -n 50 -o json | jq length)" -eq 50 ]
    [ "$(lockstep schedule forecast -n 50 -o csv 2>/dev/null | wc -l)" -eq 51 ]
}

@test "job run --quiet prints the whole id of the run alone" {
    apply <<<'{"job": "j", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}'
    lockstep job run j -q >out
    [ "$(cat out)" = "$(sql 'SELECT run_id FROM lockstep.run')" ] || { cat out; return 1; }
}
