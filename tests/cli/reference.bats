#!/usr/bin/env bats
# The generated parts of docs/reference are those of today's schema.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
}

teardown() {
    scratch_drop
}

@test "the pages of views and functions have today's columns and signatures, each with its meaning" {
    PATH=$LOCKSTEP_TEST_PGBIN:$PATH run python3 "$BATS_TEST_DIRNAME/../../scripts/reference.py" --check views \
        functions --dbname "$db"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the pages of commands and configuration have each option and key, in order, with its values" {
    run python3 "$BATS_TEST_DIRNAME/../../scripts/reference.py" --check commands configuration --binary "$LOCKSTEP_BIN"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the page of the API has each operation of the OpenAPI document" {
    run python3 "$BATS_TEST_DIRNAME/../../scripts/reference.py" --check api --binary "$LOCKSTEP_BIN"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the page of errors has every exit code" {
    page=$BATS_TEST_DIRNAME/../../docs/reference/errors.md
    while read -r code meaning; do
        grep -qF "| $code | $meaning |" "$page" || { echo "no row $code $meaning"; return 1; }
    done < <("$LOCKSTEP_BIN" help | sed -n '/^exit codes$/,/^$/p' | sed -nE 's/^ +([0-9]+) +(.*)$/\1 \2/p')
}
