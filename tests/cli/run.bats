#!/usr/bin/env bats
# A run as people look at it. The rows are written by hand, so that every state is there at once and nothing has to run.
# ctest: long

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't'), ('other', 't');
         INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at, ended_at,
                                   end_offset, error)
         SELECT v.id::uuid, q.queue_id, v.name, 'stop', v.status, 2, 3, v.t0, v.t0 + '4 s', 9, v.error
         FROM (VALUES ('aaaa0000-0000-4000-8000-000000000001', 'good', 'Completed',
                       timestamptz '2024-05-06 07:00:00Z', NULL),
                      ('aaaa0000-0000-4000-8000-000000000002', 'bad', 'Failed', '2024-05-06 08:00:00Z',
                       'a task failed'))
              AS v (id, name, status, t0, error), lockstep.queue q WHERE q.name = 'q' ORDER BY v.t0;
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at, done_at)
         SELECT r.run_no, r.queue_id, o, o - 10, r.started_at, r.ended_at
         FROM lockstep.run r, (VALUES (10), (20)) AS v (o);
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", seq, kafka_offset, payload, status,
                                    attempt_num,
                                    started_at, duration)
         SELECT p.phase_id, p.run_no, p.queue_id, p.\"order\", n, n, '{\"order\":1}',
                CASE WHEN p.run_no = 2 AND n = 2 THEN 'Failed' ELSE 'Completed' END::lockstep.status, 1,
                p.opened_at + make_interval(secs => CASE WHEN n = 2 THEN 2 ELSE 0 END), interval '2 s'
         FROM lockstep.phase p, generate_series(0, 2) AS n WHERE (n = 2) = (p.\"order\" = 20);
         INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at, sqlstate, error)
         SELECT t.task_id, 1, 'Failed', t.started_at, t.started_at + t.duration, '22012', 'division by zero'
         FROM lockstep.task t WHERE t.status = 'Failed';
         INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
         SELECT q.queue_id, 7, 'json', 'no JSON', '\\x00ff0a41'::bytea FROM lockstep.queue q WHERE q.name = 'q'"
}

teardown() {
    scratch_drop
}

@test "run show ends with a picture of when the tasks of each phase ran" {
    COLUMNS=60 run lockstep run show aaaa0000-0000-4000-8000-000000000001 --ascii
    [ "$status" -eq 0 ]
    first='10 \|(#+)( +)\| 2' second='20 \| +-+\| 1'
    [[ $output =~ $first ]]
    dark=${#BASH_REMATCH[1]} blank=${#BASH_REMATCH[2]}
    # The two of phase 10 ran in the first half, one in the second.
    [ $((dark - blank)) -le 1 ] && [ $((blank - dark)) -le 2 ]
    [[ $output =~ $second ]]
    [[ $output == *"makespan 4.000 s"* ]]
}

@test "run show draws a run during which the clock was set back" {
    sql "UPDATE lockstep.task SET duration = interval '-1 hour'; UPDATE lockstep.task_attempt SET ended_at = started_at"
    run lockstep run show aaaa0000-0000-4000-8000-000000000001 --ascii
    [ "$status" -eq 0 ]
    sql "UPDATE lockstep.task SET duration = interval '-1 day' WHERE \"order\" = 10"
    run lockstep run show aaaa0000-0000-4000-8000-000000000001 --ascii
    [ "$status" -eq 0 ]
}

@test "log --executions has an attempt that never began at its end, and not before all others" {
    sql "INSERT INTO lockstep.task_attempt (task_id, attempt, status, ended_at)
         SELECT t.task_id, 5, 'Failed', '2024-05-06 07:00:01Z'
         FROM lockstep.task t WHERE t.run_no = 1 AND t.\"order\" = 20"
    lockstep log --executions -o json | jq -e 'length == 7 and (map(.started_at == null) | index(true)) == 2'
    lockstep log --executions --limit 1 -o json | jq -e 'map(.started_at | startswith("2024-05-06")) == [true]'
}

@test "run show as JSON has the failed tasks also when none failed" {
    lockstep run show aaaa0000-0000-4000-8000-000000000001 -o json | jq -e '.failed == []'
    lockstep run show --latest -o json | jq -e '.failed | length == 1'
}

@test "run show as JSON has the facts and the phases" {
    lockstep run show --latest -o json |
        jq -e '.run.status == "Failed" and .run.failed == 1 and (.phases | map(.order)) == [10, 20]
            and .phases[0].completed == 2'
}

@test "a run is found by the beginning of its id, never by a guess" {
    run lockstep run show aaaa
    [ "$status" -eq 2 ]
    [[ $output == *"several runs fit"* ]]
    run lockstep run show bbbb
    [ "$status" -eq 2 ]
    run lockstep run show xyz
    [ "$status" -eq 2 ]
    run lockstep run show
    [ "$status" -eq 2 ]
    run lockstep run show --latest --queue other
    [ "$status" -eq 2 ]
}

@test "run watch tells each phase once and its exit code is the run's outcome" {
    run lockstep run watch aaaa0000-0000-4000-8000-000000000001
    [ "$status" -eq 0 ]
    [ "$(grep -c '2/2  done' <<<"$output")" -eq 1 ]
    [[ ${lines[-1]} == *Completed* ]]
    run lockstep run watch --latest --queue q
    [ "$status" -eq 1 ]
    [[ $output == *"Failed: a task failed"* ]]
}

@test "run watch marks the total of a phase that may grow; when it is interrupted its exit code is 8" {
    sql "UPDATE lockstep.run SET ended_at = NULL, status = 'Running', end_offset = NULL"
    "$LOCKSTEP_BIN" run watch --latest -d "$db" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    watcher=$!
    eventually 10 grep -q Running "$BATS_TEST_TMPDIR/out"
    kill -TERM "$watcher"
    code=0
    wait "$watcher" || code=$?
    [ "$code" -eq 8 ]
    grep -q '10  2/2  ' "$BATS_TEST_TMPDIR/out"
    grep -q '20  1/1+  ' "$BATS_TEST_TMPDIR/out"
}

@test "task list and task show tell the attempts and their errors" {
    lockstep task list --run aaaa0000-0000-4000-8000-000000000002 --status Failed -o json |
        jq -e 'length == 1 and .[0].order == 20'
    id=$(sql "SELECT task_id FROM lockstep.task WHERE status = 'Failed'")
    lockstep task show "$id" -o json | jq -e '.task.status == "Failed" and .attempts[0].sqlstate == "22012"'
    run lockstep task show 999999
    [ "$status" -eq 2 ]
    run lockstep task list --status Failde
    [ "$status" -ne 0 ]
}

@test "rejected show escapes the bytes, --raw writes them as they came" {
    lockstep rejected show 1 -o json | jq -e '.hex == "00ff0a41" and (.raw | startswith("\\000\\377"))'
    [ "$(lockstep rejected show 1 --raw | od -An -tx1 | tr -d ' \n')" = 00ff0a41 ]
    lockstep rejected list --queue q -o json | jq -e '.[0].bytes == 4'
}

@test "log --follow prints what comes and ends with exit code 0 at a signal" {
    "$LOCKSTEP_BIN" log --follow -o jsonl -d "$db" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    follower=$!
    sql "INSERT INTO lockstep.event_log (event) VALUES ('early')"
    eventually 10 grep -q early "$BATS_TEST_TMPDIR/out"
    sql "INSERT INTO lockstep.event_log (event) VALUES ('late')"
    eventually 10 grep -q late "$BATS_TEST_TMPDIR/out"
    kill -INT "$follower" || true # in the background of a shell it may be ignored
    kill -TERM "$follower" || true
    wait "$follower"
    [ "$(grep -c late "$BATS_TEST_TMPDIR/out")" -eq 1 ]
}

@test "log is in the order of what happened, whatever the order of its numbers" {
    sql "INSERT INTO lockstep.event_log (at, event, detail) VALUES
        ('2030-01-01 00:00:00Z', 'phase_opened', 'a'), ('2030-01-01 00:00:02Z', 'run_ended', 'c'),
        ('2030-01-01 00:00:01Z', 'phase_opened', 'b')"
    run lockstep log --limit 3 -o jsonl
    [ "$status" -eq 0 ]
    [ "$(jq -r .detail <<<"$output" | tr -d '\n')" = abc ]
    run lockstep log --event RUN_ENDED --limit 1 -o jsonl
    [ "$(jq -r .detail <<<"$output")" = c ]
}

@test "log --follow shows a line whose transaction commits behind those with higher numbers, once" {
    mkfifo "$BATS_TEST_TMPDIR/in"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -d "$db" <"$BATS_TEST_TMPDIR/in" 3>&- &
    exec 9>"$BATS_TEST_TMPDIR/in"
    echo "BEGIN; INSERT INTO lockstep.event_log (event) VALUES ('slow_one'); \\o $BATS_TEST_TMPDIR/begun
        SELECT 1;" >&9
    eventually 10 test -s "$BATS_TEST_TMPDIR/begun"
    "$LOCKSTEP_BIN" log --follow -o jsonl -d "$db" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- 9>&- &
    follower=$!
    sql "INSERT INTO lockstep.event_log (event) VALUES ('quick_one')"
    eventually 10 grep -q quick_one "$BATS_TEST_TMPDIR/out"
    echo 'COMMIT;' >&9
    exec 9>&-
    eventually 10 grep -q slow_one "$BATS_TEST_TMPDIR/out"
    sql "INSERT INTO lockstep.event_log (event) VALUES ('last_one')"
    eventually 10 grep -q last_one "$BATS_TEST_TMPDIR/out"
    kill -TERM "$follower"
    wait
    [ "$(jq -r .event "$BATS_TEST_TMPDIR/out" | grep _one | tr '\n' ' ')" = 'quick_one slow_one last_one ' ]
}

@test "every list with --limit shows the newest, the newest last" {
    all=$(lockstep task list -o json | jq -c '[.[-2:][].id]')
    [ "$(lockstep task list --limit 2 -o json | jq -c '[.[].id]')" = "$all" ]
    all=$(lockstep log -o json | jq -c '[.[-2:][].id]')
    [ "$(lockstep log -n 2 -o json | jq -c '[.[].id]')" = "$all" ]
    all=$(lockstep run list -o json | jq -c '[.[-1:][].run_id]')
    [ "$(lockstep run list --limit 1 -o json | jq -c '[.[].run_id]')" = "$all" ]
}

@test "a run whose producer is done and of which nothing is claimed is Published, and is found as that" {
    sql "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, publish_acked_seq, published_at)
         SELECT v.id::uuid, q.queue_id, 'stop', 'Publishing', 4, v.at
         FROM (VALUES ('bbbb0000-0000-4000-8000-000000000001', now()), ('cccc0000-0000-4000-8000-000000000001', NULL))
             AS v (id, at),
              lockstep.queue q WHERE q.name = 'other'"
    [ "$(lockstep run show bbbb -o json | jq -c '.run | [.status, .published_tasks]')" = '["Published",4]' ]
    [ "$(lockstep run show cccc -o json | jq -c '.run | [.status, .published_tasks]')" = '["Publishing",5]' ]
    [ "$(lockstep run list --status published -o json | jq -r '.[].run_id')" = bbbb0000-0000-4000-8000-000000000001 ]
    [ "$(lockstep run list --status Publishing -o json | jq -r '.[].run_id')" = cccc0000-0000-4000-8000-000000000001 ]
}

@test "run watch names the run and says why it stands still, once" {
    sql "UPDATE lockstep.run SET ended_at = NULL, status = 'Running', publish_acked_seq = 1000, published_at = now()
        WHERE name = 'bad'"
    sql "SET session_replication_role = replica; UPDATE lockstep.task SET status = 'Pending' WHERE status = 'Failed'"
    sql "UPDATE lockstep.phase SET done_at = NULL WHERE run_no = 2"
    "$LOCKSTEP_BIN" run watch aaaa0000-0000-4000-8000-000000000002 -d "$db" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    watcher=$!
    eventually 20 grep -q 'no executor works for queue q' "$BATS_TEST_TMPDIR/out"
    sql "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()"
    eventually 20 grep -q 'the connection is lost' "$BATS_TEST_TMPDIR/out"
    sql "UPDATE lockstep.run SET ended_at = now(), status = 'Completed' WHERE name = 'bad'"
    wait "$watcher"
    grep -q '^run aaaa.*"bad"  Running  2/1000 tasks' "$BATS_TEST_TMPDIR/out"
    [ "$(grep -c 'no executor works' "$BATS_TEST_TMPDIR/out")" -eq 1 ]
}

@test "run watch on a terminal draws what failed and what was cancelled as such" {
    sql "SET session_replication_role = replica;
        UPDATE lockstep.task SET status = 'Cancelled' WHERE run_no = 2 AND seq = 1"
    run env -u NO_COLOR TERM=xterm script \
        -qec "'$LOCKSTEP_BIN' run watch aaaa0000-0000-4000-8000-000000000002 --ascii -d '$db'" /dev/null
    [[ $output == *'############'*$'\e[33m------------\e[0m  2/2'* ]]
    [[ $output == *$'\e[31mxxxxxxxxxxxxxxxxxxxxxxxx\e[0m  1/1'* ]]
}

# A run that has everything that a picture shows: retries, failures, what was lost or cancelled, names that would be
# markup, a dense phase.
picture_rows() {
    sql "INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at, ended_at)
         SELECT 'cccc0000-0000-4000-8000-000000000003', q.queue_id, E'</text><script>alert(1)</script> & \"\\x07',
             'stop', 'Failed', 4, 616,
                timestamptz '2024-05-06 09:00:00Z', timestamptz '2024-05-06 09:01:40Z' FROM lockstep.queue q
         WHERE q.name = 'q';
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at, done_at)
         SELECT r.run_no, r.queue_id, v.o, v.o - 10, r.started_at + v.t0, r.started_at + v.t1
         FROM lockstep.run r, (VALUES (10, interval '0', interval '10 s'), (20, '11 s', '31 s'), (30, '32 s', '60 s'),
                                      (40, NULL, '100 s'))
             AS v (o, t0, t1)
         WHERE r.name LIKE '</text>%';
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", seq, kafka_offset, payload, name, status,
                                    attempt_num, started_at, duration)
         SELECT p.phase_id, p.run_no, p.queue_id, p.\"order\", n, n, '{}',
             CASE n WHEN 1 THEN '<b>&amp;' WHEN 2 THEN E'\\u202e\\u0085\\x1b' ELSE 'n' || n END,
                (CASE WHEN p.\"order\" = 40 OR n = 5 THEN 'Cancelled' WHEN n = 1 THEN 'Failed'
                      ELSE 'Completed' END)::lockstep.status,
                CASE WHEN n IN (1, 2) THEN 2 ELSE 1 END,
                CASE WHEN p.\"order\" < 40 AND n <> 5 THEN p.opened_at + make_interval(secs => n % 4 + 2) END,
                CASE WHEN p.\"order\" < 40 AND n <> 5 THEN interval '3 s' END
         FROM lockstep.phase p JOIN lockstep.run r USING (run_no), generate_series(0, 599) AS n
         WHERE r.name LIKE '</text>%' AND n < CASE p.\"order\" WHEN 20 THEN 600 WHEN 30 THEN 40 ELSE 6 END;
         INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at)
         SELECT t.task_id, a,
             (CASE WHEN a = 2 THEN 'Failed' WHEN t.seq = 1 THEN 'Error' ELSE 'Pending' END)::lockstep.status,
                p.opened_at + make_interval(secs => a), p.opened_at + make_interval(secs => a + 0.5)
         FROM lockstep.task t JOIN lockstep.phase p USING (phase_id), generate_series(1, 2) AS a
         WHERE t.attempt_num = 2 AND p.opened_at IS NOT NULL AND (a = 1 OR t.seq = 1)"
}

# Well-formed, only elements and attributes that show; prints every text of it, a line each.
picture_read() { # FILE
    python3 - "$1" <<'END'
import html.parser, re, sys, xml.etree.ElementTree as tree
text = open(sys.argv[1], encoding='utf-8').read()
tree.fromstring(text if text.startswith('<?xml') else re.search('<svg.*</svg>', text, re.S)[0])
known = {'html', 'head', 'meta', 'style', 'title', 'body', 'main', 'div',
         'table', 'caption', 'thead', 'tbody', 'tr', 'th', 'td',
         'svg', 'defs', 'pattern', 'path', 'rect', 'g', 'text', 'tspan'}
class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        assert tag in known, tag
        for name, value in attributes:
            assert not name.startswith('on') and name not in ('href', 'src', 'style'), name
    def handle_data(self, data):
        if data.strip():
            print(data.strip())
Reader().feed(text)
assert 'url(http' not in text and '@import' not in text
END
}

@test "run show --svg and --html write what ran when as files that need nothing else" {
    picture_rows
    dir=$(mktemp -d "$BATS_TEST_TMPDIR/picture.XXXX")
    lockstep run show cccc --svg "$dir/run.svg" --html "$dir/run.html" -q
    [ "$(ls "$dir" | tr '\n' ' ')" = 'run.html run.svg ' ]
    for file in "$dir/run.svg" "$dir/run.html"; do
        run picture_read "$file"
        [ "$status" -eq 0 ]
        [[ $output == *'</text><script>alert(1)</script> & "'* ]]
        [[ $output == *'<b>&amp; · Failed'* ]]
        [[ $output == *'1 failed'* ]]
        [[ $output == *'6 tasks · 6 cancelled · not opened'* ]]
        [[ $output == *'n5 · Cancelled'* ]]
        [[ $output == *'barrier'* ]]
        run grep -P '[\x00-\x08\x0b-\x1f]|\xc2\x85|\xe2\x80\xae' "$file"
        [ "$status" -eq 1 ]
        grep -q 'prefers-color-scheme:dark' "$file"
        grep -q '<path class="cross' "$file" # not by colour alone
        grep -q 'class="frame" x' "$file"    # the dense one
    done
}

@test "run show --svg - writes the picture to standard output" {
    picture_rows
    dir=$(mktemp -d "$BATS_TEST_TMPDIR/picture.XXXX")
    lockstep run show cccc --svg "$dir/run.svg" -q
    (cd "$dir" && lockstep run show cccc --svg - >"$dir/out" && lockstep run show cccc --html - | grep -q '</html>')
    cmp "$dir/run.svg" "$dir/out"
    [ "$(ls "$dir" | tr '\n' ' ')" = 'out run.svg ' ]
    run bash -c '"$1" run show cccc --svg - -d "$2" >/dev/full' - "$LOCKSTEP_BIN" "$db"
    [ "$status" -eq 2 ]
    [[ $output == *'standard output: cannot be written: No space left on device'* ]]
    mkfifo "$dir/pipe"
    for form in svg html; do # the reader leaves before anything is written
        run bash -c 'head -c 0 <"$4" & exec >"$4"; wait; exec "$1" run show cccc "--$3" - -d "$2"' - "$LOCKSTEP_BIN" \
            "$db" "$form" "$dir/pipe"
        [ "$status" -eq 0 ]
        [ "$output" = "" ]
    done
}

@test "a picture has each digit of an order" {
    sql "SET session_replication_role = replica;
         UPDATE lockstep.task SET \"order\" = 9007199254740993 WHERE \"order\" = 20;
         UPDATE lockstep.phase SET \"order\" = 9007199254740993 WHERE \"order\" = 20"
    lockstep run show --latest --svg - >"$BATS_TEST_TMPDIR/run.svg"
    grep -q '>9007199254740993</text>' "$BATS_TEST_TMPDIR/run.svg"
    lockstep run show --latest --html - | grep -q '<tr><td>9007199254740993</td>'
}

@test "a picture has no barrier between phases of which the earlier one was retried later" {
    picture_rows
    lockstep run show cccc --svg - >"$BATS_TEST_TMPDIR/run.svg"
    [ "$(grep -o '<title>barrier</title>' "$BATS_TEST_TMPDIR/run.svg" | wc -l)" -eq 2 ]
    sql "SET session_replication_role = replica;
         UPDATE lockstep.task t SET started_at = p.opened_at + interval '50 s'
         FROM lockstep.phase p WHERE p.phase_id = t.phase_id AND p.\"order\" = 10 AND t.seq = 3"
    lockstep run show cccc --svg - >"$BATS_TEST_TMPDIR/run.svg"
    [ "$(grep -o '<title>barrier</title>' "$BATS_TEST_TMPDIR/run.svg" | wc -l)" -eq 0 ]
    run grep -- 'barrier -' "$BATS_TEST_TMPDIR/run.svg"
    [ "$status" -eq 1 ]
}

@test "in a picture the wait for a retry is not one for a reader, and no cross is outside of the plot" {
    picture_rows
    # The last to end is so short that its cross has no room in its bar.
    sql "SET session_replication_role = replica;
         UPDATE lockstep.task_attempt a
         SET started_at = a.started_at + interval '8.45 s', ended_at = a.started_at + interval '8.46 s'
         FROM lockstep.task t, lockstep.phase p
         WHERE a.task_id = t.task_id AND p.phase_id = t.phase_id AND a.attempt = 2 AND t.seq = 1 AND p.\"order\" = 10;
         UPDATE lockstep.run SET ended_at = started_at + interval '10.46 s' WHERE name LIKE '</text>%';
         DELETE FROM lockstep.task t USING lockstep.phase p WHERE p.phase_id = t.phase_id AND p.\"order\" > 10;
         DELETE FROM lockstep.phase WHERE \"order\" > 10"
    file=$BATS_TEST_TMPDIR/retry.svg
    lockstep run show cccc --svg "$file" -q
    [ "$(grep -o '<rect class="retries" x=' "$file" | wc -l)" -eq 2 ] # with that of the legend
    [ "$(grep -o 'after waiting for its retry' "$file" | wc -l)" -eq 1 ] # task 2 was lost: it waited for a reader again
    grep -q 'after waiting for a reader' "$file"
    grep -q 'waited for its retry</text>' "$file"
    run awk 'match($0, /class="cross[^"]*" d="M[0-9.]+ [0-9.]+l[0-9.]+/) {
        text = substr($0, RSTART, RLENGTH)
        sub(/.*d="M/, "", text)
        split(text, n, /[ l]/)
        if (n[1] + n[3] > 832) print text
    }' "$file"
    [ "$output" = "" ]
    grep -q 'class="cross beside"' "$file"
}

@test "a picture of a run of which nothing has begun, and one that cannot be written" {
    sql "UPDATE lockstep.run SET started_at = NULL, ended_at = NULL, status = 'Running';
        DELETE FROM lockstep.task;
        DELETE FROM lockstep.phase"
    dir=$(mktemp -d "$BATS_TEST_TMPDIR/picture.XXXX")
    lockstep run show --latest --html "$dir/run.html" -q
    picture_read "$dir/run.html"
    run lockstep run show --latest --svg "$dir/none/run.svg"
    [ "$status" -eq 2 ]
    [[ $output == *'cannot be written: No such file or directory'* ]]
    run lockstep run show --latest --svg "$dir"
    [ "$status" -eq 2 ]
    [ "$(ls "$dir")" = run.html ]
}
