#!/usr/bin/env bats
# Where the configuration comes from and how it is refused, as a user sees it.

bats_require_minimum_version 1.5.0

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

@test "what a conninfo from a stronger place leaves out is named, and not shown as in force" {
    printf '[postgres]\nsslmode = verify-full\nhost = db\n' >"$conf"
    LOCKSTEP_POSTGRES_CONNINFO=host=other run --separate-stderr show
    [ "$status" -eq 0 ]
    [[ $output != *verify-full* ]]
    [[ $stderr == *"left out: sslmode of $conf:2, because conninfo comes from LOCKSTEP_POSTGRES_CONNINFO"* ]]
    LOCKSTEP_POSTGRES_HOST=other run --separate-stderr show
    [[ $output == *verify-full* ]]
    [ -z "$stderr" ]
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
    [[ $output == *"$conf:2:"*"chmod 6"[04]"0 $conf"* ]]
}

@test "a proxy with a password is masked, and its file is looked at" {
    printf '[http]\nproxy = http://me:hush@proxy:3128\n' >"$conf"
    chmod 600 "$conf"
    run show
    [ "$status" -eq 0 ]
    [[ $output == *"http://me:***@proxy:3128"* ]]
    chmod 644 "$conf"
    run "$LOCKSTEP_BIN" config check --config "$conf"
    [ "$status" -eq 2 ]
    [[ $output == *"$conf:2:"*"chmod 6"[04]"0 $conf"* ]]
}

@test "a connection string that cannot be read is not shown" {
    for conninfo in 'host=a password=hush bogus' 'password=hush host=/nonexistent dbname=x foo' 'postgresql://u:hush@/db?bad=1' \
        'postgresql://u:hush@[::1/db' "password='hush" 'host=a pasword=hush' 'password=hush port=99999' 'password=hush sslmode=nonsense'; do
        for command in check 'queue list' 'migrate status'; do
            # shellcheck disable=SC2086
            LOCKSTEP_POSTGRES_CONNINFO=$conninfo run "$LOCKSTEP_BIN" $command
            [ "$status" -ne 0 ]
            [[ $output != *hush* ]] || { echo "$conninfo: $output"; return 1; }
        done
    done
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

@test "a file that another user has left in the working directory is read only when it is named" {
    unset LOCKSTEP_CONFIG
    [ "$(id -u)" = 0 ] || skip 'only root can give a file away'
    printf '[executor]\nreaders = 7\n' >"$conf"
    chown 12345 "$conf"
    cd "$BATS_TEST_TMPDIR"
    run "$LOCKSTEP_BIN" config show
    [ "$status" = 2 ]
    [[ $output == *'lockstep.conf: the file in this directory belongs to another user (uid 12345)'* ]]
    [[ $output == *'If you trust it, name it: --config ./lockstep.conf'* ]]
    run env SUDO_UID=12345 "$LOCKSTEP_BIN" config show
    [ "$status" = 0 ]
    run "$LOCKSTEP_BIN" --config ./lockstep.conf config show
    [[ $status = 0 && $output == *readers*7* ]]
}

@test "config list names every key of the reference" {
    while read -r section key; do
        grep -qF "\`$key\`" "$BATS_TEST_DIRNAME/../../docs/reference/configuration.md" ||
            { echo "[$section] $key"; return 1; }
    done < <("$LOCKSTEP_BIN" config list -o json | jq -r '.[] | select(.key != "") | "\(.section) \(.key)"')
}

sample=$BATS_TEST_DIRNAME/../../config/lockstep.conf.sample

@test "the sample configuration is right, as it is and with every line in force, and is the one that is installed" {
    "$LOCKSTEP_BIN" config check --config "$sample"
    sed -E 's/^;(\[|[a-z_.A-Z]+ = )/\1/' "$sample" >"$conf"
    chmod 600 "$conf"
    "$LOCKSTEP_BIN" config check --config "$conf"
    grep -q 'install(FILES config/lockstep.conf.sample' "$BATS_TEST_DIRNAME/../../CMakeLists.txt"
}

@test "the sample configuration has every key of the reference, in its section" {
    "$LOCKSTEP_BIN" config list -o json |
        jq -r '.[] | select(.key != "") | "\(.section) \(.key)"' >"$BATS_TEST_TMPDIR/keys"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/keys")" -gt 80 ]
    while read -r section key; do
        awk -v section="${section%NAME}" -v key="${key%\*}" '
            { sub(/^;/, "") }
            /^\[/ { here = section ~ /:$/ ? index($0, "[" section) == 1 : $0 == "[" section "]" }
            here && / = / && index($0, key) == 1 && (key == "" || key ~ /\.$/ || $1 == key) { found = 1 }
            END { exit !found }' "$sample" || { echo "[$section] $key is missing"; return 1; }
    done <"$BATS_TEST_TMPDIR/keys"
    while read -r key; do # also what the page alone would have
        grep -qE "^\S+ ${key//./\\.}$" <(sed 's/\*//' "$BATS_TEST_TMPDIR/keys") ||
            { echo "$key is in the reference alone"; return 1; }
    done \
        < <(sed -nE 's/^\| `([a-z_]+)` \|.*\|.*\|.*\|$/\1/p' "$BATS_TEST_DIRNAME/../../docs/reference/configuration.md")
}

@test "the sample configuration has the default of each key that has one" {
    "$LOCKSTEP_BIN" config list -o json |
        jq -r '.[] | select(.key != "" and (.default // "") != "") | "\(.section) \(.key) \(.default)"' \
            >"$BATS_TEST_TMPDIR/defaults"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/defaults")" -gt 40 ]
    while read -r section key default; do
        awk -v section="${section%NAME}" -v key="$key" -v default="$default" '
            { sub(/^;/, "") }
            /^\[/ { here = section ~ /:$/ ? index($0, "[" section) == 1 : $0 == "[" section "]" }
            here && $1 == key && $2 == "=" && $0 != key " = " default { other = 1; print $0 ", not " default }
            END { exit other }' "$sample" || { echo "[$section] $key"; return 1; }
    done <"$BATS_TEST_TMPDIR/defaults"
}

refused() { # TEXT LINE WORDS: a configuration with TEXT is refused for what stands in LINE
    printf "$1" >"$conf"
    chmod 600 "$conf"
    run "$LOCKSTEP_BIN" config check --config "$conf"
    [ "$status" -eq 2 ] || { echo "$1: $status"; return 1; }
    [[ $output == *"$conf:$2: "*"$3"* ]] || { echo "$1: $output"; return 1; }
}

@test "a command is an absolute program with limits that can be" {
    refused '[commands]\na = bin/load\n' 2 'a = "bin/load" is no program'
    refused '[commands]\na = "/bin/load\n' 2 'is no program'
    refused '[commands]\na = /bin/load\n[command:a]\ncpu_limit = -1s\n' 4 'cpu_limit = "-1s"'
    refused '[commands]\na = /bin/load\n[command:a]\nmemory_limit = 10B\n' 4 'memory_limit = "10B"'
    refused '[commands]\na = /bin/load\n[command:a]\noutput_limit = 1TB\n' 4 'output_limit = "1TB"'
    refused '[commands]\na = /bin/load\n[command:a]\nopen_files = many\n' 4 \
        'open_files must be 8 to 1048576, not "many"'
    refused '[commands]\na = /bin/load\n[command:a]\nprocesses = 0\n' 4 'processes must be 1 to 4194304, not 0'
    refused '[commands]\na = /bin/load\n[command:a]\nkill_after = 2d\n' 4 'kill_after = "2d"'
    refused '[commands]\na = /bin/load\n[command:a]\ndirectory = work\n' 2 'directory = "work" is no absolute path'
    refused '[commands]\na = /bin/load\n[command:b]\nuser = u\n' 4 \
        '[command:b] is about a command that [commands] does not name'
    printf '[commands]\na = /bin/load "one argument"\n[command:a]\ncpu_limit = 5s\nmemory_limit = 1GB\n' >"$conf"
    "$LOCKSTEP_BIN" config check --config "$conf"
}

@test "hosts that may be called are hosts, and all that are none are told" {
    refused '[http]\nallow = good.example, http://bad.example/, u@bad\n' 2 '"http://bad.example/" is no host'
    [[ $output == *"$conf:2: "*'"u@bad" is no host'* ]]
    [ "$(grep -c 'is no host' <<<"$output")" = 2 ]
    refused '[http]\nallow = h\nresponse_limit = 1GB\n' 3 'response_limit = "1GB"'
    refused '[http]\nallow = h\ntimeout = 0\n' 3 'timeout = "0"'
    run "$LOCKSTEP_BIN" executor run --config "$conf" --queue q # it would not start either
    [ "$status" -eq 2 ]
    printf '[http]\nallow = h, h:8080, h:*, *.example.com, [::1]:8080\n' >"$conf"
    "$LOCKSTEP_BIN" config check --config "$conf"
}

@test "a secret header or variable is refused for its name, never shown, and its file is looked at" {
    refused '[http:h]\nheader.Host = hush\n' 2 'the executor sets this header itself'
    refused '[http:h]\nheader.idempotency-key = hush\n' 2 'the executor sets this header itself'
    refused '[http:h]\nheader.a b = hush\n' 2 'no name of a header'
    refused '[http:h]\nheader.A = hush\nheader.a = hush\n' 3 'the header is there before'
    refused '[http:h]\nheader. = hush\n' 2 'unknown key'
    refused '[http:h]\nheader.A =\n' 2 'the header has no value'
    refused '[http:*.h]\nheader.A = hush\n' 2 '[http:*.h] names no host'
    refused '[http:h]\nheadr.A = hush\n' 2 'unknown key'
    refused '[commands]\na = /bin/a\n[command:a]\nenv.A-B = hush\n' 4 'no name of a variable'
    refused '[commands]\na = /bin/a\n[command:a]\nenv.PATH = hush\n' 4 'the executor sets this variable itself'
    refused '[commands]\na = /bin/a\n[command:a]\nenv.LOCKSTEP_X = hush\n' 4 'the executor sets this variable itself'
    [[ $output != *hush* ]]
    printf '%s\n' '[commands]' 'a = /bin/a' '[command:a]' 'env.B = hush' \
        '[http:h.example:8443]' 'header.A = hush' 'plain = on' >"$conf"
    run "$LOCKSTEP_BIN" config show --config "$conf"
    [[ $output != *hush* && $output == *env.B*'***'* && $output == *header.A*'***'* ]]
    chmod 644 "$conf"
    run "$LOCKSTEP_BIN" config check --config "$conf"
    [ "$status" -eq 2 ]
    [[ $output == *"chmod 6"[04]"0 $conf"* && $output != *hush* ]]
    chmod 600 "$conf"
    for setting in 'http:h.example.header.X-Key=hush'$'\n''x' 'http:h.example.header.X-Key=hush'$'\r'; do
        run "$LOCKSTEP_BIN" config check --config "$conf" -s "$setting"
        [ "$status" -eq 2 ]
        [[ $output == *'[http:h.example] header.X-Key'*control* && $output != *hush* ]]
    done
    "$LOCKSTEP_BIN" config check --config "$conf" -s 'http:h.example.header.X-Key=hush'
}

@test "a password that the server asks for and nobody gives is asked for by the names of its places" {
    python3 -c '
import socket, struct
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
while True:
    c = s.accept()[0]
    c.recv(4096)
    c.sendall(b"R" + struct.pack("!II", 8, 3))
    c.recv(4096)
    c.close()' >"$BATS_TEST_TMPDIR/port" 3>&- &
    server=$!
    eventually 10 test -s "$BATS_TEST_TMPDIR/port"
    PGPASSFILE=/dev/null PGPASSWORD="" run "$LOCKSTEP_BIN" queue list \
        -d "host=127.0.0.1 port=$(cat "$BATS_TEST_TMPDIR/port") user=u dbname=d sslmode=disable gssencmode=disable"
    kill "$server"
    [ "$status" -eq 3 ]
    [[ $output == *'password file (~/.pgpass, mode 0600'*PGPASSWORD*'[postgres] password'* ]]
}

@test "a secret is read from a file of its own, which is named when it cannot be read" {
    mkdir "$BATS_TEST_TMPDIR/credentials"
    printf 'Bearer hush\n' >"$BATS_TEST_TMPDIR/token"
    printf 'hush' >"$BATS_TEST_TMPDIR/credentials/key"
    # shellcheck disable=SC2016 # the directory is known to the program
    printf '%s\n' '[postgres]' "password = @$BATS_TEST_TMPDIR/token" \
        '[kafka]' "sasl.password = @$BATS_TEST_TMPDIR/token" \
        '[http:h]' "header.Authorization = @$BATS_TEST_TMPDIR/token" '[commands]' 'a = /bin/a' \
        '[command:a]' 'env.B = @$CREDENTIALS_DIRECTORY/key' >"$conf"
    chmod 644 "$conf" # there is no secret in it
    CREDENTIALS_DIRECTORY=$BATS_TEST_TMPDIR/credentials run -0 "$LOCKSTEP_BIN" config check --config "$conf"
    CREDENTIALS_DIRECTORY=$BATS_TEST_TMPDIR/credentials run -0 "$LOCKSTEP_BIN" config show --config "$conf"
    [[ $output != *hush* && $output != *"$BATS_TEST_TMPDIR/token"* ]]
    run -2 "$LOCKSTEP_BIN" config check --config "$conf"
    said="$conf:10: the secret cannot be read from \$CREDENTIALS_DIRECTORY/key: CREDENTIALS_DIRECTORY is not set"
    [[ $output == *"$said"* ]]
    printf 'Bearer\nhush' >"$BATS_TEST_TMPDIR/token"
    CREDENTIALS_DIRECTORY=$BATS_TEST_TMPDIR/credentials run -2 "$LOCKSTEP_BIN" config check --config "$conf"
    [[ $output == *'control character'* && $output != *hush* ]]
    : >"$BATS_TEST_TMPDIR/token"
    refused "[postgres]\npassword = @$BATS_TEST_TMPDIR/token\n" 2 \
        "cannot be read from $BATS_TEST_TMPDIR/token: it is empty"
    refused '[postgres]\npassword = @/nosuch/token\n' 2 'cannot be read from /nosuch/token: No such file'
    refused '[postgres]\npassword = @/tmp\n' 2 'cannot be read from /tmp: '
    refused "[postgres]\npassword = @/dev/zero\n" 2 'it is too long'
}

@test "an IPv6 address is a host that has headers" {
    printf '[http:[::1]:8080]\nheader.A = hush\n[http:[::2]]\nheader.A = hush\n' >"$conf"
    chmod 600 "$conf"
    run -0 "$LOCKSTEP_BIN" config show --config "$conf" -o csv
    [[ $output == *'http:[::1]:8080,header.A,***'* && $output == *'http:[::2],header.A,***'* ]]
    run -0 "$LOCKSTEP_BIN" config check --config "$conf"
    refused '[http:[::1]:x]\nheader.A = hush\n' 2 'names no host'
    refused '[http:[::1]\nheader.A = hush\n' 1 'neither a section nor'
}
