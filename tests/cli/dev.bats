#!/usr/bin/env bats
# dev up: one command, as an ordinary user, and a browser has something to look at.
# ctest: timeout=120 long

. "$BATS_TEST_DIRNAME/../support/dev.bash"

@test "dev up starts PostgreSQL and a console that answers, and dev down stops both" {
    up >"$tmp/out" 2>"$tmp/err"
    [ "$(cat "$tmp/out")" = "host=$tmp/home/pg user=lockstep dbname=lockstep" ]
    grep -q 'next: lockstep dev broker --topic NAME; ' "$tmp/err"
    url=$(sed -n 's/^lockstep: the console is at //p' "$tmp/err")
    [[ $url =~ ^http://127\.0\.0\.1:[0-9]+/$ ]]
    [ "$(curl -s "${url}readyz")" = ready ]
    curl -s "$url" | grep -q '<title>Lockstep'
    [ "$(curl -s "${url}api/v1/session" | jq -c '[.login, .operator]')" = '["anonymous",true]' ]
    [ "$(curl -s "${url}api/v1/overview" | jq -c .queues)" = '[]' ]
    "${as[@]}" "$tmp/lockstep" queue list -d "$(cat "$tmp/out")"
    # Again: the same console.
    up 2>"$tmp/again"
    grep -qxF "lockstep: the console is at $url" "$tmp/again"
    run "${as[@]}" "$tmp/lockstep" dev down --dir "$tmp/home/pg"
    [ "$status" -eq 0 ]
    run curl -s "${url}livez"
    [ "$status" -eq 7 ]
}

@test "dev down ends a console that is stopped, and says that it had to kill it" {
    up 2>"$tmp/err"
    grep -q 'every user of this host is an operator there' "$tmp/err"
    kill -STOP "$(cut -d' ' -f1 "$tmp/home/pg/console")"
    run timeout 60 "${as[@]}" "$tmp/lockstep" dev down --dir "$tmp/home/pg"
    [ "$status" -eq 0 ]
    [[ $output == *'the console did not end within 10 s, and was killed'* ]]
    run curl -s "$(sed -n 's/^lockstep: the console is at //p' "$tmp/err")livez"
    [ "$status" -eq 7 ]
}

@test "the port 8330 in use is no obstacle: two dev up have two addresses, and --no-console has none" {
    up 2>"$tmp/err"
    mkdir -p "$tmp/second"
    [ "$(id -u)" != 0 ] || chown nobody "$tmp/second"
    chmod 700 "$tmp/second"
    (cd / && "${as[@]}" "$tmp/lockstep" dev up --dir "$tmp/second") 2>"$tmp/other"
    [ "$(grep -h 'the console is at' "$tmp/err" "$tmp/other" | sort -u | wc -l)" -eq 2 ]
    "${as[@]}" "$tmp/lockstep" dev down -q --dir "$tmp/second"
    (cd / && "${as[@]}" "$tmp/lockstep" dev up --no-console --dir "$tmp/second") 2>"$tmp/other"
    run grep 'the console is at' "$tmp/other"
    [ "$status" -eq 1 ]
    "${as[@]}" "$tmp/lockstep" dev down -q --dir "$tmp/second"
}

@test "as root a directory that the server's user cannot enter is refused, with a command that works" {
    [ "$(id -u)" = 0 ] || skip 'this is about root'
    mkdir -m 700 "$tmp/closed"
    run "$tmp/lockstep" dev up --dir "$tmp/closed/pg"
    [ "$status" -ne 0 ]
    [[ $output == *"cannot enter this directory"* ]]
    [[ $output == *"lockstep dev up --dir /var/tmp/lockstep"* ]]
    "$tmp/lockstep" dev up -q --dir "$tmp/open" >/dev/null
    "$tmp/lockstep" dev down -q --dir "$tmp/open"
}
