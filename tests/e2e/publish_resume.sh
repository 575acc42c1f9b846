#!/bin/bash
# publish --resume: the sources with which a run continues, those with which it is left unchanged, and the runs that
# cannot be resumed. Publishers that are interrupted or lose their lock.
# ctest: timeout=120 notsan long
. "$(dirname "$0")/../support/e2e.bash"
export LOCKSTEP_PROBE_DIR=$tmp
tasks() {
    awk -v from="$1" -v to="$2" \
        'BEGIN { for (i = from; i < to; i++) printf "{\"order\": %d, \"sql\": \"SELECT %d\"}\n", 1 + int(i / 50), i }'
}
queue() { q=$(scratch_name) && lockstep queue create "$q" -q --create-topic; }
probed() {
    LOCKSTEP_PROBE=$1 "$LOCKSTEP_BIN-probed" publish -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" -q "${@:2}"
}
# ends STATUS TEXT COMMAND...: it ends with STATUS and says TEXT on stderr
ends() {
    local wanted=$1 text=$2 status=0
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
    if [ "$status" != "$wanted" ] || { [ -n "$text" ] && ! grep -qF -- "$text" "$tmp/err"; }; then
        echo "$*: ended with $status, wanted $wanted and: $text"
        sed 's/^/    /' "$tmp/err"
        failed=1
    fi
}
resume() { lockstep publish --queue "$q" -q --resume "$run" "$@"; }
# A publisher of $run in the mode of "$@" that is killed with 64 of its records on the topic.
killed() {
    run=$(cat /proc/sys/kernel/random/uuid)
    ends 137 '' probed publish.record=sleep:110@2,publish.committed=kill --run "$run" "$@"
}
topic() { kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -o beginning -e -q -X isolation.level=read_committed -f '%s\n'; }
# whole N: the run is on the topic, and nothing is there twice
whole() {
    expect "$run on the topic" "$(topic | jq -rn --arg run "$run" '[inputs | select(.run == $run)]
        | [length, ([.[].seq] == [range(length)]), .[-1].tasks, .[-1].aborted] | @csv')" "$(($1 + 1)),true,$1,"
}
row() { sql "SELECT $1 FROM lockstep.run WHERE run_id = '$run'"; }

queue
tasks 0 200 >"$tmp/a.jsonl"

case_begin 'a file that is changed, cut or gone is refused; as it was, under another name or grown it is resumed'
killed --stream --name 'the "first"' --on-failure continue "$tmp/a.jsonl" # they stand in the first record
cp "$tmp/a.jsonl" "$tmp/copy.jsonl"
sed 's/SELECT 190/SELECT 191/' "$tmp/copy.jsonl" >"$tmp/a.jsonl"
ends 2 'is not the file that the run was begun from' resume
head -n 100 "$tmp/copy.jsonl" >"$tmp/a.jsonl"
ends 2 'is not the file that the run was begun from' resume
ends 2 'is not the file that the run was begun from' resume - <"$tmp/copy.jsonl"
# Who may have named any file, or query.
sql "UPDATE lockstep.run SET published_by = 'another login' WHERE run_id = '$run'"
ends 2 'The run was published by another login: the source that it names is not read for another login.' resume
sql "UPDATE lockstep.run SET published_by = session_user WHERE run_id = '$run'"
rm "$tmp/a.jsonl"
ends 2 "$tmp/a.jsonl" resume
expect 'left as it was' "$(row "published_at IS NULL, publish_error IS NULL, publish_source = '$tmp/a.jsonl'")" 't|t|t'
tasks 200 210 >>"$tmp/copy.jsonl"
ends 0 'is resumed with seq 64' resume "$tmp/copy.jsonl"
whole 210
ends 2 'there is nothing to resume' resume

case_begin 'a resume with another queue, run or options is refused'
ends 2 'There is no such run' lockstep publish --queue "$q" --resume 5ec0de00-0000-4000-8000-000000000001
one=$q
queue
ends 2 "belongs to queue $one" lockstep publish --queue "$q" --resume "$run"
ends 2 'no run with this id' lockstep publish --queue "$q" --resume abc
ends 2 'its id and its name already' lockstep publish --queue "$q" --resume "$run" --name other
sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status)
    SELECT '5ec0de00-0000-4000-8000-00000000000f', queue_id, 'stop', 'Running' FROM lockstep.queue WHERE name = '$q'"
ends 2 'was not begun by lockstep publish' lockstep publish --queue "$q" --resume 5ec0de00-0000-4000-8000-00000000000f

case_begin 'a finite run is resumed only as a finite one'
cp "$tmp/copy.jsonl" "$tmp/b.jsonl"
run=$(cat /proc/sys/kernel/random/uuid)
tasks 0 600 | sort -R --random-source=<(yes) >"$tmp/b.jsonl"
ends 137 '' probed publish.begun=sleep:550@1,publish.begun=sleep:550@2,publish.committed=kill@2 \
    -X transaction.timeout.ms=1000 --run "$run" "$tmp/b.jsonl"
ends 2 'was not begun with --stream' resume --stream
echo >>"$tmp/b.jsonl"
ends 2 'is not the file that the run was begun from' resume
truncate -s -1 "$tmp/b.jsonl"
ends 0 'is resumed' resume
whole 600

case_begin 'a query is run again'
queue
sql "CREATE TABLE staging AS SELECT 1 + i / 50 AS \"order\", 'SELECT ' || i AS sql FROM generate_series(0, 199) AS i"
run=$(cat /proc/sys/kernel/random/uuid)
ends 137 '' probed publish.record=sleep:110@2,publish.committed=kill --run "$run" --stream \
    --query 'TABLE staging ORDER BY 1, length(sql), sql'
sql "UPDATE staging SET sql = 'SELECT 0' WHERE sql = 'SELECT 3'"
ends 2 'it has changed' resume
sql "UPDATE staging SET sql = 'SELECT 3' WHERE sql = 'SELECT 0' AND ctid <> '(0,1)'"
ends 0 'is resumed with seq 64' resume
whole 200

case_begin 'a pipe is resumed from a copy, and left as it is without one'
tasks 0 200 >"$tmp/copy.jsonl"
killed --stream - < <(cat "$tmp/copy.jsonl")
sed 's/SELECT 3"/SELECT 4"/' "$tmp/copy.jsonl" >"$tmp/other.jsonl"
ends 2 'it has changed' resume "$tmp/other.jsonl"
head -n 20 "$tmp/copy.jsonl" >"$tmp/short.jsonl"
ends 2 'it has changed' resume "$tmp/short.jsonl"
ends 0 'is resumed with seq 64' resume "$tmp/copy.jsonl"
whole 200
killed --stream - < <(cat "$tmp/copy.jsonl")
before=$(topic | wc -l)
state='status, published_at, publish_error, publish_acked_seq, end_offset'
noted=$(row "$state")
remedy="lockstep publish --queue $q --resume $run FILE. To close it: lockstep run end $run"
ends 2 'It has 64 tasks on the topic, and is left as it is' resume
grep -q -- "$remedy$" "$tmp/err" || { cat "$tmp/err"; failed=1; }
expect 'the row of a refused one' "$(row "$state")" "$noted"
expect 'the topic of a refused one' "$(topic | wc -l)" "$before"
lockstep run explain "$run" >"$tmp/said"
grep -q -- "a copy of what was piped: $remedy$" "$tmp/said" || { cat "$tmp/said"; failed=1; }
ends 7 "$remedy" lockstep publish --queue "$q" --unfinished refuse "$tmp/copy.jsonl"
ends 0 'is resumed with seq 64' resume "$tmp/copy.jsonl"
whole 200
killed --stream - < <(cat "$tmp/copy.jsonl")
lockstep run end "$run" -q
if lockstep run end "$run" >"$tmp/said" 2>&1; then failed=1; fi
if grep -q 'run retry' "$tmp/said"; then failed=1; fi
grep -q "lockstep run show $run" "$tmp/said" || { cat "$tmp/said"; failed=1; }
run=$(cat /proc/sys/kernel/random/uuid)
ends 137 '' probed publish.committed=kill --run "$run" - < <(cat "$tmp/copy.jsonl")
ends 0 '' resume # all of it is there, only the note is missing
whole 200
expect 'noted' "$(row 'published_at IS NOT NULL')" t
run=$(cat /proc/sys/kernel/random/uuid)
ends 137 '' probed publish.committing=kill --run "$run" --stream - < <(cat "$tmp/copy.jsonl")
ends 2 'It has 0 tasks on the topic, and is left as it is' resume
lockstep run end "$run" -q
expect 'Cancelled' "$(row 'status')" Cancelled
ends 2 'was cancelled' resume "$tmp/copy.jsonl"

case_begin 'the next producer refuses when that is asked for; otherwise it closes the run and says so'
cp "$tmp/copy.jsonl" "$tmp/c.jsonl"
killed --stream "$tmp/c.jsonl"
tasks 0 5 >"$tmp/five.jsonl"
ends 7 "lockstep publish --queue $q --resume $run. To close it: lockstep run end $run" lockstep publish --queue "$q" \
    --unfinished refuse "$tmp/five.jsonl"
ends 0 'is resumed with seq 64' resume
whole 200
killed --stream "$tmp/c.jsonl"
ends 0 "run $run, whose producer ended after 64 tasks, is closed as aborted" lockstep publish --queue "$q" \
    -q "$tmp/five.jsonl"
ends 2 'was ended as aborted' resume

case_begin 'an interrupted publish exits with 8, and publishes nothing, or an end that says so'
run=$(cat /proc/sys/kernel/random/uuid)
ends 8 'interrupted' probed publish.record=term --run "$run" "$tmp/copy.jsonl"
expect 'interrupted, finite' "$(row 'status, error')" 'Cancelled|the publishing was interrupted'
expect 'on the topic' "$(topic | jq -c --arg run "$run" 'select(.run == $run)')" ''
run=$(cat /proc/sys/kernel/random/uuid)
ends 8 'the run is ended as aborted' probed publish.record=sleep:110@2,publish.record=term@4 --run "$run" \
    --stream "$tmp/copy.jsonl"
expect 'interrupted, stream' "$(row 'publish_error')" 'the publishing was interrupted'
expect 'on the topic' "$(topic | jq -c --arg run "$run" 'select(.run == $run)' | tail -n 1)" \
    "{\"run\":\"$run\",\"seq\":64,\"aborted\":true,\"type\":\"end\"}"

run=$(cat /proc/sys/kernel/random/uuid)
head -n 32 "$tmp/copy.jsonl" >"$tmp/d.jsonl"
ends 8 'the run is ended as aborted' probed publish.record=sleep:110,publish.ending=term --run "$run" \
    --stream "$tmp/d.jsonl"
expect 'interrupted when all but the end is committed' \
    "$(topic | jq -c --arg run "$run" 'select(.run == $run)' | tail -n 1)" \
    "{\"run\":\"$run\",\"seq\":32,\"aborted\":true,\"type\":\"end\"}"

case_begin 'a publisher that lost its lock sends nothing more, and another one resumes the run'
run=$(cat /proc/sys/kernel/random/uuid)
probed publish.record=sleep:110@2,publish.flushing=hold@2 --run "$run" --stream "$tmp/c.jsonl" 2>"$tmp/lost.err" &
pid=$!
eventually 20 test -e "$tmp/publish.flushing.hit"
sql "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE application_name = 'lockstep/producer' AND datname = current_database()" >/dev/null
touch "$tmp/publish.flushing.go"
status=0
wait $pid || status=$?
expect 'its exit' $status 3
grep -q 'held the lock' "$tmp/lost.err" || { cat "$tmp/lost.err"; failed=1; }
grep -q -- "To continue it: lockstep publish --queue $q --resume $run" "$tmp/lost.err" ||
    { cat "$tmp/lost.err"; failed=1; }
ends 0 'is resumed with seq 64' resume
whole 200

case_begin 'a finite publish whose records leave slowly commits within the time-out of its transactions'
queue
run=$(cat /proc/sys/kernel/random/uuid)
tasks 0 200 >"$tmp/slow.jsonl"
slow=''
for n in 1 2 3 4 5 6; do slow+=${slow:+,}publish.record=sleep:300@$n; done # each 32 records
ends 0 '' probed "$slow" -X transaction.timeout.ms=1000 --run "$run" "$tmp/slow.jsonl"
whole 200
# Each commit is an offset, too: behind 64, 128 and 192 tasks.
expect 'the offset of the end' \
    "$(kcat -C -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -o beginning -e -q -f '%o\n' | tail -1)" 203
cases_end
exit $failed
