# tests/support/console.bash: a console, and requests to it. Sourced behind e2e.bash, which ends what still runs, and
# drops the persons.
#   console_start [ARGS...]   starts `lockstep ARGS console run` on a free port; its address, with the slash, is $url,
#                             its process $console, its log $tmp/console.log; $console_port: on this port
#   console_stop              ends it and waits
#   api METHOD PATH [BODY] [CURL_ARGS...]   asks; the body of the answer is $answer, its status $status, its headers
#                                           $tmp/headers
#   api_is FILTER             jq's answer about $answer, by gojq, which starts in a tenth of the time; it sorts members
#   answers_fit METHODS [MEMBER...]   all answers that `api` got have the members that the OpenAPI document describes,
#                             and no others; each operation of these methods is among them, and each member has a value
#                             in one of them, except for those that are named
#   person NAME GROUP         a login with the password "secret of NAME", in a group of lockstep's ("": in none)
#   sign_in NAME              as that person; its cookie and token are sent by `as`
#   as METHOD PATH [BODY]     api, as the login that signed in last

console_start() {
    # Here, not by the background process: the log of an earlier console must be gone before it is read.
    : >"$tmp/console.log"
    "$LOCKSTEP_BIN" "$@" -s "postgres.conninfo=$db" console run --listen "${console_port:-0}" 2>>"$tmp/console.log" &
    console=$!
    eventually 30 grep -q 'event=console_started' "$tmp/console.log" || { cat "$tmp/console.log"; return 1; }
    url=$(sed -nE 's/.*event=console_started url=([^ ]*).*/\1/p' "$tmp/console.log" | tail -n 1)
}

console_stop() {
    local status=0
    kill "$console"
    wait "$console" || status=$?
    [ "$status" = 0 ] || tail -n 40 "$tmp/console.log"
    return "$status"
}

api() {
    local method=$1 path=$2 body=${3:-}
    [ "$#" -lt 3 ] && shift 2 || shift 3
    local data=()
    [ -z "$body" ] || data=(-H 'Content-Type: application/json' --data-binary "$body")
    : >"$tmp/answer"
    status=$(curl -s -S -m 30 -o "$tmp/answer" -D "$tmp/headers" -w '%{http_code}' -X "$method" "${data[@]}" "$@" \
        "$url$path") || status="curl: $?"
    { answer=$(<"$tmp/answer"); } 2>/dev/null # bash reports the NULs that it leaves out
    # Ends of lines are blanks of JSON: within a text they are escaped.
    [[ $path != *api/v1/* ]] || printf '%s %s %s %s\n' "$status" "$method" "$path" "${answer//$'\n'/ }" >>"$tmp/answers"
}

api_is() { gojq -r "$1" <<<"$answer" 2>&1; }

answers_fit() {
    local python=$here/../../build/schemathesis/bin/python3
    if [ ! -x "$python" ]; then
        echo '# the answers are not compared: schemathesis is missing: ./dev setup test'
        return
    fi
    lockstep console openapi >"$tmp/openapi"
    "$python" "$here/../support/answers.py" "$tmp/openapi" "$tmp/answers" "$@" || failed=1
}

person() {
    sql "DO \$\$
        BEGIN
            CREATE ROLE lockstep_test_password;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END
    \$\$" >/dev/null
    sql "CREATE ROLE $1 LOGIN PASSWORD 'secret of $1' IN ROLE lockstep_test_password${2:+, $2}"
    e2e_roles+=("$1")
}

sign_in() {
    rm -f "$tmp/cookies"
    # It may have to wait for a sign-in that failed before.
    eventually 30 eval \
        'api POST api/v1/session "{\"login\": \"'"$1"'\", \"password\": \"secret of '"$1"'\"}" -c "$tmp/cookies"
         [ "$status" != 429 ]'
    csrf=$(api_is .csrf)
}
as() { api "$1" "$2" "${3:-}" -b "$tmp/cookies" -H "X-CSRF-Token: $csrf"; }
