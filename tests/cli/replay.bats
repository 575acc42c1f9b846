# lockstep replay: what it refuses before it does anything.

setup_file() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    q=$(scratch_name)
    lockstep queue create "$q" -q --create-topic
    for i in 1 2 3; do
        printf '{"order": 1, "sql": "SELECT %d"}\n' $i
    done | lockstep publish --queue "$q" -q --format jsonl - >/dev/null
    export q db_kept=$db
}

teardown_file() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    db=$db_kept
    scratch_drop
}

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    db=$db_kept
}

refused() { # WHAT ARGS...: exit code 2, and the words
    local words=$1
    shift
    run -2 lockstep replay "$@"
    [[ "$output" == *"$words"* ]] || { echo "$output"; return 1; }
}

bats_require_minimum_version 1.5.0

@test "a queue is needed, and it must be there" {
    refused '--queue NAME is needed' --from-offset 0
    refused 'there is no queue of this name' --queue nowhere --from-offset 0
}

@test "one kind of range is needed" {
    refused 'which part?' --queue "$q"
    refused 'not two of them' --queue "$q" --from-offset 0 --to-time now
    refused 'not two of them' --queue "$q" --run 6f6b2a52-7f4f-4c55-9f2e-94c0b8d2a001 --from-offset 0
    refused '--phase needs --run' --queue "$q" --from-offset 0 --phase 1
}

@test "bad offsets, times, phases and modes are named" {
    refused '--from-offset must be 0 or more, not -1' --queue "$q" --from-offset=-1
    refused '--to-offset must be one of a number, earliest, latest, not "soon"' --queue "$q" --to-offset soon
    refused '--from-time: there is no time "the day after"' --queue "$q" --from-time 'the day after'
    refused '--phase must be 1 or more, not 0' --queue "$q" --run 6f6b2a52-7f4f-4c55-9f2e-94c0b8d2a001 --phase 0
    refused '--mode must be one of missing, failed, all, not "some"' --queue "$q" --from-offset 0 --mode some
    refused 'the range is empty' --queue "$q" --from-offset 3 --to-offset 1
    refused 'is outside the log' --queue "$q" --from-offset 0 --to-offset 99
}

@test "to act, a reason is needed" {
    refused '--reason is needed' --queue "$q" --from-offset 0 --execute
    refused '--reason is needed' --queue "$q" --from-offset 0 --execute --reason ''
    [ "$(sql 'SELECT count(*) FROM lockstep.replay')" = 0 ]
}

@test "what goes on has its range" {
    refused 'has its range and mode' --queue "$q" --resume 1 --from-offset 0
    refused 'has its range and mode' --queue "$q" --abandon 1 --mode all
    refused 'contradict each other' --queue "$q" --resume 1 --abandon 1
    refused 'replay 1 is none of this queue' --queue "$q" --resume 1
    refused '--resume must be 1 to 2147483647, not "x"' --queue "$q" --resume x
}

@test "what is not claimed yet is left to the executors" {
    run --separate-stderr -0 lockstep replay --queue "$q" --from-offset earliest --to-offset latest -o json
    [ "$(jq -c '.[] | [.action, .why, .messages]' <<<"$output")" = '["skip","ahead",3]' ]
}

@test "queue create takes the words of an offset" {
    local r
    r=$(scratch_name)
    run -2 lockstep queue create "$r" --topic "$q" --from-offset soon
    [[ "$output" == *'--from-offset must be one of a number, earliest, latest, not "soon"'* ]]
    run -2 lockstep queue create "$r" --topic "$q" --from-offset 1 --from-end
    [[ "$output" == *'--from-end: the first offset is given, too'*'hint: Give one of the two.'* ]]
    lockstep queue create "$r.e" --topic "$q" --from-offset earliest -q
    lockstep queue create "$r.l" --topic "$q" --from-offset latest -q
    lockstep queue create "$r.n" --topic "$q" --from-offset 2 -q
    [ "$(sql "SELECT string_agg((next_offset BETWEEN 1 AND 2)::text || (next_offset = 0) || (next_offset > 2), ' '
                                ORDER BY name)
        FROM lockstep.queue WHERE name LIKE '$r.%'")" = \
        'falsetruefalse falsefalsetrue truefalsefalse' ]
}
