# schedule: how late jobs fire, how many in the same second, what idle jobs cost, and how long forecast, health, a look
# at a table and a take-over take. Beside them a bare loop: one session that sleeps until the second and inserts as many
# rows, each in a transaction of its own.

# COUNT EVERY PHASES: jobs of $q that fire every EVERY seconds, spread over so many seconds
schedule_jobs() {
    sql "SELECT count(lockstep.job_define(jsonb_build_object('job', 'j' || n, 'queue', '$q', 'overlap', 'allow',
         'tasks', '[{\"order\": 1, \"sql\": \"SELECT 1\"}]'::jsonb,
         'schedules', jsonb_build_array(jsonb_build_object('name', 's', 'kind', 'interval', 'every', '$2s',
                                                           'phase', n % $3 || 's', 'catchup_window', '1h')))))
        FROM generate_series(1, $1) AS n" >/dev/null
}
schedule_gone() { sql 'DELETE FROM lockstep.job' >/dev/null; }
schedule_executor() { # NAME: in the background, its pid in $pid
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/$q.$1.log" &
    pid=$!
    eventually 30 grep -q event=executor_started "$tmp/$q.$1.log"
}
schedule_end() {
    kill -TERM "$pid"
    wait "$pid" || fail "the executor did not end well: $(tail -n 5 "$tmp/$q".*.log)"
}
# SHARE QUERY: of the query's only column
schedule_percentile() { sql "SELECT percentile_disc($1) WITHIN GROUP (ORDER BY v) FROM ($2) AS x (v)"; }
schedule_took() { # STATEMENT: its milliseconds
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" -c '\timing on' -c "$1" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' |
        tail -1
}

schedule_late() {
    local seconds=60 from late started
    [ "$quick" = false ] || seconds=20
    schedule_jobs 1000 100 100
    # While they are made, in one transaction, their first times pass, and before it the relay has not sent anything.
    from=$(sql "SELECT date_trunc('second', clock_timestamp()) + interval '3 s'")
    sleep $((seconds + 3))
    eventually 30 schedule_over
    late="SELECT extract(epoch FROM lateness) * 1000 FROM lockstep.occurrence
        WHERE outcome = 'fired' AND job LIKE 'j%' AND scheduled_for >= '$from'"
    started="SELECT extract(epoch FROM min(l.started_at) - o.scheduled_for)
             FROM lockstep.occurrence o JOIN lockstep.execution_log l USING (run_id)
             WHERE o.scheduled_for >= '$from' GROUP BY o.run_id, o.scheduled_for"
    figure schedule 'firing after its time, p50' ms '<= 5' "$(schedule_percentile 0.5 "$late")"
    figure schedule 'the same, p99' ms '<= 50' "$(schedule_percentile 0.99 "$late")"
    figure schedule 'time to first task, p50' s '' "$(schedule_percentile 0.5 "$started")"
    figure schedule 'time to first task, p99' s '<= 0.5' "$(schedule_percentile 0.99 "$started")"
    schedule_gone
}
schedule_over() { is 'SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL' 0; }

# Ten jobs at each full minute, the shortest distance that pg_cron has before 1.5 (Debian: postgresql-15-cron), and as
# many of its own, on a server of its own.
schedule_cron() {
    local minutes=3 from
    [ "$quick" = false ] || minutes=1
    if [ ! -e "$("$LOCKSTEP_TEST_PGBIN/pg_config" --sharedir)/extension/pg_cron.control" ]; then
        say 'there is no pg_cron: nothing is compared with it'
        return
    fi
    "$root/scripts/servers" start "$cron_servers" --no-kafka --fsync --preload=pg_cron
    schedule_cron_sql 'CREATE EXTENSION pg_cron'
    schedule_cron_sql \
        "SELECT count(cron.schedule('c' || n, '* * * * *', 'SELECT 1')) FROM generate_series(1, 10) AS n" >/dev/null
    sql "SELECT count(lockstep.job_define(jsonb_build_object('job', 'c' || n, 'queue', '$q',
         'tasks', '[{\"order\": 1, \"sql\": \"SELECT 1\"}]'::jsonb,
         'schedules', '[{\"name\": \"s\", \"kind\": \"cron\", \"expr\": \"* * * * *\"}]'::jsonb)))
        FROM generate_series(1, 10) AS n" >/dev/null
    from=$(sql "SELECT clock_timestamp() + interval '3 s'")
    eventually $((minutes * 60 + 90)) schedule_cron_ran $((minutes * 10)) "$from"
    figure schedule 'ten jobs each minute: p50' ms '' \
        "$(schedule_percentile 0.5 "SELECT extract(epoch FROM lateness) * 1000 FROM lockstep.occurrence
            WHERE job LIKE 'c%' AND scheduled_for >= '$from'")"
    figure schedule 'the same with pg_cron: p50' ms '' "$(schedule_cron_sql \
        "SELECT percentile_disc(0.5) WITHIN GROUP
             (ORDER BY extract(epoch FROM start_time - date_trunc('minute', start_time)) * 1000)
        FROM cron.job_run_details WHERE start_time >= '$from'")"
    "$root/scripts/servers" stop "$cron_servers"
    schedule_gone
}
schedule_cron_sql() {
    (. "$cron_servers/env" &&
        "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$LOCKSTEP_TEST_PG" -c "$1")
}
schedule_cron_ran() { # COUNT FROM
    [ "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE job LIKE 'c%' AND scheduled_for >= '$2'")" -ge "$1" ] &&
        [ "$(schedule_cron_sql "SELECT count(*) FROM cron.job_run_details WHERE start_time >= '$2'")" -ge "$1" ]
}

# 1,000 of 10,000 jobs in the same second, and the bare loop, with as many rows.
schedule_rush() {
    local at all=10000 many=1000 bare
    [ "$quick" = false ] || all=2000 many=200
    at=$(($(date +%s) + all / 100 + 30))
    sql "SELECT count(lockstep.job_define(jsonb_build_object('job', 'j' || n, 'queue', '$q', 'overlap', 'allow',
         'tasks', '[{\"order\": 1, \"sql\": \"SELECT 1\"}]'::jsonb,
         'schedules', jsonb_build_array(jsonb_build_object('name', 's', 'kind', 'once',
             'at', to_timestamp($at + CASE WHEN n <= $many THEN 0 ELSE 86400 END))))))
        FROM generate_series(1, $all) AS n" >/dev/null
    eventually 240 schedule_fired "$many"
    figure schedule "$many of $all jobs in one second" s '<= 2' \
        "$(sql "SELECT extract(epoch FROM max(fired_at) - max(scheduled_for)) FROM lockstep.occurrence
            WHERE outcome = 'fired'")"
    [ "$(sql "SELECT count(*), count(DISTINCT job) FROM lockstep.occurrence WHERE outcome = 'fired'")" = \
        "$many|$many" ] || fail 'a job fired twice, or not at all'
    checked=$((checked + 1))
    eventually 120 schedule_over
    sql 'CREATE TABLE IF NOT EXISTS bare_loop (n int, at timestamptz)'
    sql "DO \$\$ DECLARE at timestamptz := date_trunc('second', clock_timestamp()) + interval '2 s';
        BEGIN
            PERFORM pg_sleep(extract(epoch FROM at - clock_timestamp()));
            FOR i IN 1..$many LOOP INSERT INTO bare_loop VALUES (i, clock_timestamp()); COMMIT; END LOOP;
        END \$\$"
    bare=$(sql "SELECT extract(epoch FROM max(at) - date_trunc('second', min(at))) FROM bare_loop")
    figure schedule "a bare loop, $many inserts" s '' "$bare"
}
schedule_fired() { [ "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired'")" -ge "$1" ]; }

# With the jobs that are left, none of them due.
schedule_idle() {
    local seconds=60 log=$LOCKSTEP_TEST_HOME/postgres.log from cpu sent times=() i
    [ "$quick" = false ] || seconds=20
    sql 'ANALYZE' # as autovacuum does a moment after so many new rows
    for i in {1..7}; do
        from=$(now)
        lockstep monitor list >/dev/null
        times+=("$(since "$from")")
    done
    figure schedule 'health of all jobs (monitor list)' s '<= 0.3' "${times[@]}"
    figure schedule 'forecast of all jobs, a week' s '<= 2' "$(ratio "$(schedule_took \
        "SELECT count(*) FROM lockstep.job_forecast(NULL, now(), now() + interval '7 days', 100000)")" 1000)"
    sql "ALTER DATABASE ${db##*dbname=} SET log_statement = 'all'"
    schedule_end
    schedule_executor idle
    sleep 5
    from=$(wc -l <"$log")
    cpu=$(cpu_ms "$pid")
    sleep "$seconds"
    sent=$(tail -n +"$((from + 1))" "$log" | grep -c "lockstep/dispatcher LOG:  \(execute\|statement\)" || true)
    figure schedule 'dispatcher, idle: statements' '1/minute' '<= 5' "$(ratio $((sent * 60)) "$seconds")"
    figure schedule 'executor, idle: processor time' 'ms/minute' '<= 60' \
        "$(ratio "$(awk -v a="$cpu" -v b="$(cpu_ms "$pid")" 'BEGIN { print (b - a) * 60 }')" "$seconds")"
    sql "ALTER DATABASE ${db##*dbname=} RESET log_statement"
    schedule_gone
}

# A look at a table of which one row in a hundred waits, with the advised index.
schedule_look() {
    local rows=10000000 i took=() look
    [ "$quick" = false ] || rows=1000000
    sql "CREATE TABLE staging (id bigint, came timestamptz NOT NULL, batch uuid);
         INSERT INTO staging
         SELECT n, now() - n * interval '1 ms',
             CASE WHEN n % 100 <> 0 THEN '00000000-0000-4000-8000-000000000000'::uuid END
         FROM generate_series(1, $rows) AS n;
         CREATE INDEX ON staging (came) WHERE batch IS NULL"
    sql 'VACUUM ANALYZE staging'
    sql "SELECT lockstep.job_define(jsonb_build_object('job', 'rows', 'queue', '$q', 'enabled', false,
         'tasks', '[{\"order\": 1, \"sql\": \"SELECT 1\"}]'::jsonb,
         'trigger', '{\"on\": \"public.staging\", \"pending\": \"batch IS NULL\", \"created_column\": \"came\",
                      \"threshold\": 10000}'::jsonb))" >/dev/null
    look=$(sql "SELECT format('SELECT FROM lockstep.ask_look(%L);', look) FROM lockstep.job_test_look('rows')")
    # In one session, as a dispatcher's are, which is cleaned behind each look.
    for ((i = 0; i < 16; i++)); do
        printf '%s\n' '\timing on' "$look" '\timing off' 'DISCARD ALL;'
    done >"$tmp/looks.sql"
    mapfile -t took < <("$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" -f "$tmp/looks.sql" |
        sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n +2)
    figure schedule "a look at $rows rows" ms '<= 5' "${took[@]}"
    sql 'DROP TABLE staging'
    schedule_gone
}

# The dispatcher is killed; how long until another one has its lock.
schedule_take_over() {
    local kills=50 n heir victim killed times=()
    [ "$quick" = false ] || kills=10
    schedule_jobs 1 3600 1
    heir=$pid
    eventually 30 schedule_dispatches "$heir"
    for ((n = 1; n <= kills; n++)); do
        victim=$heir
        schedule_executor "heir.$n"
        heir=$pid
        sleep 0.5 # it stands by
        kill -9 "$victim"
        killed=$(now)
        wait "$victim" 2>/dev/null || true
        eventually 30 schedule_dispatches "$heir"
        times+=("$(since "$killed")")
    done
    pid=$heir
    figure schedule 'kill -9, another dispatches' s '' "${times[@]}"
    figure schedule 'the same, p99' s '<= 2' "$(printf '%s\n' "${times[@]}" | sort -g |
        awk '{ v[NR] = $1 } END { i = int(NR * 0.99 + 0.999); print v[i < 1 ? 1 : i] }')"
}
schedule_dispatches() { # PID of the executor
    [ "$(sql "SELECT count(*)
        FROM pg_locks l JOIN lockstep.executor_session s USING (pid) JOIN lockstep.executor e USING (executor_no)
        WHERE l.locktype = 'advisory' AND l.granted AND l.classid::bigint = lockstep.lock_class('dispatch')
          AND l.objid = 0 AND s.kind = 'dispatcher' AND e.pid = $1")" = 1 ]
}

workload_schedule() {
    new_queue 4
    schedule_executor first
    schedule_late
    schedule_cron
    schedule_rush
    schedule_idle
    schedule_look
    schedule_take_over
    schedule_end
}
