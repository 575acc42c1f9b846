#!/bin/bash
# An executor loses its control session again and again, while it has work and while it has none. It begins a new
# incarnation each time, and the thirteenth has no more descriptors and threads than the third one had.
# ctest: nosan timeout=120 long
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
for o in 1 2 3 4; do
    for ((i = 0; i < 100; i++)); do echo "{\"order\": $o, \"sql\": \"SELECT pg_sleep(0.05)\"}"; done
done >"$tmp/tasks.jsonl"
lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null

"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 2>"$tmp/log" &
pid=$!
# It reads the topic again: lag tools get its offsets, so all its clients work.
reads() { [ "$(grep -c 'event=assigned' "$tmp/log")" -ge "$1" ]; }
lose() {
    [ "$(sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'lockstep/control'")" = 1 ]
}
open_now() {
    echo "$(find "/proc/$pid/fd" -mindepth 1 | wc -l) $(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)"
}
# Which of librdkafka's connections are open differs from look to look: some looks, ascending.
looks() { for ((look = 0; look < 15; look++)); do open_now; sleep 0.1; done | sort -n; }

case_begin 'an executor starts again each of twelve times that it loses its control session'
eventually 20 incarnations "$tmp/log" 1
for ((i = 1; i <= 12; i++)); do
    eventually 10 reads "$i"
    eventually 10 lose
    eventually 20 incarnations "$tmp/log" $((i + 1))
    [ $i != 2 ] || { eventually 10 reads 3 && first=$(looks | tail -n 1); }
done

case_begin 'the last incarnation has no more descriptors and threads than the third'
# A client of the incarnation before may still be closing: that ends. A leak is 10 of them.
at_rest() {
    last=$(looks | head -n 1) && [ "${last% *}" -le $((${first% *} + 2)) ] &&
        [ "${last#* }" -le $((${first#* } + 2)) ]
}
eventually 15 at_rest || failed=1
echo "descriptors and threads of the third incarnation: $first, of the last: $last"

case_begin 'the executor ends, and has closed each client of Kafka'
told_to_end $pid
! grep -q kafka_close_abandoned "$tmp/log" || wrong 'a client of Kafka could not be closed'
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp/log"
exit $failed
