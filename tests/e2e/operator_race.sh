#!/bin/bash
# An operator acts while an executor is held at a named point of a task's life. Whichever act is first, an effect exists
# if and only if its task is Completed, nothing starts twice, and the run ends.
# ctest: timeout=240 notsan long
. "$(dirname "$0")/../support/e2e.bash"
ledger_create

# race POINT VERB: an executor stops at POINT; meanwhile VERB is done to the run; then it continues.
race() {
    local point=$1 verb=$2 q run pid n
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers 2
    for n in 0 1; do echo "{\"order\": 1, \"sql\": \"SELECT work('$q', 1, $n, 0)\"}"; done >"$tmp/$q.jsonl"
    # A gate waits for a task that no executor has: a task that is to be tried again, after all others have ended.
    case $point in gate.*)
        sql "CREATE SEQUENCE \"$q\""
        echo "{\"order\": 1, \"sql\": \"SELECT 1 / (nextval('$q') - 1), work('$q', 1, 1, 0)\", \"max_attempts\": 2, \"retry_intervals\": [4]}" \
            >"$tmp/$q.again"
        sed -i -e "2r $tmp/$q.again" -e 2d "$tmp/$q.jsonl" ;;
    esac
    for n in 2 3; do
        echo "{\"order\": 1, \"sql\": \"DO \$\$BEGIN PERFORM work('$q', 1, $n, 0.1); END\$\$\"}"
    done >>"$tmp/$q.jsonl"
    for n in 4 5; do echo "{\"order\": 2, \"sql\": \"SELECT work('$q', 2, $n, 0)\"}"; done >>"$tmp/$q.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/$q.jsonl")
    mkdir "$tmp/$q.hit"
    # No executor takes the stopped one for frozen.
    LOCKSTEP_EXECUTOR_FROZEN_AFTER=60s LOCKSTEP_PROBE=${point%@*}=stop$([ "$point" = "${point%@*}" ] ||
        echo "@${point#*@}") LOCKSTEP_PROBE_DIR=$tmp/$q.hit \
        "$LOCKSTEP_BIN-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
        2>"$tmp/$q.log" &
    pid=$!
    eventually 30 test -f "$tmp/$q.hit/${point%@*}.hit" || { echo "$point: it did not come there"; failed=1; }
    eventually 10 stopped "$pid" || failed=1
    if [ "$verb" = cancel ]; then
        lockstep run cancel "$run" -q --reason "$point" >/dev/null
    else # every task of the run by itself, then what is left is stopped by the policy
        for n in $(sql "SELECT task_id FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$run'
            ORDER BY 1"); do
            lockstep task "$verb" "$n" --reason "$point" >/dev/null 2>"$tmp/$q.err" ||
                grep -q 'is finished\|is being recorded\|is running\|cannot be declared' "$tmp/$q.err" ||
                { echo "$point $verb: $(cat "$tmp/$q.err")"; failed=1; }
        done
    fi
    kill -CONT "$pid"
    eventually 40 is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t ||
        { echo "$point $verb: the run has not ended"; tail -n 5 "$tmp/$q.log"; failed=1; }
    kill -TERM "$pid"
    wait "$pid" || { echo "$point $verb: the executor ended with $?"; tail -n 5 "$tmp/$q.log"; failed=1; }
    # By hand declared done: Completed without an effect.
    sql <<SQL >"$tmp/$q.wrong"
SELECT '$point $verb: seq ' || t.seq || ' is ' || t.status || ' and has ' || count(l.seq) || ' effects'
FROM lockstep.task t JOIN lockstep.run r USING (run_no) LEFT JOIN ledger l ON l.q = '$q' AND l.seq = t.seq
WHERE r.run_id = '$run'
GROUP BY t.seq, t.status, t.response
HAVING count(l.seq) <> CASE WHEN t.status = 'Completed' AND COALESCE(t.response, '') NOT LIKE 'declared done%' THEN 1
                            ELSE 0 END
SQL
    sql <<SQL >>"$tmp/$q.wrong"
SELECT '$point $verb: ' || r.status || ' with ' || string_agg(t.status::text, ' ' ORDER BY t.seq)
FROM lockstep.run r JOIN lockstep.task t USING (run_no)
WHERE r.run_id = '$run' GROUP BY r.run_no, r.status HAVING NOT CASE '$verb'
    WHEN 'cancel' THEN r.status = 'Cancelled' OR (r.status = 'Completed' AND bool_and(t.status = 'Completed'))
    WHEN 'complete' THEN r.status = 'Completed' ELSE true END
SQL
    [ ! -s "$tmp/$q.wrong" ] || { cat "$tmp/$q.wrong"; failed=1; }
}

# Some at a time.
racing=()
for point in claim.send claim.answered execute.assign execute.assigned reader.send@2 reader.sent@2 reader.answered \
    block.begun block.ran block.completed \
    block.committed record.take mark.send gate.wait gate.answered gate.seen release.send; do
    racing+=("$point cancel")
done
for point in claim.answered execute.assigned block.ran block.completed record.take gate.answered; do
    racing+=("$point fail" "$point complete")
done
for ((i = 0; i < ${#racing[@]}; i += 6)); do
    abreast "${racing[@]:i:6}"
    for one in "${racing[@]:i:6}"; do
        at="${one#* } while the executor is at ${one% *}"
        case_of "$at: an effect is there if and only if its task is Completed, and the run ends" "$tmp/wrong.$one"
    done
done
case_begin 'no lock is left'
no_locks_left
cases_end
exit $failed
