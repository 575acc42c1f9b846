#!/bin/bash
# One console serves two databases: each has its own API, sign-in and tokens. One that is down, or says nothing, makes
# neither the other one slow nor the console fail to start.
# ctest: nosan timeout=180 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
. "$here/../support/cluster.bash"
e2e_leave() { cluster_close; }
cluster_open
pg_init beta
printf 'local all +lockstep_test_password scram-sha-256\n%s\n' "$(cat "$cluster/beta/pg_hba.conf")" >"$tmp/hba"
cat "$tmp/hba" >"$cluster/beta/pg_hba.conf"
pg_start beta
beta=$(pg_conninfo beta)
"$LOCKSTEP_BIN" migrate up -q -d "$beta" >/dev/null
qa=$(scratch_name) qb=$(scratch_name) ada=$(scratch_name) bob=$(scratch_name)
late=$(scratch_name) barred=$(scratch_name)
lockstep queue create "$qa" -q --create-topic >/dev/null
"$LOCKSTEP_BIN" queue create "$qb" -q --create-topic -d "$beta" -b "$LOCKSTEP_TEST_BROKERS" >/dev/null
for login in "$ada" "$late" "$barred"; do person "$login" lockstep_monitor; done
db=$beta person "$bob" lockstep_monitor
alpha_token=$(lockstep console token create robot -q)
beta_token=$("$LOCKSTEP_BIN" console token create robot -q -d "$beta")
both() {
    console_start "$@" -b "$LOCKSTEP_TEST_BROKERS" -s "cluster:beta.conninfo=$beta" -s "cluster:alpha.conninfo=$db"
}
at=clusters/beta/api/v1 # where the API of beta is
entered() {
    api POST "$1/session" "{\"login\": \"$2\", \"password\": \"secret of $2\"}" -b "$tmp/jar" -c "$tmp/jar"
    [ "$status" != 429 ] # it may have to wait for a sign-in that failed before
}
enter() { eventually 30 entered "$@"; } # PATH NAME: a sign-in there; the jar keeps what it has of others
with_jar() { api GET "$1" '' -b "$tmp/jar"; }
bearer() { api GET "$1" '' -H "Authorization: Bearer $2" "${@:3}"; } # PATH TOKEN [CURL_ARGS...]
of() { api_is ".items[] | select(.name == \"$1\") | $2"; }
both

case_begin 'each database has its API below clusters/NAME/, the first one by name below the base path, too'
bearer api/v1/queues "$alpha_token"
expect 'the default one' "$status $(api_is '[.items[].queue] | join(" ")')" "200 $qa"
bearer clusters/alpha/api/v1/queues "$alpha_token"
expect 'by its name' "$status $(api_is '[.items[].queue] | join(" ")')" "200 $qa"
bearer $at/queues "$beta_token"
expect 'the other one' "$status $(api_is '[.items[].queue] | join(" ")')" "200 $qb"
bearer clusters/beta/metrics "$beta_token"
expect 'its numbers' \
    "$status $(grep -c "queue=\"$qb\"" <<<"$answer" | sed 's/^[1-9].*/some/') $(grep -c "$qa" <<<"$answer")" \
    '200 some 0'
bearer metrics "$alpha_token"
expect 'those of the default one' \
    "$status $(grep -c "queue=\"$qa\"" <<<"$answer" | sed 's/^[1-9].*/some/') $(grep -c "$qb" <<<"$answer")" \
    '200 some 0'
api GET clusters/gamma/api/v1/queues
expect 'one that there is not' "$status" 404
api GET clusters/beta/
expect 'the page of one' "$status $(grep -c '<base href="/clusters/beta/">' <<<"$answer")" '200 1'
api GET $at/openapi.json
expect 'its document' "$(api_is '.servers[0].url')" /clusters/beta/api/v1

case_begin 'a session, or a token, of one database is none of the other'
bearer $at/queues "$alpha_token"
expect 'a token' "$status" 401
enter api/v1 "$ada"
expect 'ada signs in at alpha' "$status" 200
with_jar $at/session
expect 'and is not signed in at beta' "$status" 401
enter $at "$ada"
expect 'where nobody has her login' "$status" 401
enter $at "$bob"
expect 'bob signs in there' "$status" 200
csrf=$(api_is .csrf)
expect 'with a cookie of its own' "$(grep -c 'lockstep_session_[0-9]*_\(alpha\|beta\)' "$tmp/jar")" 2
with_jar api/v1/session
expect 'alpha still has ada' "$(api_is .login)" "$ada"
with_jar $at/session
expect 'and beta bob' "$(api_is .login)" "$bob"
alpha_cookie=$(awk '$6 ~ /_alpha$/ {print $7}' "$tmp/jar") beta_name=$(awk '$6 ~ /_beta$/ {print $6}' "$tmp/jar")
api GET $at/session '' -H "Cookie: $beta_name=$alpha_cookie"
expect "alpha's secret in beta's cookie" "$status" 401

case_begin 'the list of the databases has the figures of those into which the visitor may look'
api GET api/v1/clusters
expect 'without a sign-in' \
    "$status $(api_is '[.items[] | .name, .path, .default, .here, .reachable, .signed_in, .figures] | join(" ")')" \
    '200 alpha / true true true false  beta /clusters/beta/ false false true false '
bearer api/v1/clusters "$alpha_token"
expect 'with a token of one' "$(of alpha .figures.queues) $(of beta .figures)" '1 null'
with_jar $at/clusters
expect 'with two sessions, asked at the other one' \
    "$(of alpha .figures.queues) $(of beta .figures.queues) $(of beta .here) $(of alpha .here)" '1 1 true false'
api DELETE $at/session '{}' -b "$tmp/jar" -c "$tmp/jar" -H "X-CSRF-Token: $csrf"
expect 'bob signs out' "$status" 200
with_jar api/v1/clusters
expect 'of one' "$(of alpha .signed_in) $(of beta .signed_in)" 'true false'

case_begin 'a session that only the list names ends when its login has lost its groups'
enter $at "$bob"
with_jar api/v1/clusters
expect 'bob at beta' "$(of beta .signed_in) $(of beta .figures.queues)" 'true 1'
ends() { with_jar api/v1/clusters && [ "$(of beta .signed_in) $(of beta .figures)" = 'false null' ]; }
# With those who sign in no more, so that one wait is enough.
for login in "$late" "$barred"; do
    api POST api/v1/session "{\"login\": \"$login\", \"password\": \"secret of $login\"}" -c "$tmp/$login"
    expect "$login signs in" "$status" 200
done
sql "ALTER ROLE $late VALID UNTIL '2001-01-01'; ALTER ROLE $barred NOLOGIN" >/dev/null
db=$beta sql "REVOKE lockstep_monitor FROM $bob" >/dev/null
eventually 60 ends || wrong 'beta still shows bob its figures'
expect 'and is answered' "$(of beta .reachable) $(of alpha .signed_in)" 'true true'
db=$beta sql "GRANT lockstep_monitor TO $bob" >/dev/null
for login in "$late" "$barred"; do
    eventually 60 eval 'api GET api/v1/queues "" -b "$tmp/$login"; [ "$status" = 401 ]' ||
        wrong "$login is signed in: $status"
done
expect 'and the log says why' "$(grep -c 'event=signed_out.*the login may not sign in any more' "$tmp/console.log")" 2
console_stop

case_begin 'the list is no request of the sessions of other databases'
both -s console.session_idle=5s
enter api/v1 "$ada"
enter $at "$bob"
eventually 30 ends || wrong 'the session at beta is kept'
console_stop
both

case_begin 'a database that says nothing is not ready after a second, and however many ask, the other one is answered'
tokens=()
for i in 1 2 3; do
    tokens+=("$("$LOCKSTEP_BIN" console token create "robot$i" -q -d "$beta")")
    bearer $at/session "${tokens[-1]}" # known, it is not looked up
done
pg=$(pg_pid beta)
read -ra frozen <<<"$pg $(cat "/proc/$pg/task/$pg/children")"
kill -STOP "${frozen[@]}"
asking=()
for i in {1..40}; do
    curl -s -m 5 -o /dev/null -w '%{http_code}\n' "${url}clusters/beta/readyz" >"$tmp/ready.$i" &
    asking+=($!)
done
bearer 'api/v1/runs?limit=98' "$alpha_token" -m 5
expect 'the other one' "$status" 200
wait "${asking[@]}" || true
expect 'those who ask' "$(sort "$tmp"/ready.* | uniq -c | tr -s ' ')" ' 40 503'

case_begin 'while a database says nothing, 16 requests wait for it, and the other one is answered'
waiting=()
for i in {1..24}; do
    curl -s -m 120 -o "$tmp/body.$i" -H "Authorization: Bearer ${tokens[i % 3]}" "$url$at/runs?limit=$i" &
    waiting+=($!)
done
eventually 30 eval 'grep -qs "too many requests wait for this database" "$tmp"/body.*'
bearer 'api/v1/runs?limit=99' "$alpha_token"
expect 'the other one' "$status" 200
[ "$(find "$tmp" -name 'body.*' -size +0 | wc -l)" -lt 24 ] || wrong 'nobody waits any more'
api GET readyz
expect 'the console is ready' "$status" 200
eventually 30 eval 'api GET api/v1/clusters; [ "$(of beta .reachable) $(of alpha .reachable)" = "false true" ]'
kill -CONT "${frozen[@]}"
wait "${waiting[@]}"
eventually 30 eval 'bearer $at/queues "$beta_token"; [ "$status" = 200 ]'

case_begin 'a database that is down is said to be, and the console starts without it'
pg_stop beta
asked=100 # each asks for something else, which is not kept from before
for round in 'it goes on' 'it starts'; do
    bearer "$at/runs?limit=$((++asked))" "$beta_token"
    expect "$round: its API" "$status" 503
    api GET clusters/beta/readyz
    expect "$round: it is not ready" "$status" 503
    bearer "api/v1/runs?limit=$asked" "$alpha_token"
    expect "$round: the other one" "$status" 200
    api GET readyz
    expect "$round: the console is ready" "$status" 200
    eventually 30 eval 'api GET api/v1/clusters; [ "$(of beta .reachable) $(of alpha .reachable)" = "false true" ]'
    [ "$round" = 'it starts' ] || { console_stop; both; }
done
pg_start beta
bearer $at/queues "$beta_token"
expect 'when it is back it is answered' "$status" 200
eventually 30 eval 'api GET api/v1/clusters; [ "$(of beta .reachable)" = true ]'
console_stop
expect 'its exit' "$?" 0
cases_end
exit $failed
