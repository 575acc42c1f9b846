#!/bin/bash
# The n-th call of a function of libpq, of librdkafka, or for memory fails, once or from then on, in a publisher and in
# an executor on real servers, over a sweep of n. After each trial no process has ended by a signal or with a
# sanitizer's report, no lock is left, and no row is impossible. Without the failure a healthy executor finishes the
# run, every effect once. Two lanes of trials run side by side, each with a database of its own.
#   LOCKSTEP_TEST_INJECT_SECONDS   for how long (25); LOCKSTEP_TEST_INJECT: these "FUNCTION=N[+]" only
# ctest: timeout=200 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/probes.bash"
points_create
lanes=("$db")
e2e_leave() { local db=${lanes[1]:-} && scratch_drop; }
scratch_database
points_create
lanes+=("$db")
db=${lanes[0]}
impossible=$(cat "$here/../support/impossible.sql")
probed=$LOCKSTEP_BIN-probed
seconds=${LOCKSTEP_TEST_INJECT_SECONDS:-25}

# ends WHAT LOG COMMAND...: runs it for at most 40 s; an end by a signal, by time or with a sanitizer's report is a case
# that must not be
ends() {
    local what=$1 log=$2 rc=0
    shift 2
    timeout -s ABRT -k 5 40 "$@" >>"$log" 2>&1 || rc=$?
    # (124: timeout sent SIGTERM, and it ended.)
    if [ "$rc" -gt 124 ] || grep -qE 'Sanitizer|runtime error:' "$log"; then
        wrong "$what: it ended with $rc"
        tail -n 25 "$log"
    fi
    # 70 is for memory only, and says so.
    [ "$rc" != 70 ] || case $what in
    *malloc*) grep -q 'out of memory' "$log" ;;
    *) false ;;
    esac || { wrong "$what: exit 70"; tail -n 5 "$log"; }
    return 0
}

# A queue is made ready while the trial before runs.
prepare() {
    sql "CREATE SEQUENCE \"$1_fails\"; CREATE SEQUENCE \"$1_dies\""
    lockstep queue create "$1" -q --create-topic --max-readers 2
    sql "UPDATE lockstep.queue SET max_lost = 1000 WHERE name = '$1'" # a failure that stays would end the tasks instead
    point_tasks "$1" >"$tmp/$1.jsonl"
}
next='' preparing=''
new_queue() {
    [ -n "$next" ] || { next=$(scratch_name); prepare "$next"; preparing=''; }
    [ -z "$preparing" ] || wait "$preparing"
    q=$next next=$(scratch_name)
    prepare "$next" &
    preparing=$!
}

# trial WHO FUNCTION=N[+]: prints what is wrong, as all that it calls; its failures are in
# $tmp/injected.WHO.FUNCTION=N[+]
trial() {
    local q found who=$1 fault=$2 publish run
    local log=$tmp/log.$who.$fault injected=$tmp/injected.$who.$fault
    new_queue
    : >"$log"
    : >"$injected"
    publish=(publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q "$tmp/$q.jsonl")
    run=(executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 --until-idle)
    if [ "$who" = publish ]; then
        LOCKSTEP_INJECT=$fault LOCKSTEP_INJECT_LOG=$injected LOCKSTEP_INJECT_COUNT=${counts:-/dev/null} ends \
            "publish $fault" "$log" "$probed" "${publish[@]}"
        ends "executor after publish $fault" "$log" "$LOCKSTEP_BIN" "${run[@]}"
        # Whole or not at all; a publisher that failed has reported it, and publishes again.
        [ "$(sql "SELECT count(*) FROM ledger WHERE q = '$q'")" != 0 ] ||
            "$LOCKSTEP_BIN" "${publish[@]}" >>"$log" 2>&1 ||
            { wrong "publish $fault: another one is refused"; tail -n 5 "$log"; }
    else
        "$LOCKSTEP_BIN" "${publish[@]}" >/dev/null
        # A failure that stays is no reason to end: it gets SIGTERM after two seconds.
        case $fault in *+) set -- timeout -s TERM 2 ;; *) set -- timeout -s TERM 10 ;; esac
        LOCKSTEP_EXECUTOR_FROZEN_AFTER=2s LOCKSTEP_INJECT=$fault LOCKSTEP_INJECT_LOG=$injected \
            LOCKSTEP_INJECT_COUNT=${counts:-/dev/null} ends "executor $fault" "$log" "$@" "$probed" "${run[@]}"
    fi
    found=$(sql "$impossible")
    [ -z "$found" ] || wrong "$who $fault: $found"
    ends "executor after $who $fault" "$log" "$LOCKSTEP_BIN" "${run[@]}"
    if [ "$who" = executor ]; then
        found=$(point_check "$q" "$who $fault" | grep -v ':  without a transaction: 2 effects$' || true) # at least once
    else # a run that was broken off is Cancelled, or Failed; another one has the effects
        found=$([ "$(sql "SELECT count(DISTINCT (ord, seq)) = $point_effects AND count(*) = $point_effects FROM ledger
            WHERE q = '$q'")" = t ] || echo "publish $fault: $(sql "SELECT count(*), count(DISTINCT (ord, seq))
                FROM ledger WHERE q = '$q'") effects")
    fi
    [ -z "$found" ] || { wrong "$found"; tail -n 25 "$log"; }
    [ "$(sql "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND a.application_name IN ('lockstep/control', 'lockstep/gate', 'lockstep/liveness')")" = 0 ] ||
        wrong "$who $fault: a lock is left"
}

# tried LANE WHO FUNCTION=N[+]: a trial, noted for the report
tried() {
    echo "$2 $3" >>"$tmp/tried.$1"
    trial "$2" "$3" >"$tmp/wrong.$2.$3"
}

report() {
    local who fault call
    while read -r who fault; do
        call="call ${fault#*=} of ${fault%=*} fails"
        call=${call/+/ and each later one}
        case_of "$who: ${call/call 1000000 of */no call fails}, and nothing is lost, done twice or left" \
            "$tmp/wrong.$who.$fault"
    done < <(cat "$tmp"/tried.*)
}

# lane LANE WORD...: the trials of every second word: process, function and number of calls
lane() {
    local lane=$1 db=${lanes[$1]} who function calls word i n=1 left=1
    shift
    while [ $left = 1 ]; do
        left=0
        for ((i = lane + 1; i <= $#; i += 2)); do
            read -r who function calls <<<"${!i}"
            [ "$n" -le "$calls" ] && [ "$SECONDS" -lt "$seconds" ] || continue
            left=1
            tried "$lane" "$who" "$function=$n"
            [ "$n" != 1 ] || tried "$lane" "$who" "$function=1+"
        done
        n=$((n + 1 + n / 2))
    done
    [ -z "$preparing" ] || wait "$preparing"
}

# How often each function is called when all is well; then 1, 1+, 2, 3, 5, 8, 13, ... up to that, all functions in turn,
# in an order that the seed chooses.
sweep() {
    local who list pids=() trials failures
    for who in publish executor; do
        counts=$tmp/counts.$who tried 0 "$who" rd_kafka_new=1000000
    done
    [ -z "$preparing" ] || wait "$preparing"
    next='' preparing=''
    mapfile -t list \
        < <(for who in publish executor; do awk -v w="$who" '$2 > 0 { print w, $1, $2 }' "$tmp/counts.$who"; done |
        shuf --random-source=<(yes "${LOCKSTEP_TEST_SEED:-1}"))
    lane 0 "${list[@]}" & pids+=($!)
    lane 1 "${list[@]}" & pids+=($!)
    for pid in "${pids[@]}"; do ends_well "$pid" 'a lane'; done
    report
    case_begin 'most trials have injected a failure'
    trials=$(cat "$tmp"/tried.* | wc -l) failures=$(cat "$tmp"/injected.* | wc -l)
    [ "$failures" -gt $((trials / 2)) ] || wrong "$failures failures in $trials trials"
    printf '%s trials, %s failures injected, %s s\n' "$trials" "$failures" "$SECONDS"
}

if [ -n "${LOCKSTEP_TEST_INJECT:-}" ]; then
    for fault in $LOCKSTEP_TEST_INJECT; do tried 0 executor "$fault" || true; tried 0 publish "$fault" || true; done
    report
else
    sweep
fi
cases_end
exit $failed
