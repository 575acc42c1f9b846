#!/bin/bash
# The n-th call of a function of libpq, of librdkafka, or for memory fails, once or from then on, in a publisher and in an executor
# on real servers, over a sweep of n. After each: nobody ended by a signal or with a sanitizer's report, no lock is left, no row
# is impossible; and without the failure a healthy executor finishes the run, every effect once.
#   LOCKSTEP_TEST_INJECT_SECONDS   for how long (45); LOCKSTEP_TEST_INJECT: these "FUNCTION=N[+]" only
# ctest: timeout=200
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
. "$here/probes.bash"
tmp=$(mktemp -d)
trap 'jobs -p | xargs -r kill -9 2>/dev/null; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database 2>/dev/null
points_create
impossible=$(cat "$here/../support/impossible.sql")
probed=$LOCKSTEP_BIN-probed
seconds=${LOCKSTEP_TEST_INJECT_SECONDS:-45}
trials=0 failures=0

# ends COMMAND...: runs it for at most 20 s; ending by a signal, by time or with a sanitizer's report is what must not be
ends() {
    local what=$1 log=$2 rc=0
    shift 2
    timeout -s ABRT 20 "$@" >>"$log" 2>&1 || rc=$?
    if [ "$rc" -ge 124 ] || grep -qE 'Sanitizer|runtime error:' "$log"; then
        echo "$what: it ended with $rc"
        tail -n 25 "$log"
        failed=1
    fi
    [ "$rc" != 70 ] || case $what in *malloc*) grep -q 'out of memory' "$log" ;; *) false ;; esac || { echo "$what: exit 70"; tail -n 5 "$log"; failed=1; }
    return 0
}

options() { echo executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 --until-idle; }

# trial WHO FUNCTION=N[+]
trial() {
    local q wrong who=$1 fault=$2 log=$tmp/log
    q=$(scratch_name)
    : >"$log" >"$tmp/injected"
    sql "CREATE SEQUENCE \"${q}_fails\"; CREATE SEQUENCE \"${q}_dies\""
    lockstep queue create "$q" -q --create-topic --max-readers 2
    point_tasks "$q" >"$tmp/tasks.jsonl"
    if [ "$who" = publish ]; then
        LOCKSTEP_INJECT=$fault LOCKSTEP_INJECT_LOG=$tmp/injected ends "publish $fault" "$log" \
            "$probed" publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q "$tmp/tasks.jsonl"
        if [ "$(sql "SELECT count(*) FROM lockstep.run JOIN lockstep.queue q USING (queue_id) WHERE q.name = '$q'")" != 0 ]; then
            ends "executor after publish $fault" "$log" "$LOCKSTEP_BIN" $(options)
        fi
        # Whole or not at all; a publisher that failed is told so, and publishes again.
        [ "$(sql "SELECT count(*) FROM ledger WHERE q = '$q'")" = $point_effects ] ||
            { lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null 2>>"$log" || { echo "publish $fault: another one is refused"; tail -n 5 "$log"; failed=1; }; }
    else
        lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
        # A failure that stays is no reason to end; it gets two seconds.
        case $fault in *+) set -- timeout -s TERM -k 15 2 ;; *) set -- timeout -s TERM -k 15 8 ;; esac
        LOCKSTEP_EXECUTOR_FROZEN_AFTER=2s LOCKSTEP_INJECT=$fault LOCKSTEP_INJECT_LOG=$tmp/injected \
            ends "executor $fault" "$log" "$@" "$probed" $(options)
    fi
    wrong=$(sql "$impossible")
    [ -z "$wrong" ] || { echo "$who $fault: $wrong"; failed=1; }
    ends "executor after $who $fault" "$log" "$LOCKSTEP_BIN" $(options)
    wrong=$(point_check "$q" "$who $fault" | sed 's/without a transaction: [12] effects//' | grep -v ': *$' || true)
    [ "$who" = executor ] || wrong=$([ "$(sql "SELECT count(DISTINCT (ord, seq)) = $point_effects AND count(*) = $point_effects FROM ledger WHERE q = '$q'")" = t ] || echo "publish $fault: effects")
    [ -z "$wrong" ] || { echo "$wrong"; tail -n 12 "$log"; failed=1; }
    [ "$(sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")" = 0 ] ||
        { echo "$who $fault: a lock is left"; failed=1; }
    trials=$((trials + 1)) failures=$((failures + $(wc -l <"$tmp/injected")))
    grep -q . "$tmp/injected"
}

# Dense in the beginning, sampled later: 1, 2, 3, 5, 8, 12, ...; every function, who is first changes. A function whose n-th
# call did not come is done.
mapfile -t functions < <(sed -n 's/^FAILS(\(.*\))$/\1/p' "$here/../probed/inject.def" | shuf --random-source=<(yes "${LOCKSTEP_TEST_SEED:-1}"))
sweep() {
    local n=1 f who left=1
    declare -A over
    while [ "$SECONDS" -lt "$seconds" ] && [ $left = 1 ] && [ $failed = 0 ]; do
        left=0
        for f in "${functions[@]}"; do
            for who in executor publish; do
                for on in '' +; do
                    [ -z "${over[$who$f]:-}" ] && [ "$SECONDS" -lt "$seconds" ] || continue
                    [ "$n" = 1 ] || [ -z "$on" ] || continue # one that stays: at its beginning
                    if trial "$who" "$f=$n$on"; then left=1; else over[$who$f]=1; fi
                done
            done
        done
        n=$((n + 1 + n / 2))
    done
    printf '%s trials, %s failures injected, up to the %s. call, %s s\n' "$trials" "$failures" "$n" "$SECONDS"
}

if [ -n "${LOCKSTEP_TEST_INJECT:-}" ]; then
    for fault in $LOCKSTEP_TEST_INJECT; do trial executor "$fault" || true; trial publish "$fault" || true; done
else
    sweep
fi
exit $failed
