#!/bin/bash
# While the database is down the console answers 503 to every client that may have a right, and calls no token unknown.
# When the database is back the console continues.
# ctest: nosan lock=servers
. "$(dirname "$0")/../support/own_servers.bash"
. "$here/../support/console.bash"
scratch_database
token=$(lockstep console token create robot -q)
console_start
limit=0 # each asks for something else, which is not kept from before
bearer() { api GET "api/v1/runs?limit=$((++limit))" '' -H "Authorization: Bearer $1" "${@:2}"; }

case_begin 'with the database there, a token that exists comes in, another one does not'
bearer "$token"
expect 'one' "$status" 200
bearer "${token//[0-9]/a}"
expect 'another' "$status" 401

case_begin 'with the database down, no visitor is answered as unknown'
home=$(sql 'SHOW data_directory')
server() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid "$(stat -c %u "$home")" --regid "$(stat -c %g "$home")" --clear-groups "$@"
    else
        "$@"
    fi
}
options=$(sed -n 's/^[^ ]* //p' "$home/postmaster.opts")
server "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$home" -m immediate -w stop >/dev/null
bearer "$token"
expect 'a token that was known' "$status $(grep -ci '^retry-after:' "$tmp/headers") $(api_is .title)" \
    '503 1 Service Unavailable'
bearer "${token//[0-9]/a}"
expect 'one that may be' "$status" 503
api POST api/v1/session '{"login": "someone", "password": "secret"}'
expect 'a sign-in' "$status" 503
api GET readyz
expect 'it is not ready' "$status" 503
expect 'and what says more' "$(api_is .hint)" 'To see more: lockstep check' # REMEDY_CHECK
lockstep check >"$tmp/check" 2>&1 && failed=1
grep -q '^FAIL  *PostgreSQL' "$tmp/check" || { cat "$tmp/check"; failed=1; }
api GET livez
expect 'it lives' "$status" 200
api GET api/v1/runs
expect 'who has nothing' "$status" 401

case_begin 'when the database is back, so is the token'
begin() { # start or restart
    eval "server \"$LOCKSTEP_TEST_PGBIN/pg_ctl\" -D \"$home\" -m fast -w -l \"$LOCKSTEP_TEST_HOME/postgres.log\" -o \"${options//\"/\\\"}\" $1 >/dev/null"
}
begin start
bearer "$token"
expect 'at the first request' "$status" 200

case_begin 'a restart of the database while a program does nothing: its next change is made'
changer=$(lockstep console token create changer --role operator -q)
sql "INSERT INTO lockstep.queue (name, topic, max_readers, last_offset, next_offset) VALUES ('q', 'q', 1, -1, 0)"
pause() { api POST "api/v1/queues/q/$1" '{"reason": "a test"}' -H "Authorization: Bearer $changer"; }
pause pause
expect 'before' "$status" 200
begin restart
eventually 30 sql 'SELECT' >/dev/null
pause resume
expect 'behind it' "$status $(api_is .paused)" '200 false'

case_begin 'a client that listens reads everything again when the database is that of a backup, and hears what follows'
writes() { # COUNT TEXT
    sql "INSERT INTO lockstep.event_log (event, detail) SELECT 'executor_changed', '$2' FROM generate_series(1, $1)"
}
server "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$home" -m fast -w stop >/dev/null
cp -a "$home" "$home.backup"
begin start
eventually 30 sql 'SELECT' >/dev/null
curl -s -N -m 120 -H "Authorization: Bearer $token" "${url}api/v1/stream" >"$tmp/stream" &
eventually 20 grep -q hello "$tmp/stream"
writes 500 'not in the backup'
eventually 20 eval '[ "$(grep -c "not in the backup" "$tmp/stream")" = 500 ]'
server "$LOCKSTEP_TEST_PGBIN/pg_ctl" -D "$home" -m immediate -w stop >/dev/null
rm -rf "$home"
mv "$home.backup" "$home"
begin start
eventually 30 sql 'SELECT' >/dev/null
writes 1 'behind the backup'
eventually 30 grep -q 'event: reset' "$tmp/stream" || wrong 'the listener is not told'
writes 1 'and more'
eventually 30 grep -q 'and more' "$tmp/stream" || wrong 'the listener hears nothing more'

case_begin 'a visitor without a sign-in learns how to sign in' REMEDY_SIGN_IN REMEDY_TOKEN_NEW
api GET api/v1/runs
expect 'nobody' "$status $(api_is .hint)" \
    '401 Sign in, by POST to api/v1/session. For programs: lockstep console token create deploy'
command=$(api_is .hint | grep -o 'lockstep console token.*')
api POST api/v1/session '{"login": "someone", "password": "secret"}'
expect 'a POST there is looked at' "$status" 401
bearer "$(eval "$command -q")"
expect 'with the token' "$status" 200
console_stop
expect 'its exit' "$?" 0
cases_end
exit $failed
