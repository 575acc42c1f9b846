# tests/torture/load.bash: what is run under torture, and who publishes it. Sourced by run.sh.

# work(): a task. Its ledger row is part of its own transaction; there is no key, so that a double would show. What a rolled
# back attempt saw goes to the server's log: how many run at once, counted by a lock that each holds until its transaction ends
# (so attempts of dead executors count, too), and whether a setting of another task is still there.
load_create() {
    sql "CREATE TABLE ledger (q text, run uuid, ord bigint, n int, started timestamptz, ended timestamptz);
    CREATE FUNCTION work(p_q text, p_run uuid, p_ord bigint, p_n int, p_seconds float8, p_fails int DEFAULT 0, p_set boolean DEFAULT false)
    RETURNS void LANGUAGE plpgsql AS \$\$
    DECLARE
        started timestamptz := clock_timestamp();
        key bigint := hashtext(p_q)::bigint & 1073741823;
        running int;
        bound int := (SELECT max_readers FROM lockstep.queue WHERE name = p_q);
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(key);
        SELECT count(DISTINCT pid) INTO running FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1 AND classid = 0 AND objid::bigint = key AND granted AND mode = 'ShareLock';
        IF running > bound THEN
            RAISE LOG 'torture: % tasks of % at once, the bound is %', running, p_q, bound;
        END IF;
        IF NOT p_set AND current_setting('work_mem') = '77MB' THEN
            RAISE LOG 'torture: task % of % finds what another left in its session', p_n, p_run;
        END IF;
        PERFORM pg_sleep(p_seconds);
        IF p_fails > 0 AND EXISTS (SELECT FROM lockstep.task t JOIN lockstep.run r USING (run_no)
                                   WHERE r.run_id = p_run AND t.name = p_n::text AND t.attempt_num - t.lost_num <= p_fails) THEN
            RAISE EXCEPTION 'fails on purpose';
        END IF;
        INSERT INTO ledger VALUES (p_q, p_run, p_ord, p_n, started, clock_timestamp());
    END \$\$"
}

# load_tasks QUEUE RUN SEED FAILURES: JSON Lines, sorted. A tenth fails at first; one of FAILURES fails for good (0: none).
load_tasks() {
    awk -v q="$1" -v run="$2" -v seed="$3" -v failures="$4" 'BEGIN {
        srand(seed); order = 0; n = 0; phases = 1 + int(rand() * 8); most = rand() < 0.2 ? 200 : 30
        for (p = 0; p < phases; p++) {
            order += 1 + int(rand() * 100); tasks = 1 + int(most * rand() ^ 2)
            for (t = 0; t < tasks; t++) {
                c = sprintf("work('\''%s'\'', '\''%s'\'', %d, %d, %.4f", q, run, order, n, rand() < 0.4 ? 0 : rand() * 0.03)
                k = rand(); more = ""
                if (failures > 0 && rand() < 1 / failures) sql = "SELECT " c "); SELECT 1 / 0"
                else if (k < 0.1) { sql = "SELECT " c ", 1)"; more = ", \"max_attempts\": 3, \"retry_intervals\": [0.02]" }
                else if (k < 0.2) sql = "DO $$BEGIN PERFORM " c "); END$$"
                else if (k < 0.3) sql = "SET work_mem = '\''77MB'\''; SELECT " c ", 0, true)"
                else if (k < 0.4) sql = "CREATE TEMPORARY TABLE mine (a int); SELECT " c ")"
                else if (k < 0.5) sql = "SELECT 1; SELECT " c "); SELECT 2"
                else sql = "SELECT " c ")"
                printf "{\"order\": %d, \"name\": \"%d\", \"sql\": \"%s\"%s}\n", order, n++, sql, more
            }
        }
    }'
}

# load_publish QUEUE SEED FAILURES: runs of random shapes, one after another, until $tmp/stop is there; a sixth of the publishers
# is killed. Each is written down: queue, run, tasks, exit status, killed or not, stream or finite.
load_publish() {
    local -A ways=([finite]=--format=jsonl [stream]=--stream)
    local q=$1 failures=$3 file=$tmp/$1.jsonl run n open killed way pid status
    RANDOM=$2
    while [ ! -e "$tmp/stop" ]; do
        open=$(sql "SELECT count(*) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                    WHERE q.name = '$q' AND r.ended_at IS NULL AND r.first_offset IS NOT NULL" 2>/dev/null) || open=99
        if [ "$open" -gt 2 ]; then
            sleep 0.1
            continue
        fi
        printf -v run '%04x%04x-%04x-4%03x-8%03x-%04x%04x%04x' $RANDOM $RANDOM $RANDOM $((RANDOM % 4096)) $((RANDOM % 4096)) $RANDOM $RANDOM $RANDOM
        load_tasks "$q" "$run" $RANDOM "$failures" >"$file"
        n=$(wc -l <"$file") way=finite killed=no
        [ $((RANDOM % 4)) != 0 ] || way=stream
        [ $((RANDOM % 6)) != 0 ] || killed=yes
        # not through lockstep(): $! is to be the publisher itself
        "$LOCKSTEP_BIN" publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q --run "$run" "${ways[$way]}" "$file" >/dev/null 2>"$tmp/$q.publish.err" &
        pid=$!
        if [ $killed = yes ]; then
            sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
            kill -KILL $pid 2>/dev/null || killed=late
        fi
        status=0
        wait $pid 2>/dev/null || status=$?
        echo "$q $run $n $status $killed $way" >>"$tmp/published"
        [ $status = 0 ] || sed "s/^/$run exit $status: /" "$tmp/$q.publish.err" >>"$tmp/publish.log"
    done
}
