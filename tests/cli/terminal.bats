#!/usr/bin/env bats
# What producers and tasks write never reaches the terminal as control characters: every command that shows it escapes
# it.

setup_file() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    export db
}
teardown_file() {
    kept=$db
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    db=$kept
    scratch_drop
}

@test "names, texts and errors are shown escaped" {
    kept=$db
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    db=$kept
    # ESC, BEL, the C1 form of CSI, and a line of its own
    sql "CREATE FUNCTION evil() RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
        SELECT E'x\\x1b]0;pwned\\x07\\x1b[31m' || chr(155) || E'31mred\\r\\nfake'
    \$\$;
         INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
         INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, error, first_offset)
         VALUES ('aaaa0000-0000-4000-8000-000000000001', 1, evil(), 'stop', 'Failed', evil(), 0);
         INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, opened_at)
         VALUES (1, 1, 10, 0, now());
         INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", kafka_offset, name, payload, status,
                                    attempt_num, error)
         VALUES (1, 1, 1, 10, 0, evil(), '{\"order\":10,\"previous_order\":0,\"sql\":' || to_json(evil()) || '}',
                 'Failed', 1, evil());
         INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at, error, detail, hint,
                                            context)
         VALUES (1, 1, 'Failed', now(), now(), evil(), evil(), evil(), evil());
         INSERT INTO lockstep.event_log (event, queue_id, run_no, task_id, detail)
         VALUES ('task_failed', 1, 1, 1, evil())"
    for command in 'run list' 'run show aaaa' 'run explain aaaa' 'run watch aaaa' check 'task list' 'task show 1' \
        'task explain 1' log 'log --executions' 'queue explain q'; do
        # shellcheck disable=SC2086
        script -qc "timeout 4 '$LOCKSTEP_BIN' $command -d '$db'" /dev/null >"$BATS_TEST_TMPDIR/out" </dev/null 3>&-
        for bytes in $'\x1b]' $'\x07' $'\xc2\x9b' $'\x1b[31mr'; do
            run grep -aF -- "$bytes" "$BATS_TEST_TMPDIR/out"
            [ "$status" = 1 ] || { echo "$command:"; cat -v "$BATS_TEST_TMPDIR/out"; false; }
        done
        run grep -a '^fake' "$BATS_TEST_TMPDIR/out"
        [ "$status" = 1 ]
    done
}

@test "the faults of messages that are checked are shown escaped" {
    # The C1 form of CSI, and a mark that turns the direction of writing
    printf '{"order": 1, "sql": "SELECT 1", "type": "\xc2\x9b31m\xe2\x80\xae"}\n' >"$BATS_TEST_TMPDIR/lines"
    for form in record staged; do
        script -qc "'$LOCKSTEP_BIN' message check --form $form $BATS_TEST_TMPDIR/lines" /dev/null \
            >"$BATS_TEST_TMPDIR/out" </dev/null 3>&-
        grep -qF '\u009b31m\u202e' "$BATS_TEST_TMPDIR/out" || { cat -v "$BATS_TEST_TMPDIR/out"; false; }
        run grep -aE $'\xc2\x9b|\xe2\x80\xae' "$BATS_TEST_TMPDIR/out"
        [ "$status" = 1 ] || { cat -v "$BATS_TEST_TMPDIR/out"; false; }
    done
}

@test "a long value of one line is shown in seconds" {
    kept=$db
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    db=$kept
    sql "INSERT INTO lockstep.queue (name, topic) VALUES ('long', 'l');
         INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw)
         SELECT queue_id, 0, 'bad_json', 'd', repeat('x', 4000000)::bytea FROM lockstep.queue WHERE name = 'long'"
    long=$(sql "SELECT max(rejected_id) FROM lockstep.rejected_message")
    script -qec "timeout 20 '$LOCKSTEP_BIN' rejected show $long -d '$db'" /dev/null >"$BATS_TEST_TMPDIR/out" \
        </dev/null 3>&-
    [ "$(tr -cd x <"$BATS_TEST_TMPDIR/out" | wc -c)" -gt 4000000 ]
}
