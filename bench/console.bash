# console: what a console costs and how fast its pages are. On a server of its own, with the tables of
# bench/console_world.sql (10 million tasks, 100,000 runs, 10,000 jobs; a tenth of all with --quick): each request of
# each page's first view, a scrape, memory. On the bench's server: statements a second with 1 and 100 clients, and an
# executor's throughput with a page open.

# The GETs that pages send when they are opened, and those of their filters; console_others adds the rest: "page path".
# {run}, {task}, {job}, {queue}: another one each time. chain, wide, large: see console_world.sql.
console_requests() {
    local runs=$1 chain wide large
    chain=$(console_run $((runs + 1))) wide=$(console_run $((runs + 2))) large=$(console_run $((runs + 3)))
    sed -e "s,{chain},$chain,; s,{wide},$wide,; s,{large},$large,; s,{one},$((runs * 100 + 2000000 + 99000))," \
        -e '/^ *$/d; s,^ *,,' <<'END'
        overview overview
        runs runs
        runs queues
        runs/filter runs?status=Failed
        runs/filter runs?status=Publishing
        runs/filter runs?name=load%20999
        runs/filter runs?name=nothing
        runs/filter runs?queue={queue}
        runs/filter runs?queue={queue}&status=Running,Paused
        runs/filter runs?since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z
        run runs/{run}
        run runs/{run}/gantt?buckets=400
        run runs/{run}/phases?limit=200
        run runs/{run}/tasks
        run runs/{run}/explain
        run runs/{run}/events?limit=50
        run/chain runs/{chain}
        run/chain runs/{chain}/gantt?buckets=400
        run/chain runs/{chain}/phases?limit=200
        run/chain runs/{chain}/tasks
        run/chain runs/{chain}/explain
        run/chain runs/{chain}/events?limit=50
        run/wide runs/{wide}
        run/wide runs/{wide}/gantt?buckets=400
        run/wide runs/{wide}/phases?limit=200
        run/wide runs/{wide}/tasks
        run/wide runs/{wide}/tasks?status=Failed
        run/wide runs/{wide}/explain
        run/wide runs/{wide}/events?limit=50
        run/large runs/{large}
        run/large runs/{large}/gantt?buckets=400
        run/large runs/{large}/phases?limit=200
        run/large runs/{large}/tasks
        tasks tasks
        tasks/filter tasks?status=Failed
        tasks/filter tasks?status=Pending,Processing
        tasks/filter tasks?queue={queue}
        task tasks/{task}
        task tasks/{task}/explain
        task/wide tasks/{one}
        task/wide tasks/{one}/explain
        queues queues
        queue queues/{queue}
        queue queues/{queue}/readers
        queue queues/{queue}/explain
        queue queues/{queue}/advise?runs=10
        queue runs?queue={queue}&limit=10
        queue/large queues/queue_03/advise?runs=10
        executors executors
        locks locks?limit=1000
        jobs jobs
        jobs jobs/{job}/next?count=100
        jobs calendar?limit=10
        jobs/filter jobs?name=0999
        job jobs/{job}
        job jobs/{job}/next?count=5
        job jobs/{job}/occurrences?limit=40
        job jobs/{job}/days?limit=14
        missed health?limit=200
        missed alerts
        missed occurrences?status=missed,error&limit=50
        log events
        log/filter events?text=x
        log/filter events?kind=task_failed
        log/filter events?queue={queue}
        log/filter events?run={run}
        log/filter events?since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z
        log/jobs job-log
        log/jobs job-log?name={job}
        log/jobs job-log?text=x
        rejected rejected
        rejected/filter rejected?queue={queue}
        rejected/filter rejected?text=x
        rejected/one rejected/777
        replay replays
        system system
END
}
# console_others REQUESTS: the GETs that openapi.json has and REQUESTS has not, for which a run, a task, a job or a
# queue is all that is needed: a new route is measured before a page asks it
console_others() {
    local path query
    curl -fsS "$url/api/v1/openapi.json" | jq -r '.paths | to_entries[] | select(.value.get)
        | [.key[1:], ([.value.get.parameters[]? | select(.in == "query" and .required)
            | "\(.name)=\(.schema.minimum + if .name == "to_ms" then 10000 else 0 end)"] | join("&"))] | join(" ")' |
        while read -r path query; do
        case $path in session | stream | openapi.json | clusters) continue ;; esac
        sed -e 's/^[^ ]* //' -e 's/?.*//' "$1" | grep -qxE "$(sed -E 's,\{[a-z]+\},[^/]+,g' <<<"$path")" && continue
        [[ $(sed -E 's,\{(run|task|job|queue)\},,g' <<<"$path") == *'{'* ]] || echo "other $path${query:+?$query}"
    done
}
console_run() { printf '00000000-0000-4000-8000-%012d' "$1"; }

# console_open [ARGS...]: a console on $db, with a login of its own, so that its statements can be told from others; its
# address is $url, its process $pid
console_open() {
    : >"$tmp/console.log"
    "$LOCKSTEP_BIN" -s "postgres.conninfo=$db user=$console_login" -s console.login=none "$@" console run --listen 0 \
        2>"$tmp/console.log" >/dev/null &
    pid=$!
    eventually 30 grep -q event=console_started "$tmp/console.log" || fail "$(cat "$tmp/console.log")"
    url=$(sed -n 's,.*event=console_started url=\(http://[^/]*\)/.*,\1,p' "$tmp/console.log")
}
console_close() {
    kill -TERM "$pid"
    wait "$pid" || fail "the console did not end well: $(tail -n 3 "$tmp/console.log")"
}
console_person() {
    console_login=bench_$SRANDOM
    sql "CREATE ROLE $console_login LOGIN IN ROLE lockstep_monitor"
}
# console_calls: how many statements the console has sent so far: as its login, or, for a visitor, in the role of a
# group, in which no one else works here
console_calls() {
    sql "SELECT COALESCE(sum(calls), 0) FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
        WHERE r.rolname IN ('$console_login', 'lockstep_monitor')"
}
console_load() { python3 "$here/console_load.py" "$@" || fail "console_load.py $1"; }

# One round with the plans in the server's log, cut into a file for each request.
console_plans() { # RUNS FILE
    local log=$LOCKSTEP_TEST_HOME/postgres.log out=$root/build/bench/console path page from n=0
    rm -rf "$out" && mkdir -p "$out"
    sql "ALTER ROLE $console_login SET session_preload_libraries = 'auto_explain';
         ALTER ROLE $console_login SET auto_explain.log_min_duration = 0;
         ALTER ROLE $console_login SET auto_explain.log_analyze = on;
         ALTER ROLE $console_login SET auto_explain.log_buffers = on;
         ALTER ROLE $console_login SET auto_explain.log_nested_statements = on"
    console_open
    while read -r page path; do
        path=${path//\{run\}/$(console_run 777)} path=${path//\{task\}/69930}
        path=${path//\{job\}/job%2000777} path=${path//\{queue\}/queue_07}
        n=$((n + 1)) from=$(stat -c %s "$log")
        curl -s -S -o /dev/null "$url/api/v1/$path"
        tail -c "+$((from + 1))" "$log" >"$out/$n.${page//\//_}.$(tr -c 'a-z\n' _ <<<"${path%%\?*}" | cut -c 1-40).plan"
    done <"$2"
    console_close
    sql "ALTER ROLE $console_login RESET ALL"
    say "$n plans are in $out"
}

console_pages() { # RUNS JOBS ROUNDS
    local page path p50 p99 most bytes cpu cpu99 over=0 all=0 line
    console_requests "$1" >"$tmp/requests"
    console_open -s metrics.listen=0
    console_others "$tmp/requests" >"$tmp/others"
    cat "$tmp/others" >>"$tmp/requests"
    console_load pages "$url" "$3" "$1" "$2" "$tmp/requests" "$LOCKSTEP_TEST_PG_PID" >"$tmp/measured"
    printf '%-16s %-60s %9s %9s %9s %9s %9s %9s\n' PAGE REQUEST 'p50 ms' 'p99 ms' 'cpu ms' 'cpu p99' 'kB' 'p99 <= 50'
    while read -r page path p50 p99 most bytes cpu cpu99; do
        all=$((all + 1)) line=met
        awk -v is="$p99" 'BEGIN { exit is <= 50 }' && line=MISSED over=$((over + 1)) &&
            missed+=("console: $path takes $p99 ms at p99, wanted 50")
        printf '%-16s %-60s %9s %9s %9s %9s %9s %9s\n' "$page" "$path" "$p50" "$p99" "$cpu" "$cpu99" \
            $((bytes / 1024)) $line
        {
            printf '{"at":"%s","commit":"%s","load":%s,"quick":%s,' "$began" "$commit" "$load" "$quick"
            printf '"workload":"console","figure":"%s","unit":"ms",' "$path"
            printf '"p50":%s,"p99":%s,"max":%s,"bytes":%s,"cpu":%s,"cpu99":%s}\n' \
                "$p50" "$p99" "$most" "$bytes" "$cpu" "$cpu99"
        } >>"$results"
    done <"$tmp/measured"
    figure console "requests above 50 ms at p99, of $all" '' '<= 0' "$over"
    figure console "requests with more than 50 ms of the server's processor at p99" '' '<= 0' \
        "$(awk '$8 > 50' "$tmp/measured" | wc -l)"
    figure console 'the slowest of them, p50' ms '<= 50' "$(sort -k 3,3gr "$tmp/measured" | awk 'NR == 1 { print $3 }')"
    console_scrape "$3"
    figure console 'memory after all pages (VmRSS)' MB '<= 48' "$(memory "$pid" | cut -d ' ' -f 2)"
    console_close
    console_plans "$1" "$tmp/requests"
}

console_scrape() { # TIMES
    local at from to p50 p99 first cpu cpu99
    at=$(sed -n 's,.*event=metrics_served.* url=\(http://[^/]*\)/.*,\1,p' "$tmp/console.log")
    from=$(console_calls)
    read -r p50 p99 _ first cpu cpu99 < <(console_load scrape "$at" /metrics "$1" "$LOCKSTEP_TEST_PG_PID")
    to=$(console_calls)
    figure console 'a scrape: p50' ms '' "$p50"
    figure console 'the same, p99' ms '<= 20' "$p99"
    figure console 'the first one, which opens the session' ms '' "$first"
    figure console "a scrape: the server's processor, p50" ms '' "$cpu"
    figure console 'the same, p99' ms '' "$cpu99"
    figure console 'statements of a scrape' '' '<= 3' "$(ratio $((to - from)) "$1")"
}

# What the browser gets of ours: each script and style, compressed as it asks for it.
console_assets() {
    local path bytes=0 all=0
    while read -r path; do
        bytes=$(curl -s -S --compressed -o /dev/null -w '%{size_download}' "$url/assets/$path")
        all=$((all + bytes))
    done < <(cd "$root/console/web" && find . -name '*.js' -o -name '*.css' | sed 's,^\./,,')
    figure console 'scripts and styles, as sent' kB '<= 150' "$(ratio "$all" 1000)"
}

# A queue with work for as long as it is measured: tasks of 5 ms on four readers; the run page of its run, and the
# overview.
console_statements() {
    local seconds=30 count from to page executor
    [ "$quick" = false ] || seconds=10
    new_queue 4
    awk 'BEGIN {
        for (p = 1; p <= 300; p++)
            for (t = 0; t < 400; t++) printf "{\"order\": %d, \"sql\": \"SELECT pg_sleep(0.005)\"}\n", p
    }' >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    console_person
    console_open
    console_assets
    from=$(console_calls)
    sleep "$seconds"
    figure console 'statements, no one looks' '1/s' '<= 0' "$(ratio $(($(console_calls) - from)) "$seconds")"
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.log" &
    executor=$!
    eventually 30 eval '[ "$(sql "SELECT count(*) FROM lockstep.run WHERE started_at IS NOT NULL")" -gt 0 ]'
    for page in overview run; do
        console_open_page $page >"$tmp/page"
        for count in 1 100; do
            from=$(console_calls)
            read -r loads asked p50 p99 wrong events < <(console_load clients "$url" "$count" "$seconds" "$tmp/page")
            to=$(console_calls)
            [ "$wrong" = 0 ] && [ "$events" -gt 0 ] || fail "$wrong of $asked requests failed, $events events came"
            figure console "$page page, $count clients: statements" '1/s' '<= 5' \
                "$(ratio $((to - from)) "$((seconds + 1))")"
            figure console "the same: an answer, p50 of $asked" ms '' "$p50"
        done
    done
    figure console 'memory with 100 clients (VmRSS)' MB '<= 48' "$(memory "$pid" | cut -d ' ' -f 2)"
    kill -TERM "$executor"
    wait "$executor" || fail "the executor did not end well: $(tail -n 3 "$tmp/$q.log")"
    console_close
}
console_open_page() { # NAME: its requests, of $run
    case $1 in
    overview) echo 'overview overview' ;;
    run) console_requests 1 | sed -n "s,^run runs/{run},run runs/$run,p" ;;
    esac
}

# Pairs in turns: the same run with the page of that run open, and without. The interval is of the median, by the signs
# of the pairs (the third smallest and the third largest of twelve).
console_throughput() {
    local pairs=12 tasks=200000 i side ratios=() rate
    [ "$quick" = false ] || pairs=6 tasks=40000
    console_open
    for ((i = 0; i < pairs; i++)); do
        local -A seconds=()
        for side in $([ $((i % 2)) = 0 ] && echo open alone || echo alone open); do
            console_rate "$side" "$tasks"
            seconds[$side]=$rate
        done
        ratios+=("$(ratio "${seconds[open]}" "${seconds[alone]}")")
    done
    console_close
    figure console 'throughput, run page open / not' ratio '>= 0.98' "${ratios[@]}"
    mapfile -t ratios < <(printf '%s\n' "${ratios[@]}" | sort -g)
    i=$((pairs / 4 - (pairs < 12)))
    figure console '95 %: from' ratio '' "${ratios[i > 0 ? i - 1 : 0]}"
    figure console '95 %: to' ratio '' "${ratios[pairs - (i > 0 ? i : 1)]}"
}
console_rate() { # open|alone TASKS: tasks a second, in $rate
    local client=''
    new_queue 4
    insert_tasks "$q" 4 $(($2 / 4)) params >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    if [ "$1" = open ]; then
        console_open_page run >"$tmp/page"
        python3 "$here/console_load.py" clients "$url" 1 600 "$tmp/page" >/dev/null 2>&1 &
        client=$!
    fi
    work_off 4
    [ -z "$client" ] || { kill "$client" && wait "$client" || true; } 2>/dev/null
    rate=$(sql "SELECT count(*) / extract(epoch FROM max(ended_at) - (SELECT min(claimed_at)
        FROM lockstep.phase JOIN lockstep.run USING (run_no) WHERE run_id = '$run'))
                FROM lockstep.execution_log WHERE run_id = '$run'")
}

# The large tables are in a server of their own, without fsync: they take two minutes to make.
console_large() {
    local runs=100000 jobs=10000 turns=120 kept=$db from
    [ "$quick" = false ] || runs=10000 jobs=1000 turns=30
    runs=${BENCH_RUNS:-$runs}
    "$root/scripts/servers" start "$console_servers" --no-kafka --preload=pg_stat_statements
    local LOCKSTEP_TEST_PG LOCKSTEP_TEST_HOME LOCKSTEP_TEST_PG_PID LOCKSTEP_TEST_PGBIN
    # shellcheck disable=SC1091
    . "$console_servers/env"
    scratch_empty_database
    "$LOCKSTEP_BIN" migrate up -q -d "$db"
    sql 'CREATE EXTENSION pg_stat_statements'
    from=$(now)
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -v runs="$runs" -v jobs="$jobs" \
        -f "$here/console_world.sql"
    say "$(sql "SELECT format('%s tasks, %s runs, %s jobs', (SELECT count(*) FROM lockstep.task),
        (SELECT count(*) FROM lockstep.run), (SELECT count(*) FROM lockstep.job))") in $(since "$from") s"
    console_person
    console_pages "$runs" "$jobs" "$turns"
    "$root/scripts/servers" stop "$console_servers"
    db=$kept
}

workload_console() {
    local url pid console_login
    [ "${BENCH_RUNS:-1}" = 0 ] || console_large
    sql "CREATE EXTENSION pg_stat_statements; ALTER DATABASE ${db##*dbname=} SET pg_stat_statements.track = 'top'"
    console_statements
    sql "ALTER DATABASE ${db##*dbname=} RESET pg_stat_statements.track"
    console_throughput
}
