#!/usr/bin/env bats
# lockstep bench: its figures, and that nothing of it is left, whatever its run comes to.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    jobs_end
    scratch_drop
}

# What the command said names the queue; its topic has the same name.
queue_of() { grep -oE 'bench-[0-9a-f]{8}' "$1" | head -n 1; }
gone() { # FILE
    local name
    name=$(queue_of "$1")
    [ -n "$name" ]
    is 'SELECT count(*) FROM lockstep.queue' 0
    run lockstep queue create again --topic "$name"
    [[ $output == *"$name: there is no topic of this name"* ]] || { echo "$output"; return 1; }
}

@test "bench prints the figures of a run of its own, and leaves nothing" {
    lockstep bench --phases 5 --tasks 6 --readers 3 -o json >figures.json 2>said || { cat said; return 1; }
    [ "$(jq -r 'map(.figure) | join("; ")' figures.json)" = 'tasks; phases; published; run, first start to last end'$(
    )'; tasks done; barrier, median; barrier, 99 of 100; barrier, longest' ]
    [ "$(jq -r '.[0].value, .[1].value' figures.json | paste -sd' ')" = '30 5' ]
    [ "$(jq 'map(.value > 0) | all' figures.json)" = true ]
    gone said
}

@test "bench --keep leaves the queue with its run, and one phase has no barrier" {
    lockstep bench --phases 1 --tasks 2 --keep --sql "SELECT 'it''s \$q\$ here'" -o json >figures.json 2>said ||
        { cat said; return 1; }
    [ "$(jq 'map(select(.figure | startswith("barrier"))) | length' figures.json)" = 0 ]
    name=$(queue_of said)
    is "SELECT count(*) FROM lockstep.queue WHERE name = '$name'" 1
    is 'SELECT status, tasks FROM lockstep.run' 'Completed|2'
    lockstep queue delete "$name" --yes
    lockstep queue create again --topic "$name" # the topic is there
}

@test "bench whose tasks fail says why, and leaves nothing" {
    run lockstep bench --phases 2 --tasks 2 --sql 'SELECT 1/0'
    [ "$status" -eq 1 ]
    [[ $output == *'bench: its run is Failed: task '*'division by zero'* ]] || { echo "$output"; return 1; }
    echo "$output" >said
    gone said
}

@test "bench that is interrupted ends with 8, and leaves nothing" {
    "$LOCKSTEP_BIN" bench --phases 2 --tasks 2 --sql 'SELECT pg_sleep(600)' -s executor.drain_timeout=100ms -d "$db" \
        -b "$LOCKSTEP_TEST_BROKERS" 2>said &
    bench=$!
    eventually 30 is "SELECT count(*) > 0 FROM lockstep.task WHERE status = 'Processing'" t
    kill -INT "$bench"
    rc=0
    wait "$bench" || rc=$?
    [ "$rc" -eq 8 ] || { echo "$rc"; cat said; return 1; }
    grep -q 'bench: cancelled, its run was Running' said
    gone said
}

@test "bench of a login that lacks a role names it, and makes nothing" {
    login=$(scratch_name)
    sql "CREATE ROLE $login LOGIN; GRANT lockstep_operator, lockstep_producer TO $login"
    run "$LOCKSTEP_BIN" bench -d "$db user=$login" -b "$LOCKSTEP_TEST_BROKERS"
    [ "$status" -eq 1 ]
    [[ $output == *"lacks lockstep_executor"*"GRANT lockstep_executor TO"* ]] || { echo "$output"; return 1; }
    is 'SELECT count(*) FROM lockstep.queue' 0
    sql "DROP ROLE $login"
}

@test "bench whose tasks are tried again counts each once" {
    sql 'CREATE SEQUENCE public.s'
    lockstep bench --phases 1 --tasks 3 --sql "SELECT 1 / (nextval('public.s') - 1)" -s executor.max_attempts=3 \
        -o json >figures.json 2>said || { cat said; return 1; }
    [ "$(jq '.[0].value' figures.json)" = 3 ]
    is "SELECT last_value FROM public.s" 4
    gone said
}

@test "bench outlives the loss of its session" {
    "$LOCKSTEP_BIN" bench --phases 1 --tasks 1 --sql 'SELECT pg_sleep(2)' -d "$db" -b "$LOCKSTEP_TEST_BROKERS" \
        >figures 2>said &
    bench=$!
    eventually 30 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name IN ('lockstep/cli', 'lockstep/migrate') AND datname = current_database()"
    wait "$bench" || { cat said; return 1; }
    grep -q '^tasks done' figures
    gone said
}

@test "bench --keep without a broker keeps nothing" {
    run "$LOCKSTEP_BIN" bench --keep -d "$db" -b 127.0.0.1:1
    [ "$status" -eq 4 ]
    [[ $output != *'are kept'* ]] || { echo "$output"; return 1; }
    is 'SELECT count(*) FROM lockstep.queue' 0
}
