#!/usr/bin/env bats
# Whatever is printed as a remedy can be typed: each command in base/remedies.h, in the hints of the program, in
# lockstep.wait_reason, lockstep.halt_reason and the hints of our functions is one of the table of commands, with
# options that it has and as many arguments as it takes. tests/e2e/remedies.sh makes the situations.

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
setup() {
    kept=$db
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    db=$kept
}

# commands: those in the text, one a line
commands() {
    local nouns='check|config|dev|executor|lock|log|migrate|publish|queue|rejected|replay|run|task|version'
    nouns+='|job|schedule|monitor|alert|scheduler'
    grep -oP '(?<![/\w"-])lockstep (?:'"$nouns"')\b(?:(?![;,.)](?: |$|\\)|[)`]|, or |%s%s).)*' |
        sort -u
}

# wrong: the commands of the standard input that no one could type
wrong() {
    local line words noun verb usage option
    while IFS= read -r line; do
        line=${line%\'} line=${line%\"}
        read -ra words <<<"${line#lockstep }"
        noun=${words[0]} verb=''
        if "$LOCKSTEP_BIN" help "$noun" "${words[1]:-}" >/dev/null 2>&1 && [[ ${words[1]:-} != -* ]] &&
            [ -n "${words[1]:-}" ]; then
            verb=${words[1]}
        elif ! "$LOCKSTEP_BIN" help "$noun" >/dev/null 2>&1 ||
            "$LOCKSTEP_BIN" help "$noun" | grep -q "^usage: lockstep $noun VERB"; then
            echo "$line: no such command"
            continue
        fi
        usage=$("$LOCKSTEP_BIN" help "$noun" $verb)
        for option in $(grep -oE ' --[a-z-]+' <<<"$line"); do
            [ "$option" = --help ] || grep -qE -- "$option\b" <<<"$usage" || echo "$line: $noun $verb has no $option"
        done
        # One that needs an argument has it.
        if grep -qE "^usage: lockstep $noun $verb (ID|NAME)\b" <<<"$usage"; then
            [[ ${words[2]:-} =~ ^[^-] ]] || echo "$line: it needs its argument"
        fi
    done
}

@test "what is no command is found" {
    run wrong <<<'lockstep run frob 1
lockstep run end
lockstep queue resume q --now
lockstep queue
lockstep run end 1 --reason x
lockstep publish --queue q --resume 1'
    [ "$(wc -l <<<"$output")" -eq 4 ]
}

@test "the remedies of the program are commands" {
    cat "$BATS_TEST_DIRNAME"/../../base/remedies*.h | sed -n '/^#define REMEDY_/,$p' |
        sed -z 's/" *\\\n *"//g; s/ *\\\n/ /g' | grep -o '".*"' | tr -d '"' |
        sed 's/%[.0-9]*[sd]/VALUE/g' >"$BATS_TEST_TMPDIR/remedies"
    [ "$(commands <"$BATS_TEST_TMPDIR/remedies" | wc -l)" -gt 15 ]
    run wrong < <(commands <"$BATS_TEST_TMPDIR/remedies")
    echo "$output"
    [ -z "$output" ]
}

@test "the remedies of the database are commands" {
    sql "SELECT helps FROM lockstep.wait_reason UNION SELECT remedy FROM lockstep.halt_reason" \
        >"$BATS_TEST_TMPDIR/remedies"
    [ "$(commands <"$BATS_TEST_TMPDIR/remedies" | wc -l)" -gt 20 ]
    run wrong < <(commands <"$BATS_TEST_TMPDIR/remedies")
    echo "$output"
    [ -z "$output" ]
    # Nothing that a person has to fill in: each word that stands for something is replaced by explain
    # (tests/sql/explain.sql).
    run grep -nE -- '(-offset|--[a-z-]+) N\b|\bN (being|goes)' "$BATS_TEST_TMPDIR/remedies"
    [ -z "$output" ]
}

@test "the hints of functions are commands" {
    # Also those that job_refuse and its like get as an argument.
    sql "SELECT regexp_replace(m[1], '%s', 'VALUE', 'g')
         FROM pg_proc p CROSS JOIN regexp_matches(p.prosrc, '''([^'']*\mlockstep [a-z][^'']*)''', 'g') AS m
         WHERE p.pronamespace = 'lockstep'::regnamespace" >"$BATS_TEST_TMPDIR/remedies"
    [ "$(commands <"$BATS_TEST_TMPDIR/remedies" | wc -l)" -gt 12 ]
    [ "$(commands <"$BATS_TEST_TMPDIR/remedies" | grep -cE 'lockstep (job|schedule|monitor|alert|scheduler) ')" -gt 4 ]
    run wrong < <(commands <"$BATS_TEST_TMPDIR/remedies")
    echo "$output"
    [ -z "$output" ]
}
