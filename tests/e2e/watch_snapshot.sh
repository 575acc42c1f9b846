#!/bin/bash
# run watch shows a run and its phases as they are at one moment: a run that begins between its two statements is shown
# as Published without phases, and then as Running with them, never as Published with an open phase.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
run=00000000-0000-4000-8000-000000004711
sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't')"
sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, published_by, published_at)
     SELECT '$run', queue_id, 'stop', 'Publishing', 't', now() FROM lockstep.queue"
case_begin 'a run that begins while it is read is not shown as Published with open phases'
LOCKSTEP_PROBE=watch.read=hold LOCKSTEP_PROBE_DIR=$tmp "${LOCKSTEP_BIN}-probed" run watch "$run" -d "$db" \
    >"$tmp/said" 2>&1 &
watch=$!
eventually 30 [ -e "$tmp/watch.read.hit" ]
sql <<SQL
UPDATE lockstep.run SET status = 'Running', started_at = now(), first_offset = 1;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at)
SELECT run_no, queue_id, 100, 0, now() FROM lockstep.run;
SQL
touch "$tmp/watch.read.go"
eventually 30 grep -q "^run $run  Running" "$tmp/said" || wrong "it does not go on: $(cat "$tmp/said")"
kill -INT "$watch"
wait "$watch" || true
expect 'the phases are shown with the run that has them' 'run Published 100 run Running' \
    "$(grep -oE '^run|Published|Running|^ +100' "$tmp/said" | paste -sd' ' | tr -s ' ')"
cases_end
exit $failed
