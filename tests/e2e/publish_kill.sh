#!/bin/bash
# A publisher is killed at every probe point of its life, finite, in several transactions and streaming. The next one
# resumes the run, or publishes another. Then the topic has of every run each seq once and one end with the right
# counts, or nothing of it, and executors complete, fail or never see the run accordingly. The cases run side by side,
# each on a queue of its own.
# ctest: nosan long
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE effect (q text, run uuid, n int)'
tasks=200
more=600 # so many are looked at three times by a finite run (every 256), for a transaction that is to be ended

# publish ARGS...: of the binary with probes
publish() { "$LOCKSTEP_BIN-probed" publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q "$@"; }
work() { awk -v q="$q" -v run="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++)
    printf "{\"order\": %d, \"sql\": \"INSERT INTO effect VALUES ('\''%s'\'', '\''%s'\'', %d)\"}\n", 1 + i / 70, q, run, i }'
}
complain() { { echo "$*"; sed "s/^/    /" "$log"; } >>"$tmp/wrong.$case"; }
# ends STATUS COMMAND...
ends() {
    local wanted=$1 status=0
    shift
    "$@" >>"$log" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || complain "$* ended with $status, not $wanted"
}

# topic_read, then topic RUN: "RECORDS ENDS aborted|whole|-" of the run there; "bad" when seq is not 0, 1, 2, ... or an
# end counts wrong
topic_read() {
    timeout 30 kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -o beginning -e -q -X isolation.level=read_committed \
        -f '%s\n' >"$tmp/$case.topic"
}
topic() {
    jq -rn --arg run "$1" '[inputs | select(.run == $run)] as $r | [$r[] | select(.type == "end")] as $e
        | if [$r[].seq] != [range($r | length)] or ($e | length) > 1
        or (($e | length) == 1 and $r[-1].type != "end") then "bad"
          elif ($e | length) == 0 then "\($r | length) 0 -"
          elif $e[0].aborted then "\($r | length) 1 aborted"
          elif $e[0].tasks != ($r | length) - 1 then "bad" else "\($r | length) 1 whole" end' "$tmp/$case.topic"
}

# one CASE MODE KILL STATE NEXT [AGAIN]: publishes in MODE and is killed at KILL (PROBE[@N]); STATE is the state that
# the next one finds: no-row, nothing, part, whole (not noted), noted. NEXT resumes it or publishes another run; with
# AGAIN it is killed there itself, and tried again.
one() {
    local case=$1 mode=$2 kill=$3 state=$4 next=$5 again=${6:-} n=$tasks log=$tmp/$1.log
    local run other args=() probes=() got q
    q=$(scratch_name)$1
    run=$(cat /proc/sys/kernel/random/uuid) other=$(cat /proc/sys/kernel/random/uuid)
    lockstep queue create "$q" -q --create-topic
    case $mode in
    stream) args=(--stream) probes=(publish.record=sleep:110@2 publish.record=sleep:110@4) ;;
    several)
        n=$more args=(-X transaction.timeout.ms=2000) probes=(publish.begun=sleep:1100@1 publish.begun=sleep:1100@2)
        ;;
    esac
    case $kill in publish.not*) probes+=(publish.committed=sleep:1050@1) ;; esac # a note is taken once a second
    work "$run" "$n" >"$tmp/$case.jsonl"
    work "$other" 5 >"$tmp/$case.other.jsonl"
    probes+=("${kill%@*}=kill@$([[ $kill == *@* ]] && echo "${kill#*@}" || echo 1)")
    LOCKSTEP_PROBE=$(IFS=,; echo "${probes[*]}") ends 137 publish "${args[@]}" --run "$run" "$tmp/$case.jsonl"
    if [ $next = resume ]; then
        [ -z "$again" ] || LOCKSTEP_PROBE="$again" ends 137 publish --resume "$run"
        case $state in
        no-row) ends 2 publish --resume "$run" && ends 0 publish "${args[@]}" --run "$run" "$tmp/$case.jsonl" ;;
        noted) ends 2 publish --resume "$run" ;;
        *) ends 0 publish --resume "$run" ;;
        esac
        topic_read
        got=$(topic "$run")
        [ "$got" = "$((n + 1)) 1 whole" ] || complain "the topic has $got"
        echo "$case $q $run $n Completed" >>"$tmp/queues"
        return
    fi
    [ -z "$again" ] ||
        LOCKSTEP_PROBE="$again" ends 137 publish --run "$(cat /proc/sys/kernel/random/uuid)" "$tmp/$case.other.jsonl"
    ends 0 publish --run "$other" "$tmp/$case.other.jsonl"
    topic_read
    got=$(topic "$run")
    case $state:$got in
    no-row:"0 0 -") ;;
    nothing:"0 0 -") echo "$case $q $run 0 Cancelled" >>"$tmp/queues" ;;
    part:*" 1 aborted") echo "$case $q $run - Failed" >>"$tmp/queues" ;;
    whole:"$((n + 1)) 1 whole" | noted:"$((n + 1)) 1 whole") echo "$case $q $run $n Completed" >>"$tmp/queues" ;;
    *) complain "the topic has $got, but it was killed with $state" ;;
    esac
    [ "$(topic "$other")" = "6 1 whole" ] || complain "the other run: $(topic "$other")"
    echo "$case $q $other 5 Completed" >>"$tmp/queues"
}

number=0 names=()
start() {
    while [ "$(jobs -rp | wc -l)" -ge "${LOCKSTEP_TEST_ABREAST:-12}" ]; do wait -n || true; done
    number=$((number + 1))
    local after='another run is published'
    [ "$4" != resume ] || after='its run is resumed'
    names[number]="publish ($1) is killed at $2, $after${5:+ after a second kill at ${5%=*}}: "
    names[number]+='the topic has each run whole, aborted or not at all, and it ends accordingly'
    { one "$number" "$@" || echo "it broke off" >>"$tmp/wrong.$number"; } 2>>"$tmp/stderr" &
}
both() { start "$@" resume; start "$@" other; }

for at in locking locked fencing fenced prepared starting; do both finite publish.$at no-row; done
for at in started begun record@3 ending flushing committing; do both finite publish.$at nothing; done
for at in committed ended; do both finite publish.$at whole; done
both finite publish.finished noted
for mode in several stream; do
    both $mode publish.committing nothing
    for at in committed@1 record@4 flushing@2 committing@2 committed@2 ending committing@3; do
        both $mode publish.$at part
    done
    for at in noting noted; do both $mode publish.$at part; done
    both $mode publish.ended whole # not the third commit: a machine that stands still makes more of them
done
# The next one is killed, too.
for at in resume.settled resume.verified publish.begun publish.committing publish.committed; do
    start stream publish.committed@2 part resume $at=kill
    start several publish.committed@1 part resume $at=kill
done
for at in publish.fenced takeover.committing takeover.committed; do
    start stream publish.committed@1 part other $at=kill
done
wait

case_begin 'publishers are killed at all points, and the executors that read their topics end well'
[ "$number" -gt 60 ] || wrong "only $number kills"
queues=()
while read -r q; do queues+=(--queue "$q"); done < <(cut -d' ' -f2 "$tmp/queues" | sort -u)
while [ ${#queues[@]} -gt 0 ]; do
    lockstep executor run "${queues[@]:0:30}" --readers 8 --until-idle 2>>"$tmp/executor" ||
        wrong "an executor ended with $?"
    queues=("${queues[@]:30}")
done
no_locks_left
while read -r case q run n status; do
    got=$(sql "SELECT r.status, r.ended_at IS NOT NULL, count(e.n), count(DISTINCT e.n)
               FROM lockstep.run_status r LEFT JOIN effect e ON e.run = r.run_id
               WHERE r.queue = '$q' AND r.run_id = '$run' GROUP BY 1, 2")
    case $got in
    "$status|t|$n|$n") ;;
    "Failed|t|"*) [ "$status" = Failed ] || echo "run $run: $got, not $status $n" >>"$tmp/wrong.$case" ;;
    *) echo "run $run: $got, not $status $n" >>"$tmp/wrong.$case" ;;
    esac
done <"$tmp/queues"
for ((n = 1; n <= number; n++)); do case_of "${names[n]}" "$tmp/wrong.$n"; done
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp/stderr" "$tmp/executor"
exit $failed
