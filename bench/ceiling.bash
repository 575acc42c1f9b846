# bench/ceiling.bash: what the server can do at most, and work beside it. Sourced by bench/run.sh.
#
# Counted: tasks / (last end in lockstep.execution_log - first claim), 4 readers, one executor. Reference: pgbench with
# 4 clients on the same server, synchronous_commit off, doing the same writes: a batch of 64 is claimed in one statement
# (64 rows into a table of the task table's shape, and the queue row's cursor), then each task is one transaction of the
# effect's INSERT and the task row's completion, in one round trip. Counted: batches * 64 a second by pgbench,
# connecting left out. Neither Kafka nor JSON, locks or fences are in it: it is the writes alone. It has two forms:
#   prepared   all statements are; it is what the server does at most
#   texts      the INSERTs are texts that differ, as the tasks' are, so the server parses and plans each; the rest is
#              prepared

# reference_tables: the reference's own tables, empty
reference_tables() {
    local options
    options=$(sql "SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = 'lockstep.task'::regclass")
    sql "SET client_min_messages = warning;
         DROP TABLE IF EXISTS ref_task, ref_queue, ref_ledger;
         CREATE TABLE ref_task (LIKE lockstep.task INCLUDING ALL) WITH ($options);
         CREATE TABLE ref_queue (LIKE lockstep.queue INCLUDING ALL) WITH (fillfactor = 10);
         CREATE TABLE ref_ledger (LIKE ledger INCLUDING ALL);
         INSERT INTO ref_queue (name, topic) VALUES ('ref', 'ref')"
}

# reference_script FORM PAYLOAD_BYTES: pgbench's script for one batch
reference_script() {
    awk -v form="$1" -v bytes="$2" '
    function effect(i) {
        return "INSERT INTO ref_ledger VALUES ('\''ref'\'', 100, :o + " i ", clock_timestamp(), clock_timestamp())"
    }
    function completion(id, token) {
        return "UPDATE ref_task SET status = '\''Completed'\'', token = NULL, error = NULL, started_at = now()," \
            " duration = clock_timestamp() - now(), updated_at = clock_timestamp()" \
            " WHERE task_id = " id " AND token = " token
    }
    BEGIN {
        claim = "WITH q AS (UPDATE ref_queue SET next_offset = next_offset + 64 WHERE queue_id = 1" \
            " RETURNING next_offset - 64 AS o)," \
            " t AS MATERIALIZED (SELECT gen_random_uuid() AS token)," \
            " made AS (INSERT INTO ref_task (task_id, phase_id, run_no, queue_id, status, \"order\", seq," \
            " kafka_offset, payload, executor_no, token, attempt_num) OVERRIDING SYSTEM VALUE" \
            " SELECT q.o + i, 1, 1, 1, '\''Pending'\'', 100, q.o + i, q.o + i, repeat('\''x'\'', " bytes "), 1," \
            " t.token, 1" \
            " FROM q, t, generate_series(0, 63) AS i RETURNING 1)" \
            " SELECT q.o, t.token FROM q, t"
        if (form == "texts") { # once a session: a variable of pgbench is kept from batch to batch
            print "\\if :fresh"
            print "PREPARE claim AS " claim ";"
            print "PREPARE complete (bigint, uuid) AS " completion("$1", "$2") ";"
            print "\\set fresh 0"
            print "\\endif"
            print "EXECUTE claim \\gset"
        } else
            print claim " \\gset"
        for (i = 0; i < 64; i++)
            if (form == "texts") {
                print "\\set at :o + " i
                print effect(i) "\\; EXECUTE complete(:at, '\'':token'\'');"
            } else
                print "\\startpipeline\n" effect(i) ";\n" completion(":o + " i, ":token") ";\n\\endpipeline"
    }'
}

# reference_run FORM SECONDS: pgbench's output
reference_run() {
    local protocol=prepared
    [ "$1" = prepared ] || protocol=simple # there an INSERT and an EXECUTE go in one message, and are one transaction
    reference_script "$1" "$(sql 'SELECT avg(length(payload))::int FROM lockstep.task')" >"$tmp/reference.sql"
    PGOPTIONS='-c synchronous_commit=off' "$LOCKSTEP_TEST_PGBIN/pgbench" -n -M $protocol -D fresh=1 -c 4 -j 2 -T "$2" \
        -f "$tmp/reference.sql" "$db" 2>"$tmp/pgbench.log" || fail "$(cat "$tmp/pgbench.log")"
}

# reference FORM SECONDS: tasks a second
reference() {
    local out rate
    reference_tables
    out=$(reference_run "$@")
    rate=$(awk '/^tps = .*without initial/ { print $3 * 64 }' <<<"$out")
    # What it counts it has done.
    [ "$(sql "SELECT count(*) = (SELECT count(*) FROM ref_task WHERE status = 'Completed') AND count(*) > 0
        FROM ref_ledger")" = t ] ||
        fail 'the reference did not do its writes'
    echo "$rate"
}

# ceiling_rounds WORKLOAD PHASES TASKS TARGET [params]
ceiling_rounds() {
    local workload=$1 ours=() refs=() ratios=() text_refs=() text_ratios=() i
    shift
    for ((i = 0; i < rounds; i++)); do
        new_queue 4
        insert_tasks "$q" "$1" "$2" "${4:-}" >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        work_off 4
        ours+=("$(sql "SELECT count(*) / extract(epoch FROM max(ended_at) -
                           (SELECT min(claimed_at) FROM lockstep.phase JOIN lockstep.run USING (run_no)
                            WHERE run_id = '$run'))
                       FROM lockstep.execution_log WHERE run_id = '$run'")")
        refs+=("$(reference prepared "$reference_seconds")")
        ratios+=("$(ratio "${ours[-1]}" "${refs[-1]}")")
        [ -z "${4:-}" ] || continue
        text_refs+=("$(reference texts "$reference_seconds")")
        text_ratios+=("$(ratio "${ours[-1]}" "${text_refs[-1]}")")
    done
    local what="$1 x $2${4:+, one text}"
    figure "$workload" "$what: throughput" tasks/s '' "${ours[@]}"
    figure "$workload" "$what: pgbench" tasks/s '' "${refs[@]}"
    figure "$workload" "$what: throughput / pgbench" ratio "$3" "${ratios[@]}"
    [ -z "${4:-}" ] || return 0
    figure "$workload" "$what: pgbench that sends texts, too" tasks/s '' "${text_refs[@]}"
    figure "$workload" "$what: throughput / pgbench that sends texts, too" ratio "$3" "${text_ratios[@]}"
}
