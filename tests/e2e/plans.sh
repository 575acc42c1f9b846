#!/bin/bash
# No plan depends on luck: every statement of ours reads as few rows as plans.table says, in a small database; with the
# plans made there after it has grown; and in a large one that is not analysed, or is, with generic and with custom
# plans.
# ctest: slow nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
root=$(cd "$here/../.." && pwd)
psql=("$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -d "$db")
world() { "${psql[@]}" -v part="$1" -f "$here/plans_world.sql"; }

# shellcheck disable=SC2046 # no path of ours has a space
awk -v out="$tmp" -f "$here/plans.awk" "$here/plans.table" \
    $(printf '%s\n' "$root"/sql/{*,functions/*}/*.sql | grep -vE '/(migrations|views)/')

# begin KIND MODE: how such a session begins
begin() {
    echo "SET client_min_messages = error; SET search_path = pg_catalog, public; SET plan_cache_mode = force_$2_plan;"
    [ "$1" = any ] || # db/packet.c
        echo 'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = 0; SET jit = off;'
    echo "\\i $tmp/prepare"
}
# script KIND PASS: a look at all of its statements
script() { printf "\\\\set pass '%s'\n\\\\i %s\n" "$2" "$tmp/$1.body"; }

case_begin 'every statement is run with each plan and in each size of the database'
world few
"${psql[@]}" -c "SELECT pg_advisory_lock(1280507907, 1), pg_sleep(600)" >/dev/null 2>&1 & # executor 1 lives
eventually 10 is "SELECT count(*) FROM pg_locks
               WHERE locktype = 'advisory' AND granted AND objid = 1 AND classid::bigint = 1280507907
               AND $own_locks" 1
sql "INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
    SELECT 1, a.pid, a.backend_start, 'liveness' FROM pg_stat_activity a JOIN pg_locks l USING (pid)
    WHERE l.locktype = 'advisory' AND l.objid = 1 AND l.classid::bigint = 1280507907
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
{
    begin any generic
    script any small
    echo "\\! touch $tmp/any_warm; until [ -e $tmp/own_done ]; do sleep 0.05; done"
    script any grown
} >"$tmp/any.sql"
{
    begin own generic
    echo "\\! until [ -e $tmp/any_warm ]; do sleep 0.05; done"
    script own small
    echo "\\! '${psql[0]}' -X -q -At -v ON_ERROR_STOP=1 -d \"$db\" -v part=many -f '$here/plans_world.sql' || echo 'the world could not be made'"
    script own grown
    echo "\\! touch $tmp/own_done"
} >"$tmp/own.sql"
{ "${psql[@]}" -f "$tmp/any.sql" || touch "$tmp/any_warm" "$tmp/any_failed"; } >"$tmp/read.any" 2>&1 &
any=$!
"${psql[@]}" -f "$tmp/own.sql" >"$tmp/read.own" 2>&1 || { cat "$tmp/read.own"; exit 1; }
wait "$any"
[ ! -e "$tmp/any_failed" ] || { cat "$tmp/read.any"; exit 1; }

# Then as new as the server can know it: as tables that were empty when it looked last.
sql "UPDATE pg_class SET relpages = 0, reltuples = 0 WHERE relnamespace = 'lockstep'::regnamespace;
     DELETE FROM pg_statistic
     WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'lockstep'::regnamespace)"
for state in new analysed; do
    [ "$state" = new ] || sql 'ANALYZE'
    for mode in generic custom; do
        for kind in any own; do
            { begin $kind $mode; script $kind "$state, $mode"; } >"$tmp/next.sql"
            "${psql[@]}" -f "$tmp/next.sql" >"$tmp/read.$state.$mode.$kind" 2>&1 ||
                { cat "$tmp/read.$state.$mode.$kind"; exit 1; }
        done
    done
done

case_begin 'every statement reads at most as many rows as plans.table says, whatever its plan'
awk -F '|' -v all="${LOCKSTEP_TEST_PLANS:-}" '
    NF < 5 { print "what is this? " $0; bad++; next }
    { n++ }
    { split($3, bounds, "/"); $3 = $1 != "grown" || bounds[2] == "" ? bounds[1] : bounds[2] == "-" ? 1e9 : bounds[2] }
    $4 + 0 > $3 + 0 { printf "%s (%s): %d rows read, at most %d are allowed: %s\n", $2, $1, $4, $3, $5; bad++ }
    $4 + 0 <= $3 + 0 && all { printf "%s (%s): %d of %d: %s\n", $2, $1, $4, $3, $5 }
    END { printf "%d measurements\n", n; exit bad > 0 || n < 600 }' "$tmp"/read.* || failed=1
cases_end
exit $failed
