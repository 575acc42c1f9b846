#!/bin/bash
# Records on the topic that once stopped their queue: each becomes a rejected row or a task, the good ones between them
# run, no incarnation is lost, and a long task of the executor's other queue loses no attempt. Some are refused by
# constraints that only this database has, even as rejected rows.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
neighbour=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2 --on-failure continue
lockstep queue create "$neighbour" -q --create-topic --max-readers 1
sql <<'SQL'
CREATE TABLE go (at timestamptz); CREATE TABLE ran (name text);
ALTER TABLE lockstep.task ADD CONSTRAINT no_unwanted CHECK (payload NOT LIKE '%unwanted%');
ALTER TABLE lockstep.rejected_message ADD CONSTRAINT no_words CHECK (detail NOT LIKE '%unspeakable%');
ALTER TABLE lockstep.rejected_message ADD CONSTRAINT no_bytes CHECK (position('unkeepable'::bytea IN raw) = 0)
SQL

put() { # [HEADER]: the record of stdin
    kcat -P -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 ${1:+-H "$1"} -D $'\x01'
}
good() {
    printf '{"order":1,"previous_order":0,"name":"good %s","sql":"INSERT INTO ran VALUES (%s)"}' "$1" "'$1'" |
        put "${2:-}"
}
count=35 # of them
run=7b1f0f5e-9b0a-4a53-8f43-2a8f3bb0c9de
l=$(printf 'л%.0s' {1..21})
good first
printf '{"order":1,"previous_order":0,"sql":"SELECT 1","params":[{"%s":{"%s":{"%s":{"%s":{"x":1,"x":1}}}}}]}' "$l" \
    "$l" "$l" "$l" | put
for seq in 0 9223372036854775806 9223372036854775807; do # no such number can be counted on from
    printf '{"run":"%s","seq":%s,"order":1,"previous_order":0,"sql":"SELECT 1"}' $run $seq | put
done
printf '{"run":"%s","seq":9223372036854775807,"order":2,"previous_order":1,"sql":"SELECT 1","bogus":1}' $run | put
printf '{"run":"%s","seq":1,"type":"end","tasks":1,"phases":1}' $run | put
good 'no trace' "$(printf 'traceparent=00-\xff\xfe')"
good 'no lines' "$(printf 'traceparent=00-x\r\nHost: evil')"
good trace traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
for ((i = 0; i < 20; i++)); do
    word=wanted
    [ $i != 3 ] && [ $i != 15 ] || word=unwanted
    printf '{"order":1,"previous_order":0,"sql":"SELECT %s","name":"%s"}' $i "$word" | put
done
printf '{"order":1,"previous_order":0,"sql":"SELECT 1","unspeakable":1}' | put
printf '{"order":1,"previous_order":0,"sql":"SELECT 1","unkeepable":1}' | put h=v
printf '{"order":1,"previous_order":0,"type":"external","input":1e999999}' | put
printf '{"order":1,"previous_order":0,"sql":"SELECT 1","retry_intervals":[1e-400]}' | put
good last
echo '{"order":1,"previous_order":0,"name":"other","sql":"DO $$BEGIN WHILE NOT EXISTS (SELECT FROM go) LOOP PERFORM pg_sleep(0.05); END LOOP; END$$"}' |
    kcat -P -b "$LOCKSTEP_TEST_BROKERS" -t "$neighbour" -p 0

case_begin 'each record is a task or a rejected row, and the good ones among them run'
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --queue "$neighbour" \
    --readers 3 2>"$tmp/log" &
executor=$!
eventually 60 is "SELECT next_offset FROM lockstep.queue WHERE name = '$q'" $count || failed=1
eventually 30 is "SELECT count(*) FROM ran" 5 || failed=1
kept=$(
    sql <<SQL
SELECT count(*), count(DISTINCT o) FROM (
    SELECT t.kafka_offset AS o FROM lockstep.task t JOIN lockstep.queue USING (queue_id) WHERE queue.name = '$q'
    UNION ALL SELECT m.kafka_offset FROM lockstep.rejected_message m) AS x
SQL
)
expect 'each is a task or a rejected row' "$kept" "$((count - 1))|$((count - 1))" # and an end
case_begin 'a rejected row has the reason, and its detail as far as the database keeps it'
expect 'the rejected ones' \
    "$(sql "SELECT string_agg(m.reason || CASE WHEN m.raw IS NULL THEN ' bare' ELSE '' END, ', '
                              ORDER BY m.kafka_offset)
        FROM lockstep.rejected_message m")" \
    'bad_json, out_of_range, out_of_range, bad_field, refused_by_database, refused_by_database, bad_field, refused_by_database bare, out_of_range, out_of_range'
expect 'what is said of one that may not be said' \
    "$(sql "SELECT detail FROM lockstep.rejected_message WHERE raw LIKE '%unspeakable%'")" \
    'the server refused to keep what was said of this record'
expect 'what is said of numbers' "$(sql "SELECT string_agg(detail, '; ' ORDER BY kafka_offset)
    FROM (SELECT * FROM lockstep.rejected_message ORDER BY kafka_offset DESC LIMIT 2) m")" \
    '$.input is a number that PostgreSQL cannot hold: it has more than 131072 digits before the decimal point, or more than 16383 behind it; $.retry_intervals[0] is too small: 1e-400; write 0'
case_begin 'a task has the traceparent of its record when that is well formed'
expect 'traceparent' \
    "$(sql "SELECT string_agg(name, ', '), min(traceparent) FROM lockstep.task WHERE traceparent IS NOT NULL")" \
    'good trace|00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
case_begin 'a run ends at the numbers that can be counted'
expect 'the run of the last numbers' \
    "$(sql "SELECT next_seq, tasks, end_offset IS NOT NULL FROM lockstep.run WHERE run_id = '$run'")" '2|1|t'
case_begin 'a long task of the other queue of the executor loses no attempt, and no incarnation is lost'
sql 'INSERT INTO go VALUES (now())' # a task of the neighbour waited for it
eventually 30 is "SELECT status, attempt_num, lost_num FROM lockstep.task WHERE name = 'other'" 'Completed|1|0' ||
    failed=1
expect 'incarnations lost' "$(grep -c incarnation_lost "$tmp/log" || true)" 0
eventually 10 is "SELECT count(*) FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.classid = 1280507905 AND NOT EXISTS (SELECT FROM lockstep.phase p
        WHERE p.done_at IS NULL AND l.objid IN (p.phase_id * 2, p.phase_id * 2 + 1))
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())" 0 ||
    wrong 'locks of phases are left'
told_to_end "$executor"
cases_end
[ $failed = 0 ] || tail -n 40 "$tmp/log"
exit $failed
