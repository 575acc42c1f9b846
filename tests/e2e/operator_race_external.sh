#!/bin/bash
# An operator acts on a worker of external tasks, at each point of a task's life, and on both while the executor is held
# at a named point. The rows that a worker wrote in the transaction of its report exist if and only if the report
# counted. A report about a task that an operator has ended is refused, nothing of a later phase starts before, and the
# run ends.
# ctest: timeout=120 notsan long
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE done (q text, task_id bigint); CREATE TABLE after (q text, at timestamptz DEFAULT clock_timestamp())'

# A worker's session: say SQL sends it, hear waits for its end; its rows in $rows, its SQLSTATE in $state.
worker() { coproc W { exec "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" 2>>"$tmp/worker.err"; }; }
say() { printf '%s;\n\\echo == :SQLSTATE\n' "$1" >&"${W[1]}"; }
hear() {
    local line
    rows=
    while read -r -t 45 -u "${W[0]}" line; do
        case $line in "== "*) state=${line#== }; return 0 ;; *) rows+=$line ;; esac
    done
    wrong 'the worker was not answered'
    return 1
}
tell() { say "$1"; hear; }
take() { tell "SELECT task_id, updated_at FROM lockstep.next_task('$q', 'w')"; task=${rows%%|*} token=${rows#*|}; }
report() { # in the transaction of its effect
    tell "INSERT INTO done VALUES ('$q', ${task:-0})"
    tell \
        "SELECT status FROM lockstep.modify_task(${task:-0}, '${token:-now}', 'Completed', response => 'by the worker')"
}
ended() { is "SELECT ended_at IS NOT NULL FROM lockstep.run WHERE run_id = '$run'" t; }
# operate VERB: done to the task that the worker has, or to its run; a record under way at this moment is refused
operate() {
    local to=$task
    case $1 in
    run_*) lockstep run "${1#run_}" "$run" -q >"$tmp/$q.out" 2>&1 || wrong "$(cat "$tmp/$q.out")" ;;
    *)
        lockstep task "${1#task_}" \
            "${to:-$(sql "SELECT min(task_id) FROM lockstep.task JOIN lockstep.run USING (run_no) WHERE run_id = '$run'")}" \
            >"$tmp/$q.out" 2>&1 ||
        grep -q 'is being recorded\|cannot be declared\|is running' "$tmp/$q.out" || wrong "$(cat "$tmp/$q.out")" ;;
    esac
}

# race POINT VERB [PROBE]: POINT is where the worker is (asked: its task is locked and not committed; taken; reported:
# not committed); with PROBE the executor stops there first, and continues when both have ended.
race() {
    local point=$1 verb=$2 probe=${3:-} q run task='' token='' state='' rows='' pid what="$*"
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic --max-readers 2
    printf '{"order": 1, "type": "external", "name": "%s"}\n' one two >"$tmp/$q.jsonl"
    echo "{\"order\": 2, \"sql\": \"INSERT INTO after VALUES ('$q')\"}" >>"$tmp/$q.jsonl"
    run=$(lockstep publish --queue "$q" -q "$tmp/$q.jsonl")
    mkdir "$tmp/$q.hit"
    LOCKSTEP_EXECUTOR_FROZEN_AFTER=60s LOCKSTEP_PROBE=${probe:+$probe=stop} LOCKSTEP_PROBE_DIR=$tmp/$q.hit \
        "$LOCKSTEP_BIN-probed" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
        2>"$tmp/$q.log" &
    pid=$!
    [ -z "$probe" ] || eventually 15 test -f "$tmp/$q.hit/${probe%@*}.hit" ||
        wrong "the executor did not come to $probe"
    eventually 15 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
        WHERE run_id = '$run' AND t.type = 'external'" 2 || wrong 'not claimed'
    worker
    tell BEGIN
    take
    case $point in
    asked) [ -n "$task" ] || wrong 'nothing was given out'; operate "$verb"; tell COMMIT; tell BEGIN; report ;;
    taken)
        tell COMMIT
        operate "$verb"
        tell BEGIN
        report
        [ "$verb" = run_pause ] || [ "$state" = LS001 ] ||
            wrong "the report of what an operator has ended: $state $rows"
        ;;
    reported) report; operate "$verb" ;;
    esac
    tell COMMIT
    [ "$point" != reported ] ||
        is "SELECT status || ' ' || response FROM lockstep.task WHERE task_id = $task" 'Completed by the worker' ||
        wrong 'what was reported first does not count'
    [ -z "$probe" ] || { eventually 10 stopped "$pid" && kill -CONT "$pid"; }
    if [ "$verb" = run_pause ]; then
        take
        [ -z "$task" ] || wrong "a task of a paused run was given out: $task"
        lockstep run resume "$run" -q >/dev/null
    fi
    # The rest, as a worker does it; a task that it has and an operator has ended is refused.
    local began=$SECONDS
    until ended; do
        tell BEGIN
        take
        if [ -n "$task" ]; then report; fi
        tell COMMIT
        [ $((SECONDS - began)) -lt 90 ] ||
            { wrong 'the run has not ended'; lockstep run explain "$run"; tail -5 "$tmp/$q.log"; break; }
    done
    # shellcheck disable=SC1083,SC2093 # the descriptor in W[1] is closed
    exec {W[1]}>&-
    kill -TERM "$pid"
    wait "$pid" || wrong "the executor ended with $?"
    sql <<SQL >"$tmp/$q.wrong"
SELECT '$what: task ' || t.name || ' is ' || t.status || ' (' || COALESCE(t.response, '') || ') and was done ' ||
       count(d.q) || ' times'
FROM lockstep.task t JOIN lockstep.run r USING (run_no) LEFT JOIN done d USING (task_id)
WHERE r.run_id = '$run' AND t.type = 'external'
GROUP BY t.task_id
HAVING count(d.q) <> CASE WHEN t.status = 'Completed' AND t.response = 'by the worker' THEN 1 ELSE 0 END;
SELECT '$what: ' || r.status || ' with ' || string_agg(t.status::text, ' ' ORDER BY t.seq)
FROM lockstep.run r JOIN lockstep.task t USING (run_no)
WHERE r.run_id = '$run' GROUP BY r.run_no, r.status HAVING NOT CASE '$verb'
    WHEN 'run_cancel' THEN r.status = 'Cancelled' OR bool_and(t.status = 'Completed')
    WHEN 'run_pause' THEN bool_and(t.status = 'Completed') AND r.status = 'Completed'
    WHEN 'task_complete' THEN r.status = 'Completed' ELSE r.status IN ('Completed', 'Failed') END;
SELECT '$what: order 2 began before the end of order 1' FROM after a WHERE q = '$q' AND at < (
    SELECT max(t.updated_at) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND t.type = 'external');
SELECT '$what: ' || count(*) || ' times order 2, it is ' || t.status
FROM lockstep.task t JOIN lockstep.run r USING (run_no) LEFT JOIN after a ON a.q = '$q'
WHERE r.run_id = '$run' AND t."order" = 2 GROUP BY t.task_id
HAVING count(a.q) <> CASE t.status WHEN 'Completed' THEN 1 ELSE 0 END
SQL
    [ ! -s "$tmp/$q.wrong" ] || { cat "$tmp/$q.wrong"; failed=1; }
}

racing=()
for verb in run_cancel run_pause task_cancel task_complete task_fail; do
    for point in asked taken reported; do racing+=("$point $verb"); done
done
for probe in claim.answered gate.answered release.send; do
    racing+=("taken run_cancel $probe" "reported run_pause $probe" "taken task_cancel $probe")
done
for ((i = 0; i < ${#racing[@]}; i += 6)); do
    abreast "${racing[@]:i:6}"
    for one in "${racing[@]:i:6}"; do
        read -r point verb probe <<<"$one"
        at="$verb while a worker is at \"$point\"${probe:+ and the executor is at $probe}"
        case_of "$at: what the worker wrote is there if and only if its report counted" "$tmp/wrong.$one"
    done
done
[ ! -s "$tmp/worker.err" ] || grep -v 'LS00\|ERROR:\|HINT:\|CONTEXT:\|WARNING\|PL/pgSQL\|^SQL ' "$tmp/worker.err" ||
    true
case_begin 'no lock is left'
no_locks_left
cases_end
exit $failed
