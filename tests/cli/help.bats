#!/usr/bin/env bats
# Help of every command, and how a wrong one is refused: nothing here needs a server.
# ctest: long

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
}

commands() { # "NOUN VERB" a line, from the program's own help
    "$LOCKSTEP_BIN" help | sed -n '/^commands$/,/^$/p' | sed -nE 's/^  ([a-z]+)( [a-z]+)? .*/\1\2/p'
}

@test "lockstep and lockstep help print the same list of commands" {
    run "$LOCKSTEP_BIN"
    [ "$status" -eq 0 ]
    [ "$output" = "$("$LOCKSTEP_BIN" help)" ]
    [ "$output" = "$("$LOCKSTEP_BIN" --help)" ]
    [ "$(commands | wc -l)" -ge 30 ]
}

@test "the help of an option shows the whole form of its value" {
    run "$LOCKSTEP_BIN" dev broker --help
    [[ $output == *"--topic NAME[:N] "* ]]
    run "$LOCKSTEP_BIN" executor run --help
    [[ $output == *"--readers N "* ]]
}

@test "every command has help that exits with 0 and names the command and its options" {
    while read -r noun verb; do
        for help in "$noun $verb --help" "help $noun $verb"; do
            # shellcheck disable=SC2086
            run "$LOCKSTEP_BIN" $help
            [ "$status" -eq 0 ] || { echo "$help: $status"; return 1; }
            [[ ${lines[0]} == "usage: lockstep $noun${verb:+ $verb}"* ]] || { echo "$help: ${lines[0]}"; return 1; }
            [[ $output == *--dbname* ]]
        done
    done < <(commands)
}

@test "the line of a command says what it does: a verb in the third person begins it" {
    while read -r noun verb; do
        # shellcheck disable=SC2086
        run "$LOCKSTEP_BIN" help $noun $verb
        [[ ${lines[1]} =~ ^[a-z]+s\  ]] || { echo "$noun $verb: ${lines[1]}"; return 1; }
    done < <(commands)
}

@test "every noun with verbs has help that lists them" {
    while read -r noun; do
        run "$LOCKSTEP_BIN" "$noun" --help
        [ "$status" -eq 0 ]
        [[ $output == *"  $noun "* ]]
    done < <(commands | awk 'NF == 2 { print $1 }' | sort -u)
}

@test "every command refuses an unknown option with exit code 2" {
    while read -r noun verb; do
        # shellcheck disable=SC2086
        run "$LOCKSTEP_BIN" $noun $verb --frobnicate
        [ "$status" -eq 2 ] || { echo "$noun $verb: $status"; return 1; }
        [[ $output == *"unknown option --frobnicate"* ]]
    done < <(commands)
}

@test "wrong words are refused with the nearest right one" {
    run "$LOCKSTEP_BIN" queu list
    [ "$status" -eq 2 ]
    [[ $output == *"lockstep queue"* ]]
    run "$LOCKSTEP_BIN" queue lsit
    [ "$status" -eq 2 ]
    [[ $output == *"lockstep queue list"* ]]
    run "$LOCKSTEP_BIN" queue list --ouptut json
    [ "$status" -eq 2 ]
    [[ $output == *"Did you mean --output"* ]]
    run "$LOCKSTEP_BIN" queue
    [ "$status" -eq 2 ]
}

@test "a verb of another program leads to the one that does the same, and none leads to one that acts" {
    hint() { run "$LOCKSTEP_BIN" "$@"; [ "$status" -eq 2 ]; printf '%s' "${lines[1]}"; }
    [ "$(hint job rm x)" = '  hint: Did you mean: lockstep job delete' ]
    [ "$(hint schedule rm x)" = '  hint: Did you mean: lockstep schedule remove' ]
    [ "$(hint run ls)" = '  hint: Did you mean: lockstep run list' ]
    [ "$(hint queue get x)" = '  hint: Did you mean: lockstep queue show' ]
    [ "$(hint job lits)" = '  hint: Did you mean: lockstep job list' ]
    [ "$(hint run list --name x)" = '  hint: lockstep run list --help' ]
}

@test "missing and superfluous arguments and bad values are refused with exit code 2" {
    for words in "queue show" "queue show a b" "queue list -o" "queue list -o xml" "queue set a --max-readers many" \
        "queue set a --max-readers -1" "queue set a --on-failure stop|continue" "publish --timeout soon" \
        "migrate up --dry-run=yes" "-q"; do
        # shellcheck disable=SC2086
        PGHOST=127.0.0.1 PGPORT=1 run "$LOCKSTEP_BIN" $words # read on, it would be exit code 3
        [ "$status" -eq 2 ] || { echo "$words: $status"; return 1; }
        [[ $output == lockstep:* ]]
    done
}

@test "a result that cannot be written is an internal error, a reader that goes away is none" {
    run bash -c '"$LOCKSTEP_BIN" config list > /dev/full'
    [ "$status" -eq 70 ]
    run bash -c '"$LOCKSTEP_BIN" migrate get | head -n 1; exit "${PIPESTATUS[0]}"'
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "migrate get prints the SQL of one migration, or refuses an unknown number" {
    run "$LOCKSTEP_BIN" migrate get 1
    [ "$status" -eq 0 ]
    [[ $output == *"CREATE TABLE lockstep.queue"* ]]
    run "$LOCKSTEP_BIN" migrate get 9999
    [ "$status" -eq 2 ]
}

@test "docs/reference/commands.md names every command and every option" {
    page=$BATS_TEST_DIRNAME/../../docs/reference/commands.md
    while read -r noun verb; do
        section=$(sed -n "/^## $noun${verb:+ $verb}\( \|\$\)/,/^## /p" "$page")
        [ -n "$section" ] || { echo "no section $noun $verb"; return 1; }
        # shellcheck disable=SC2086
        for option in $("$LOCKSTEP_BIN" $noun $verb --help | sed -n '/^options$/,/^$/p' |
            grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
            grep -qF -- "$option" <<<"$section" || { echo "$noun $verb $option"; return 1; }
        done
    done < <(commands)
}

refused() { # MESSAGE ARGS...: exit code 2, nothing reached for, and the message
    local message=$1
    shift
    run "$LOCKSTEP_BIN" "$@" -d host=/nowhere -b 127.0.0.1:1
    [ "$status" -eq 2 ] && [[ $output == "lockstep: $message"* ]] || { echo "$*: $status: $output"; return 1; }
}

@test "a number outside its range is refused with object, range and value, before anything is connected" {
    refused 'executor run: --readers must be 1 to 1000, not 4294967301' executor run --queue q --readers 4294967301
    refused 'executor run: --readers must be 1 to 1000, not 99999999999' executor run --queue q --readers 99999999999
    refused 'executor set: --readers must be 0 to 1000, not 2147483648' executor set 3f --readers 2147483648
    refused 'queue set: --max-readers must be 0 to 1000, not 10000' queue set q --max-readers 10000
    refused 'queue create: --max-readers must be 0 to 1000, not 2147483648' queue create q --max-readers 2147483648
    refused 'queue create: --max-attempts must be 1 to 1000, not 0' queue create q --max-attempts 0
    refused 'queue create: --partition must be 0 to 2147483647, not 4294967296' queue create q --partition 4294967296
    refused 'queue set: --lookahead must be 1 to 1000, not "many"' queue set q --lookahead many
    refused 'queue set: --keep-runs must be 1 to 1000000, not 1000001' queue set q --keep-runs 1000001
    refused 'queue set: --external-lease must be 1s to 1000h, not "1ms"' queue set q --external-lease 1ms
    refused 'publish: --timeout must be 0s to 2147483647ms, not "99999999h"' publish --queue q --timeout 99999999h -
    refused 'replay: --resume must be 1 to 2147483647, not 2147483648' replay --queue q --resume 2147483648
    for command in 'run list' 'task list' 'log' 'rejected list' 'run retry'; do
        # shellcheck disable=SC2086
        refused "$command: --limit must be 1 to 2147483647, not -1" $command --limit=-1
    done
}

@test "a word is taken in any case, and an unknown one is refused with the words there are" {
    for command in 'run list' 'run retry' 'task list'; do
        # shellcheck disable=SC2086
        refused "$command: --status must be one of P" $command --status broken ||
            refused "$command: --status must be one of Failed, PartiallyCompleted" $command --status broken
    done
    refused 'log: --event must be one of alert_acknowledged,' log --event phase_open
    [[ $output == *run_ended*'not "phase_open"'*'Did you mean phase_opened?'* ]]
    run "$LOCKSTEP_BIN" help log -o JSONL
    [ "$status" -eq 0 ]
}

@test "completion bash completes nouns, verbs, options and the words of an option" {
    # shellcheck disable=SC1090 # it is generated
    source <("$LOCKSTEP_BIN" completion bash)
    completes() { # WORDS EXPECTED...: every expected one is among the answers
        read -ra COMP_WORDS <<<"$1"
        [[ $1 == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
        _lockstep
        shift
        for word in "$@"; do
            [[ " ${COMPREPLY[*]} " == *" $word "* ]] || { echo "no $word in: ${COMPREPLY[*]}"; return 1; }
        done
    }
    completes 'lockstep ' queue run publish completion
    completes 'lockstep run sh' show
    completes 'lockstep queue create x --max' --max-readers --max-attempts
    completes 'lockstep run list --status F' Failed
    completes 'lockstep queue list -o ' json csv
    completes 'lockstep publish --dry' --dry-run
    [ "${COMPREPLY[*]}" = --dry-run ]
    run "$LOCKSTEP_BIN" completion fish
    [ "$status" -eq 2 ]
}

@test "completion zsh completes nouns, verbs, options and the words of an option" {
    command -v zsh >/dev/null || skip "zsh is missing; run ./dev setup test"
    "$LOCKSTEP_BIN" completion zsh >"$BATS_TEST_TMPDIR/_lockstep"
    cat >"$BATS_TEST_TMPDIR/ask" <<'END'
compdef() { :; }
compadd() { shift; print -l -- "$@"; }
_describe() { print -l -- ${(P)2%%:*}; }
_files() { print files; }
source "$1"
shift
words=("$@") CURRENT=$#
_lockstep
END
    completes() { # EXPECTED WORDS...
        zsh -f "$BATS_TEST_TMPDIR/ask" "$BATS_TEST_TMPDIR/_lockstep" "${@:2}" | grep -qx -- "$1" ||
            { echo "no $1 for: ${*:2}"; return 1; }
    }
    completes publish lockstep ''
    completes show lockstep run ''
    completes --max-readers lockstep queue create x --
    completes --wide lockstep queue list -
    completes PartiallyCompleted lockstep run list --status ''
    completes jsonl lockstep queue list -o ''
    completes files lockstep publish ''
}

@test "man pages: one a noun, one for the program and one for the configuration; mandoc finds nothing wrong with them" {
    "$LOCKSTEP_BIN" man --directory "$BATS_TEST_TMPDIR/man"
    while read -r noun _; do
        [ -s "$BATS_TEST_TMPDIR/man/man1/lockstep-$noun.1" ] || { echo "no page of $noun"; return 1; }
    done < <(commands)
    [ -s "$BATS_TEST_TMPDIR/man/man1/lockstep.1" ] && [ -s "$BATS_TEST_TMPDIR/man/man5/lockstep.conf.5" ]
    "$LOCKSTEP_BIN" man publish | grep -qF -- '\-\-dry\-run'
    "$LOCKSTEP_BIN" man lockstep.conf | grep -qF 'drain_timeout'
    run "$LOCKSTEP_BIN" man nothing
    [ "$status" -eq 2 ]
    command -v mandoc >/dev/null || skip "mandoc is missing; run ./dev setup test"
    run mandoc -T lint -W warning "$BATS_TEST_TMPDIR"/man/man?/*
    [ "$status" -eq 0 ]
}
