# tests/torture/load.bash: the work under torture, and its publishers. Sourced by run.sh.
#
# The rows of the tasks are the evidence:
#   ledger      one row for each effect of a transactional task, part of its transaction; no key, so that a double would
#               show
#   bare        one row for each effect of a task with "transaction": false
#   history     a line of the server's log for each begin of an attempt, which no rollback takes back: torture-begin; of
#               commands and requests, a line of $tmp/outside.log
#   torture-bad a line of the server's log for a thing that a task must not see

# begins(): an attempt begins. It holds, as long as it lives, one of as many locks as the queue may run tasks (none
# free: one too many runs, attempts of dead executors included) and a lock on its task (not free: another attempt of it
# is alive). And what did another task leave in this session? p_keep: across the statements of a task without a
# transaction.
load_create() {
    sql "ALTER DATABASE ${db##*dbname=} SET log_error_verbosity = terse"
    sql "CREATE TABLE ledger (q text, run uuid, ord bigint, n int, started timestamptz, ended timestamptz);
    CREATE TABLE ledger_of_others (n int);
    CREATE TABLE bare (q text, run uuid, ord bigint, n int, pid int, ended timestamptz);
    CREATE FUNCTION begins(p_q text, p_run uuid, p_ord bigint, p_n int, p_kind text, p_keep boolean) RETURNS timestamptz
    LANGUAGE plpgsql AS \$\$
    DECLARE
        started timestamptz := clock_timestamp();
        place bigint := (1::bigint << 61) + (hashtext(p_q) & 1073741823)::bigint * 64;
        task bigint := hashtextextended(p_run::text || p_n, 0) >> 4;
        bound int := (SELECT max_readers FROM lockstep.queue WHERE name = p_q);
        found_in_session text := concat_ws(' ',
            CASE WHEN current_setting('work_mem') = '77MB' THEN 'a setting' END,
            CASE WHEN EXISTS (SELECT FROM pg_prepared_statements WHERE from_sql) THEN 'a prepared statement' END,
            CASE WHEN EXISTS (SELECT FROM pg_listening_channels()) THEN 'a LISTEN' END,
            CASE WHEN EXISTS (SELECT FROM pg_cursors WHERE is_holdable) THEN 'a cursor' END,
            CASE WHEN EXISTS (SELECT FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relname = 'mine')
                     THEN 'a temporary table' END,
            CASE WHEN EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')
                     THEN 'an advisory lock' END);
        i int := 1;
    BEGIN
        RAISE LOG 'torture-begin % % % % % %', to_char(started, 'YYYY-MM-DD\"T\"HH24:MI:SS.US'), p_q, p_run, p_ord,
        p_n, p_kind;
        IF found_in_session <> '' THEN
            RAISE LOG 'torture-bad session: task % of run % finds % that another left', p_n, p_run, found_in_session;
        END IF;
        WHILE i <= bound AND NOT CASE WHEN p_keep THEN pg_try_advisory_lock(place + i)
                                      ELSE pg_try_advisory_xact_lock(place + i) END LOOP
            i := i + 1;
        END LOOP;
        IF i > bound THEN
            RAISE LOG 'torture-bad bound: task % of run % is one more than % of %', p_n, p_run, bound, p_q;
        END IF;
        IF NOT (CASE WHEN p_keep THEN pg_try_advisory_lock(task) ELSE pg_try_advisory_xact_lock(task) END)
            AND p_kind = 'bare' THEN
            RAISE LOG 'torture-bad overlap: task % of run % begins while another attempt at it is alive', p_n, p_run;
        END IF;
        RETURN started;
    END \$\$;
    CREATE FUNCTION work(p_q text, p_run uuid, p_ord bigint, p_n int, p_seconds float8, p_fails int DEFAULT 0)
    RETURNS void
    LANGUAGE plpgsql AS \$\$
    DECLARE
        started timestamptz := begins(p_q, p_run, p_ord, p_n, 'sql', false);
    BEGIN
        IF p_n % 3 = 0 THEN -- as on a server that cannot look for its client: it works on for one that is gone
            PERFORM set_config('client_connection_check_interval', '0', true);
        END IF;
        PERFORM pg_sleep(p_seconds);
        -- By what has failed, not by the numbers that are to be proven.
        IF p_fails > 0 AND p_fails > (SELECT count(*) FROM lockstep.task_attempt a
                                      JOIN lockstep.task t USING (task_id) JOIN lockstep.run r USING (run_no)
                                      WHERE r.run_id = p_run AND t.name = p_n::text AND a.sqlstate = 'P0001') THEN
            RAISE EXCEPTION USING MESSAGE = 'fails on purpose ' || repeat('x', p_n % 4) || repeat('ж', 5000),
                -- The message is cut somewhere.
                DETAIL = repeat('x', p_n % 4) || repeat('語', 3000), HINT = repeat('x', p_n % 4) || repeat('é', 5000);
        END IF;
        INSERT INTO ledger VALUES (p_q, p_run, p_ord, p_n, started, clock_timestamp());
    END \$\$;
    CREATE PROCEDURE work_called(p_q text, p_run uuid, p_ord bigint, p_n int, p_seconds float8) LANGUAGE sql AS
        'SELECT work(p_q, p_run, p_ord, p_n, p_seconds)';
    CREATE FUNCTION work_bare(p_q text, p_run uuid, p_ord bigint, p_n int, p_seconds float8)
    RETURNS void LANGUAGE sql AS
        'SELECT begins(p_q, p_run, p_ord, p_n, ''bare'', false); SELECT pg_sleep(p_seconds);
         INSERT INTO bare VALUES (p_q, p_run, p_ord, p_n, pg_backend_pid(), clock_timestamp())'"
}

# Commands and requests note that they began. External workers: one in eight tasks they
# forget.
outside_create() {
    cat >"$tmp/mark" <<MARK
#!/bin/sh
echo "\$(date -u +%FT%T.%6N) \$1 \$2 \$3 \$4 command" >>$tmp/outside.log
sleep "\$5"
MARK
    chmod 755 "$tmp/mark"
    touch "$tmp/outside.log"
    python3 "$here/outside.py" "$tmp" 2>"$tmp/outside.err" &
    outside=$!
    eventually 10 test -s "$tmp/outside.port"
    printf '[commands]\nmark = %s\n\n[http]\nallow = 127.0.0.1:%s\n' "$tmp/mark" \
        "$(cat "$tmp/outside.port")" >"$tmp/conf"
    chmod 600 "$tmp/conf"
    export LOCKSTEP_CONFIG=$tmp/conf
}
workers() { # QUEUE: in the background
    while [ ! -e "$tmp/judged" ]; do
        sql "DO \$\$
            DECLARE
                t record;
                k record;
            BEGIN
                FOR n IN 1..50 LOOP
                    SELECT * INTO t FROM lockstep.next_task('$1', 'worker ' || n);
                    IF FOUND THEN
                        SELECT r.run_id, b.\"order\", b.name INTO k
                        FROM lockstep.task b JOIN lockstep.run r USING (run_no) WHERE b.task_id = t.task_id;
                        RAISE LOG 'torture-begin % $1 % % % external',
                        to_char(clock_timestamp(), 'YYYY-MM-DD\"T\"HH24:MI:SS.US'), k.run_id, k.\"order\", k.name;
                        COMMIT;
                        IF random() > 0.125 THEN
                            PERFORM pg_sleep(random() * 0.05);
                            PERFORM lockstep.modify_task(t.task_id, t.updated_at, 'Completed');
                        END IF;
                        COMMIT;
                    ELSE
                        COMMIT;
                        PERFORM pg_sleep(0.1);
                    END IF;
                END LOOP;
            END \$\$" >/dev/null 2>>"$tmp/workers.log" || sleep 0.3
    done
}

# poison SEED: records that no producer should write, among those of the runs, until $tmp/stop is there. The key of each
# says its expected end.
poison() {
    local q line run
    local -a kinds=('bad_json|not json' 'bad_json|{"order":1'
        'bad_field|{"order":1,"previous_order":0,"sql":"SELECT 1","bogus":1}'
        'unknown_type|{"order":1,"previous_order":0,"type":"nonsense","sql":"SELECT 1"}' 'hole|{"type":"end"}'
        'out_of_range|{"order":9223372036854775808,"previous_order":0,"sql":"SELECT 1"}'
        'hole|{"order":5,"previous_order":3,"sql":"SELECT 1"}'
        'refused_by_database|{"order":1,"previous_order":0,"sql":"SELECT 1","name":"unwanted"}' 'empty|'
        'bad_field|{"order":1,"previous_order":0,"sql":"SELECT 1","unspeakable":1}'
        'duplicate|{"run":"RUN","seq":0,"order":1,"previous_order":0,"sql":"SELECT 1"}'
        'late|{"run":"RUN","seq":9000000,"order":9000000,"previous_order":0,"sql":"SELECT 1"}')
    RANDOM=$1
    while [ ! -e "$tmp/stop" ]; do
        sleep "0.$((RANDOM % 6))"
        set -- "$q1" "$q2" "$q3"
        shift $((RANDOM % 3))
        q=$1
        run=$(awk -v q="$q" '$1 == q && $4 == 0 {print $2}' "$tmp/published" | shuf -n 1 --random-source=<(yes $RANDOM))
        for ((i = RANDOM % 4 == 0 ? RANDOM % 40 : 1; i >= 0; i--)); do
            line="poison ${kinds[RANDOM % ${#kinds[@]}]}"
            [[ $line != *RUN* ]] || [ -n "$run" ] || continue
            echo "${line/RUN/$run}"
        done | timeout 20 kcat -P -q -b "$brokers" -t "$q" -p 0 -K '|' -Z 2>/dev/null || true
    done
}

# load_tasks QUEUE RUN SEED FAILURES SLEEP: JSON Lines, sorted. A tenth fails at first; one of FAILURES fails for good
# (0: none). SLEEP: the longest usual one, in seconds; one in thirty sleeps ten times as long.
load_tasks() {
    awk -v q="$1" -v run="$2" -v seed="$3" -v failures="$4" -v longest="$5" -v port="$(cat "$tmp/outside.port")" \
        'BEGIN {
        srand(seed); order = 0; n = 0; phases = 1 + int(rand() * 8); most = rand() < 0.2 ? 120 : 30
        for (p = 0; p < phases; p++) {
            order += 1 + int(rand() * 100); tasks = 1 + int(most * rand() ^ 2)
            for (t = 0; t < tasks; t++) {
                z = rand() < 0.4 ? 0 : rand() * longest
                if (rand() < 0.03) z = longest * 10 * rand()
                who = sprintf("'\''%s'\'', '\''%s'\'', %d, %d", q, run, order, n)
                c = sprintf("work(%s, %.4f", who, z)
                k = rand(); more = ""
                if (failures > 0 && rand() < 1 / failures) sql = "SELECT " c "); SELECT 1 / 0"
                else if (k < 0.10) {
                    if (rand() < 0.5) { # so that one is lost before it has failed
                        z = longest * 10 * rand()
                        c = sprintf("work(%s, %.4f", who, z)
                    }
                    sql = "SELECT " c ", 1)"; more = ", \"max_attempts\": 2, \"retry_intervals\": [0.02]"
                }
                else if (k < 0.15) sql = "DO $$BEGIN PERFORM " c "); END$$"
                else if (k < 0.20) sql = "CALL work_called(" substr(c, 6) ")"
                else if (k < 0.24) sql = "SELECT " c "); SET work_mem = '\''77MB'\''"
                else if (k < 0.28) sql = "SELECT " c "); CREATE TEMPORARY TABLE mine (a int)"
                else if (k < 0.32) sql = "SELECT " c "); SELECT pg_advisory_lock_shared(" n ")"
                else if (k < 0.34) sql = "SELECT " c "); LISTEN mine"
                else if (k < 0.36) sql = "SELECT " c "); PREPARE mine AS SELECT 1"
                else if (k < 0.38) sql = "SELECT " c "); DECLARE mine CURSOR WITH HOLD FOR SELECT 1"
                else if (k < 0.42) {
                    sql = sprintf("SELECT work_bare(%s, %.4f)", who, z)
                    more = ", \"transaction\": false"
                }
                else if (k < 0.46) {
                    sql = sprintf("SELECT begins(%s, '\''bare'\'', true); SELECT pg_sleep(%.4f); ", who, z)
                    sql = sql sprintf("INSERT INTO bare VALUES (%s, pg_backend_pid(), clock_timestamp())", who)
                    more = ", \"transaction\": false"
                }
                else if (k < 0.55) sql = "SELECT 1; SELECT " c "); SELECT 2"
                else if (k < 0.58) { # a lost attempt is none
                    sql = sprintf("SELECT work(%s, %.4f)", who, longest * 10 * rand())
                    more = ", \"max_attempts\": 1"
                }
                else sql = "SELECT " c ")"
                what = sprintf("\"sql\": \"%s\"%s", sql, more)
                if (sql !~ /1 \/ 0/ && k > 0.97) what = "\"type\": \"external\""
                else if (sql !~ /1 \/ 0/ && k > 0.95) {
                    what = "\"command\": \"mark\", \"args\": [\"%s\", \"%s\", \"%d\", \"%d\", \"%.4f\"]"
                    what = sprintf(what, q, run, order, n, z)
                }
                else if (sql !~ /1 \/ 0/ && k > 0.93) what = sprintf("\"url\": \"http://127.0.0.1:%d/%s/%s/%d/%d/%.4f\"", port, q, run, order, n, z)
                printf "{\"order\": %d, \"name\": \"%d\", %s}\n", order, n++, what
            }
        }
    }'
}

# load_publish QUEUE SEED FAILURES SLEEP: runs of random shapes, one after another, until $tmp/stop is there; a sixth of
# the publishers is killed. Each is written down: queue, run, tasks, exit status, killed or not, stream or finite.
load_publish() {
    local -A ways=([finite]=--format=jsonl [stream]=--stream)
    local q=$1 file=$tmp/$1.jsonl run n open killed way pid status
    RANDOM=$2
    while [ ! -e "$tmp/stop" ]; do
        open=$(sql "SELECT count(*) FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                    WHERE q.name = '$q' AND r.ended_at IS NULL" 2>/dev/null) || open=99 # claimed or not
        if [ "$open" -gt 4 ]; then
            sleep 0.1
            continue
        fi
        printf -v run '%04x%04x-%04x-4%03x-8%03x-%04x%04x%04x' $RANDOM $RANDOM $RANDOM $((RANDOM % 4096)) \
            $((RANDOM % 4096)) $RANDOM $RANDOM $RANDOM
        load_tasks "$q" "$run" $RANDOM "$3" "$4" >"$file"
        n=$(wc -l <"$file") way=finite killed=no
        [ $((RANDOM % 4)) != 0 ] || way=stream
        [ $((RANDOM % 6)) != 0 ] || killed=yes
        : >"$tmp/$q.publish.err"
        # not through lockstep(): $! is to be the publisher itself
        "$LOCKSTEP_BIN" publish -d "$(via publish)" -b "$brokers" --queue "$q" -q --run "$run" "${ways[$way]}" \
            "$file" >/dev/null 2>"$tmp/$q.publish.err" &
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
