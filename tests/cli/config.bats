#!/usr/bin/env bats
# Where the configuration comes from and how it is refused, as a user sees it.

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    conf=$BATS_TEST_TMPDIR/lockstep.conf
}

show() { "$LOCKSTEP_BIN" config show --config "$conf" --origin -o json "$@"; }
one() { jq -r --arg s "$1" --arg k "$2" '.[] | select(.section == $s and .key == $k) | "\(.value) \(.origin)"'; }

@test "an unknown key is refused with file, line and the nearest name, and all errors are told" {
    printf '[executor]\nreadres = 1\n[log]\nlevel = loud\n' >"$conf"
    run "$LOCKSTEP_BIN" config check --config "$conf"
    [ "$status" -eq 2 ]
    [[ $output == *"$conf:2: unknown key \"readres\""* ]]
    [[ $output == *'Did you mean "readers"?'* ]]
    [[ $output == *"$conf:4: level"* ]]
}

@test "file, environment, setting and option override each other in this order" {
    printf '[executor]\nreaders = 2\ndrain_timeout = 3s\n[kafka]\nbootstrap.servers = file:1\nclient.id = f\n' >"$conf"
    export LOCKSTEP_EXECUTOR_DRAIN_TIMEOUT=4s LOCKSTEP_KAFKA_CLIENT_ID=e
    json=$(show -X client.id=x -X bootstrap.servers=x:1 --brokers option:1)
    [ "$(one executor heartbeat <<<"$json")" = "1s default" ]
    [ "$(one executor readers <<<"$json")" = "2 file" ]
    [ "$(one executor drain_timeout <<<"$json")" = "4s environment" ]
    [ "$(one kafka client.id <<<"$json")" = "x setting" ]
    [ "$(one kafka bootstrap.servers <<<"$json")" = "option:1 option" ]
}

@test "secrets are masked, and a file with one that others can read is refused" {
    printf '[postgres]\npassword = hush\ntask_conninfo = host=a password=hush\n[kafka]\nsasl.password = hush\n' >"$conf"
    chmod 600 "$conf"
    run show
    [ "$status" -eq 0 ]
    [[ $output != *hush* ]]
    [[ $output == *"host=a password=***"* ]]
    chmod 644 "$conf"
    run "$LOCKSTEP_BIN" config check --config "$conf"
    [ "$status" -eq 2 ]
    [[ $output == *"$conf:2:"*"chmod 600"* ]]
}

@test "a librdkafka property that does not exist is refused with where it stands" {
    printf '[kafka]\nbootstrap.srvers = a:1\n' >"$conf"
    run "$LOCKSTEP_BIN" config check --config "$conf"
    [ "$status" -eq 2 ]
    [[ $output == *"$conf:2:"*"No such configuration property"* ]]
}

@test "the file is found in the working directory, and LOCKSTEP_CONFIG names another" {
    unset LOCKSTEP_CONFIG
    printf '[executor]\nreaders = 21\n' >"$conf"
    run bash -c 'cd "$BATS_TEST_TMPDIR" && "$LOCKSTEP_BIN" config show'
    [[ $output == *21* ]]
    printf '[executor]\nreaders = 22\n' >"$BATS_TEST_TMPDIR/other"
    run bash -c 'cd "$BATS_TEST_TMPDIR" && LOCKSTEP_CONFIG=other "$LOCKSTEP_BIN" config show'
    [[ $output == *22* ]]
}

@test "config list names every key of the reference" {
    while read -r section key; do
        grep -qF "\`$key\`" "$BATS_TEST_DIRNAME/../../docs/CONFIGURATION.md" || { echo "[$section] $key"; return 1; }
    done < <("$LOCKSTEP_BIN" config list -o json | jq -r '.[] | select(.key != "") | "\(.section) \(.key)"')
}
