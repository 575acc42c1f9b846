# cost: what PostgreSQL does for a task, from its own counters (pg_stat_wal, pg_stat_database, pg_stat_statements): one
# executor works off INSERTs on 4 readers; the same numbers of pgbench doing the same writes beside it.

# counters: WAL bytes, WAL records, buffers touched, transactions, of the whole server, on which nothing else runs;
# statements that came from a client, and those within functions
counters() {
    sql "SELECT pg_stat_force_next_flush()" >/dev/null
    sql "SELECT (SELECT wal_bytes FROM pg_stat_wal), (SELECT wal_records FROM pg_stat_wal), sum(blks_hit + blks_read),
                sum(xact_commit),
                (SELECT sum(calls) FROM pg_stat_statements WHERE toplevel),
                (SELECT COALESCE(sum(calls), 0) FROM pg_stat_statements WHERE NOT toplevel)
         FROM pg_stat_database" | tr '|' ' '
}

workload_cost() {
    local i j from to tasks=20000 done units=('bytes' '' '' '' '' '')
    local names=('WAL' 'WAL records' 'buffers' 'transactions' 'statements' 'statements in functions')
    local -A ours=() refs=()
    sql "CREATE EXTENSION pg_stat_statements; ALTER DATABASE ${db##*dbname=} SET pg_stat_statements.track = 'all'"
    for ((i = 0; i < rounds; i++)); do
        new_queue 4
        insert_tasks "$q" 1 $tasks >"$tmp/work.jsonl"
        run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
        sql 'CHECKPOINT'
        read -r -a from < <(counters)
        executors 1 "$q" 4
        executors_wait || fail "$(cat "$tmp/$q".*.log)"
        read -r -a to < <(counters)
        check 4
        for j in "${!names[@]}"; do
            ours[$j]+=" $(awk -v a="${from[j]}" -v b="${to[j]}" -v n=$tasks 'BEGIN { printf "%.5g", (b - a) / n }')"
        done
        reference_tables
        sql 'CHECKPOINT'
        read -r -a from < <(counters)
        reference_run prepared "$reference_seconds" >/dev/null
        read -r -a to < <(counters)
        done=$(sql 'SELECT count(*) FROM ref_ledger')
        for j in "${!names[@]}"; do
            refs[$j]+=" $(awk -v a="${from[j]}" -v b="${to[j]}" -v n="$done" 'BEGIN { printf "%.5g", (b - a) / n }')"
        done
    done
    for j in "${!names[@]}"; do
        # shellcheck disable=SC2086
        figure cost "${names[j]} a task" "${units[j]}" '' ${ours[$j]}
        # shellcheck disable=SC2086
        figure cost "${names[j]} a task: pgbench" "${units[j]}" '' ${refs[$j]}
    done
}
