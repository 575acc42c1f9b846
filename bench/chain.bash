# chain: 60,000 phases of one task (6,000 with --quick) on a fresh database, one executor: does a barrier cost as much
# at the end as at the beginning, when the tables were new? Nothing analyses them but autovacuum. Reference: two
# sessions that hand an advisory lock over (bench/handoff.c), again and again beside it: their median in the same
# thousand. What else runs on the machine is in the rate, but not in the server's processor time and hardly in the
# buffers that it touches, so these tell whether the work itself grows.

# chain_marks: every second the time, the server's processor time (ms) and the buffers of our database so far, and a
# hand-over (ms)
chain_marks() {
    local at tick
    tick=$(getconf CLK_TCK)
    while :; do
        at=$(now)
        printf '%s %s %s ' "$at" \
            "$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v pg="$LOCKSTEP_TEST_PG_PID" -v tick="$tick" '
                $1 == pg { n += $14 + $15 + $16 + $17 }
                { sub(/.*\) /, "") }
                $2 == pg { n += $12 + $13 }
                END { print n * 1000 / tick }')" \
            "$("$LOCKSTEP_TEST_PGBIN/psql" -X -At -d "$LOCKSTEP_TEST_PG" \
                -c "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = '${db##*dbname=}'")"
        "$build/bench_handoff" "$LOCKSTEP_TEST_PG" 30 'SELECT pg_advisory_lock(1, 1)' \
            'SELECT pg_advisory_unlock(1, 1)' | sort -n |
            awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] / 1000 }'
        sleep 0.9
    done
}

# chain_windows SIZE: a line for each so many phases: phases/s, when the first of them began and the last one ended
chain_windows() {
    sql "SELECT count(*) / extract(epoch FROM max(ended_at) - min(started_at)), extract(epoch FROM min(started_at)),
             extract(epoch FROM max(ended_at))
         FROM (SELECT (row_number() OVER (ORDER BY \"order\") - 1) / $1 AS n, started_at, ended_at
               FROM lockstep.execution_log WHERE run_id = '$run') t GROUP BY n ORDER BY n" | tr '|' ' '
}

# chain_cost FIELD: for each line of windows on stdin how much that field of the marks grew in it; between two marks on
# a straight line
chain_cost() {
    awk -v field="$1" '
        function at(t,   i) {
            for (i = 2; i < n && when[i] < t; i++) continue
            return is[i - 1] + (is[i] - is[i - 1]) * (t - when[i - 1]) / (when[i] - when[i - 1])
        }
        NR == FNR { if (NF == 4) { when[++n] = $1; is[n] = $field } next }
        { print at($3) - at($2) }' "$tmp/marks" -
}

# chain_hand FROM TO: the median of the hand-overs between these two times
chain_hand() {
    awk -v from="$1" -v to="$2" 'NF == 4 && $1 >= from - 1 && $1 <= to + 1 { print $4 }' "$tmp/marks" | sort -g |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] + 0 }'
}

workload_chain() {
    local phases=60000 tenth marks reads rates=() from=() to=() cpu=() buffers=() first last
    [ "$quick" = false ] || phases=6000
    tenth=$((phases / 10))
    new_queue 4
    insert_tasks "$q" $phases 1 >"$tmp/work.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/work.jsonl")
    chain_marks >"$tmp/marks" 2>/dev/null &
    marks=$!
    executors 1 "$q" 4
    executors_wait || fail "$(cat "$tmp/$q".*.log)"
    sleep 2 # a mark behind the last task
    kill "$marks"
    wait "$marks" 2>/dev/null || true
    [ "$(sql "SELECT status FROM lockstep.run WHERE run_id = '$run'")" = Completed ] ||
        fail "the run is not Completed: $(cat "$tmp/$q".*.log)"
    reads=$(sql "SELECT sum(seq_tup_read + COALESCE(idx_tup_fetch, 0))::float8 / $phases FROM pg_stat_user_tables
        WHERE schemaname = 'lockstep'")
    check 4
    chain_windows 1000 >"$tmp/thousands"
    mapfile -t rates < <(awk '{ print $1 }' "$tmp/thousands")
    mapfile -t from < <(awk '{ print $2 }' "$tmp/thousands")
    mapfile -t to < <(awk '{ print $3 }' "$tmp/thousands")
    mapfile -t cpu < <(chain_windows $tenth | chain_cost 2)
    mapfile -t buffers < <(chain_windows $tenth | chain_cost 3)
    first=$(chain_hand "${from[0]}" "${to[0]}") last=$(chain_hand "${from[-1]}" "${to[-1]}")
    figure chain "$phases phases: each thousand" phases/s '' "${rates[@]}"
    figure chain "the first thousand" phases/s '' "${rates[0]}"
    figure chain "the last thousand" phases/s '' "${rates[-1]}"
    figure chain "the last / the first" ratio '>= 0.9' "$(ratio "${rates[-1]}" "${rates[0]}")"
    figure chain "lock handed over, first thousand" ms '' "$first"
    figure chain "lock handed over, last thousand" ms '' "$last"
    figure chain "a phase / a hand-over, first" ratio '' "$(ratio 1000 "$(ratio "${rates[0]}" "$(ratio 1 "$first")")")"
    figure chain "a phase / a hand-over, last" ratio '' "$(ratio 1000 "$(ratio "${rates[-1]}" "$(ratio 1 "$last")")")"
    figure chain "processor time, last tenth / first" ratio '<= 1.1' "$(ratio "${cpu[-1]}" "${cpu[0]}")"
    figure chain "buffers a phase, first tenth" '' '' "$(ratio "${buffers[0]}" $tenth)"
    figure chain "buffers a phase, last tenth" '' '' "$(ratio "${buffers[-1]}" $tenth)"
    figure chain "rows read a phase" '' '' "$reads"
}
