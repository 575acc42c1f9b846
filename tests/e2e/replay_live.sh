#!/bin/bash
# A replay beside live work: old runs are run again while new ones are published and run. Inside every run the order
# holds, live tasks have one effect, replayed ones two, the bound is kept, and everything ends.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
. "$here/replay.bash"
replay_create
publish() { tasks "$@" >"$tmp/$1.jsonl"; lockstep publish --queue "$q" -q "$tmp/$1.jsonl" >/dev/null; }

beside_live_work() { # $1: serial or concurrent
    local tag end old=()
    case_begin "a replay during live work repeats the old runs once, in order and within the bound, no live ones ($1 runs)"
    q=$(scratch_name)
    sql "TRUNCATE ledger"
    lockstep queue create "$q" -q --create-topic --max-readers 4 --runs "$1"
    for tag in a b c; do
        old+=("$tag")
        publish $tag 10:8 20:20 30:1 40:9 50:2 60:1 70:1 80:2 90:5 95:1 99:3
    done
    executors 2 "$q" 4
    executors_wait || failed=1
    since=$(sql "SELECT clock_timestamp()")
    end=$(sql "SELECT next_offset FROM lockstep.queue WHERE name = '$q'")
    publish live0 10:5 20:20 30:10
    executors 3 "$q" 4
    lockstep replay --queue "$q" --from-offset earliest --to-offset "$end" --mode all --execute \
        --reason 'beside live work' >"$tmp/out" 2>"$tmp/said" &
    local replaying=$!
    for tag in live1 live2 live3 live4; do publish $tag 10:5 20:20 30:10; done
    wait $replaying || { echo "$1: the replay ended with $?"; cat "$tmp/said"; failed=1; }
    executors_wait || { tail -n 5 "$tmp/$q".*.log; failed=1; }
    executors 2 "$q" 4 # an executor may have been idle for a moment before the replay's last step
    executors_wait || failed=1
    for tag in "${old[@]}"; do
        expect "$1: $tag once more" "$(effects $tag)" 2x53
        in_order $tag "$since" | grep . && failed=1
    done
    for tag in live0 live1 live2 live3 live4; do
        expect "$1: $tag once" "$(effects $tag)" 1x35
        in_order $tag | grep . && failed=1
    done
    expect "$1: the end of all" "$(sql "SELECT string_agg(DISTINCT r.status, ' ')
        FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" Completed
    sql <<'SQL' |
WITH e AS (SELECT started AS at, 1 AS d FROM ledger UNION ALL SELECT ended, -1 FROM ledger),
     s AS (SELECT sum(d) OVER (ORDER BY at, d ROWS UNBOUNDED PRECEDING) AS running FROM e)
SELECT 'ran ' || max(running) || ' tasks at once' FROM s HAVING max(running) > 4;
SELECT 'a lock is left: ' || l.* FROM pg_locks l
WHERE l.locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
SQL
        grep . && failed=1
    return 0
}
beside_live_work serial
beside_live_work concurrent
cases_end
exit $failed
