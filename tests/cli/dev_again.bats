#!/usr/bin/env bats
# dev up after trouble: killed at any step, twice at once, without its database, without room, in a directory that is in
# use, with another PostgreSQL than before.
# ctest: timeout=240 long
. "$BATS_TEST_DIRNAME/../support/dev.bash"

# Kills a dev up with SIGKILL when it has made this file; its programs may run for a moment more.
cut_off_at() { # FILE
    (cd / && exec "${as[@]}" "$tmp/lockstep" dev up --no-console --dir "$tmp/home/pg") 2>>"$tmp/err" >/dev/null &
    local job=$! pids=$!
    eventually 60 test -e "$1" || return 1
    pids+=" $(pgrep -d ' ' -P "$job" -x lockstep || true)" # below runuser
    # shellcheck disable=SC2086
    kill -KILL $pids
    wait "$job" || true
}

@test "a dev up that was killed at any step is repeated, and waits for what it has left running" {
    local file
    for file in data.new data.new/PG_VERSION data.new/global/pg_control data/PG_VERSION data/postmaster.pid; do
        cut_off_at "$tmp/home/pg/$file"
        up --no-console >"$tmp/out" 2>>"$tmp/err" || { echo "$file: $(cat "$tmp/err" "$tmp/home/pg/log")"; return 1; }
        "${as[@]}" "$tmp/lockstep" queue list -d "$(cat "$tmp/out")"
        "${as[@]}" "$tmp/lockstep" dev down -q --dir "$tmp/home/pg"
        [ ! -e "$tmp/home/pg/data.new" ]
        rm -rf "$tmp/home/pg"
    done
}

@test "several dev up of one directory at once all succeed, and print the same" {
    local n pids=() url
    for n in 1 2 3; do
        up >"$tmp/out.$n" 2>"$tmp/err.$n" &
        pids+=($!)
    done
    for n in "${pids[@]}"; do wait "$n" || { cat "$tmp"/err.*; return 1; }; done
    [ "$(sort -u "$tmp"/out.*)" = "host=$tmp/home/pg user=lockstep dbname=lockstep" ]
    url=$(grep -h 'the console is at' "$tmp"/err.* | sort | uniq -c)
    [[ $url =~ ^\ *3\ lockstep ]]
}

@test "a database that was dropped on purpose is not made again" {
    up --no-console >"$tmp/out" 2>"$tmp/err"
    "$LOCKSTEP_TEST_PGBIN/psql" -qX "host=$tmp/home/pg user=lockstep dbname=postgres" -c 'DROP DATABASE lockstep'
    run up --no-console
    [ "$status" -ne 0 ]
    [[ $output == *'database "lockstep" does not exist'* ]]
    [[ $output =~ To\ make\ it\ again:\ (.*) ]]
    "${as[@]}" bash -c "cd / && ${BASH_REMATCH[1]}"
    up --no-console
}

@test "what initdb says when it fails is in the log that the hint names" {
    run bash -c "ulimit -f 100; cd / && $(printf '%q ' "${as[@]}" "$tmp/lockstep" dev up --dir "$tmp/home/pg")"
    [ "$status" -ne 0 ]
    [[ $output == *'initdb: it ended with exit code 1'* ]]
    [[ $output =~ Look\ into\ ([^ ]*/log) ]]
    grep -q 'initdb: ' "${BASH_REMATCH[1]}"
    up --no-console # and the next one, with room
}

@test "a directory data that is none of PostgreSQL's is left alone" {
    "${as[@]}" mkdir -m 700 "$tmp/home/pg" "$tmp/home/pg/data"
    "${as[@]}" touch "$tmp/home/pg/data/x"
    run up
    [ "$status" -ne 0 ]
    [[ $output == *"$tmp/home/pg/data: it is not empty, and is no data directory of PostgreSQL"* ]]
    [ -e "$tmp/home/pg/data/x" ]
}

@test "a process that has the pid of a server of before is not stopped, and dev up names the way out" {
    up --no-console
    cp "$tmp/home/pg/data/postmaster.pid" "$tmp/before"
    "${as[@]}" "$tmp/lockstep" dev down -q --dir "$tmp/home/pg"
    "${as[@]}" bash -c 'echo $$ >"$0"; exec sleep 600' "$tmp/home/other" &
    eventually 10 test -s "$tmp/home/other"
    local other
    other=$(cat "$tmp/home/other")
    { echo "$other"; tail -n +2 "$tmp/before"; } | "${as[@]}" tee "$tmp/home/pg/data/postmaster.pid" >/dev/null
    run "${as[@]}" "$tmp/lockstep" dev down --dir "$tmp/home/pg"
    [[ $output == *'nothing runs in'* ]]
    kill -0 "$other"
    run up --no-console
    [ "$status" -ne 0 ]
    [[ $output == *"process $other, which postmaster.pid names, is not this server"* ]]
    [[ $output =~ hint:\ (rm\ .*) ]]
    eval "${BASH_REMATCH[1]}"
    up --no-console
    kill "$other"
}

@test "data of a PostgreSQL that is not installed is left alone, and dev up says which one it needs" {
    "${as[@]}" mkdir -m 700 "$tmp/home/pg" "$tmp/home/pg/data"
    echo 9.6 | "${as[@]}" tee "$tmp/home/pg/data/PG_VERSION" >/dev/null
    run up
    [ "$status" -ne 0 ]
    [[ $output == *"$tmp/home/pg/data: PostgreSQL 9.6 made this data"* ]]
    [[ $output == *'apt install postgresql-9.6'* ]]
    [ "$(ls "$tmp/home/pg/data")" = PG_VERSION ]
    run "${as[@]}" "$tmp/lockstep" dev down --dir "$tmp/home/pg"
    [[ $output == *'nothing runs in'* ]]
}

# The other versions have an initdb that fails. Only the processes of this test see them.
@test "the newest PostgreSQL by number makes the data, and serves it when a newer one is installed" {
    unshare -m true 2>/dev/null || skip 'a container without the right to mount'
    [[ $LOCKSTEP_TEST_PGBIN == /usr/lib/postgresql/*/bin ]] || skip 'no directory for each version'
    unshare -m bash -euc '
        mkdir "$1/all"
        mount --bind /usr/lib/postgresql "$1/all"
        mount -t tmpfs -o mode=755 tmpfs /usr/lib/postgresql
        other() { mkdir -p "/usr/lib/postgresql/$1/bin"; ln -s /bin/false "/usr/lib/postgresql/$1/bin/initdb"; }
        mkdir "/usr/lib/postgresql/$2"
        mount --bind "$1/all/$2" "/usr/lib/postgresql/$2"
        other 9.6
        cd /
        "${@:3}" up -q --no-console --dir "$1/home/pg"
        "${@:3}" down -q --dir "$1/home/pg"
        other 99
        "${@:3}" up -q --no-console --dir "$1/home/pg"
        "${@:3}" down -q --dir "$1/home/pg"
    ' bash "$tmp" "$(basename "${LOCKSTEP_TEST_PGBIN%/bin}")" "${as[@]}" "$tmp/lockstep" dev
}
