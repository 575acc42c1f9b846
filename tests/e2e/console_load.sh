#!/bin/bash
# A console under load: more connections than its limit, bodies without end, clients that send or read slowly or not at
# all, and sessions that are left open. The console continues to answer others, its memory stays the same, and no
# session and no descriptor is left.
# ctest: nosan timeout=120 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
looks=$(scratch_name)
acts=$(scratch_name)
ulimit -n "$(ulimit -H -n)"
person "$looks" lockstep_monitor
load() { python3 "$here/../support/console_load.py" "$1" "$url" "${@:2}"; }
# holds NAME ARGS...: one that stays until it is let go; its process is ${held[NAME]}
declare -A held
holds() {
    mkfifo "$tmp/$1.end"
    load "$@" <"$tmp/$1.end" >"$tmp/$1.out" &
    held[$1]=$!
    exec {end}>"$tmp/$1.end"
    ends[$1]=$end
    eventually 60 grep -q "^$1" "$tmp/$1.out"
}
declare -A ends
lets_go() {
    local end=${ends[$1]}
    exec {end}>&-
    wait "${held[$1]}"
}
files() { ls "/proc/$console/fd" | wc -l; }
memory_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$console/status"; }

case_begin 'ten thousand connections: those who ask are answered, and nothing is left of them'
console_start -s console.login=none -s console.connections=256
api GET api/v1/overview
expect 'before' "$status" 200
files=$(files) memory=$(memory_kb)
many=$(($(ulimit -n) > 10100 ? 10000 : $(ulimit -n) - 100))
holds crowd "$many"
for path in livez readyz api/v1/overview api/v1/runs; do
    api GET $path
    expect "$path among them" "$status" 200
done
expect 'connections at once' "$(($(files) <= files + 256 + 16))" 1
expect "memory: $(memory_kb) kB" "$(($(memory_kb) < memory + 32768))" 1
lets_go crowd
eventually 30 eval '[ "$(files)" -le $((files + 4)) ]' || failed=1
api GET api/v1/overview
expect 'afterwards' "$status" 200

case_begin 'a body that is too large is not read'
expect 'a gigabyte' "$(load large 1073741824 | awk '{ print $1, ($2 < 16777216) }')" '413 1'
expect 'of unknown length' "$(load chunked 1073741824 | awk '{ print $1, ($2 < 16777216) }')" 'closed 1'
expect 'of unknown length, and it ends' "$(load chunked 3145728 | awk '{ print $1, ($2 >= 3145728) }')" '413 1'
expect "memory: $(memory_kb) kB" "$(($(memory_kb) < memory + 32768))" 1

case_begin 'a client that does not read its stream is cut off; the others hear everything'
curl -s -N -m 280 "${url}api/v1/stream" >"$tmp/heard" &
hears=$!
eventually 30 grep -q hello "$tmp/heard"
files=$(files)
holds deaf
eventually 30 eval '[ "$(files)" = $((files + 1)) ]' || failed=1
for ((n = 900; n <= 27000 && $(files) > files; n += 900)); do # the system's buffers take some megabytes
    sql "INSERT INTO lockstep.event_log (event, detail)
        SELECT 'queue_changed', repeat('x', 1000) FROM generate_series(1, 900)" >/dev/null
    eventually 30 eval '[ "$(grep -c "^data: .*xxx" "$tmp/heard")" -ge '"$n"' ]' || break
done
eventually 20 eval '[ "$(files)" -le "$files" ]' || { echo "not cut off: $(files) files, $files before"; failed=1; }
expect 'the other one hears' "$(kill -0 "$hears" && grep -c '^event: reset' "$tmp/heard")" 0
expect "memory: $(memory_kb) kB" "$(($(memory_kb) < memory + 65536))" 1
lets_go deaf
kill "$hears"
console_stop

case_begin 'who sends slowly is cut off; a session that is not used ends'
console_start -s console.request_timeout=2s -s console.session_idle=3s
load slow head >"$tmp/slow.head" &
slow=$!
load slow body >"$tmp/slow.body"
wait "$slow"
expect 'a head' "$(awk '{ print $1, ($2 >= 1.5 && $2 < 15) }' "$tmp/slow.head")" 'head 1'
expect 'a body' "$(awk '{ print $1, ($2 >= 1.5 && $2 < 15) }' "$tmp/slow.body")" 'body 1'
sign_in "$looks"
as GET api/v1/session
expect 'it is told' "$status $(api_is .idle_seconds)" '200 3'
sessions() { sql "SELECT count(*) FROM pg_stat_activity WHERE usename = '$looks'"; }
expect 'its session' "$(sessions)" 1
curl -s -N -m 60 -b "$tmp/cookies" "${url}api/v1/stream" >"$tmp/heard" &
hears=$!
eventually 30 eval '[ "$(sessions)" = 0 ]' || failed=1
as GET api/v1/session
expect 'it has ended' "$status" 401
eventually 30 eval '! kill -0 "$hears" 2>/dev/null' || { echo 'its stream goes on'; failed=1; }
console_stop

case_begin 'one login has a share of the sessions and of the stream, and keeps no other out'
person "$acts" lockstep_operator
console_start -s console.sessions=4
sign_in "$looks"
cp "$tmp/cookies" "$tmp/first"
for _ in 2 3 4 5 6; do sign_in "$looks"; done
eventually 30 eval '[ "$(sessions)" = 2 ]' || failed=1 # the backend of a session that was closed takes a moment to end
expect 'a sixth session of one login' "$status $(sessions)" '200 2'
as GET api/v1/session
expect 'its newest' "$status" 200
api GET api/v1/session '' -b "$tmp/first"
expect 'its first has ended' "$status" 401
for i in 1 2 3; do
    curl -s -o "$tmp/at_once.$i" -H 'Content-Type: application/json' \
        -d "{\"login\": \"$looks\", \"password\": \"secret of $looks\"}" "${url}api/v1/session" &
    at_once[i]=$!
done
wait "${at_once[@]}"
expect 'three at once: nothing has failed' "$(jq -r '.detail // "signed in"' "$tmp"/at_once.? |
    grep -cvE '^(signed in|another sign-in of this login, or from this address, is under way)$')" 0
sign_in "$acts"
expect 'another login' "$status" 200
sign_in "$looks"
holds listeners "$(awk '$6 ~ /^lockstep_session/ { print $6 "=" $7 }' "$tmp/cookies")" 251
expect 'one login listens so often' "$(cat "$tmp/listeners.out")" \
    'listeners 250 of 251, then 503 application/problem+json'
sign_in "$acts"
curl -s -N -m 60 -b "$tmp/cookies" "${url}api/v1/stream" >"$tmp/heard" &
hears=$!
eventually 30 grep -q hello "$tmp/heard" || failed=1
kill "$hears"
lets_go listeners
console_stop
cases_end
exit $failed
