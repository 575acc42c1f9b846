#!/bin/bash
# People sign in at the console's page as PostgreSQL logins, to look or to act.
# ctest: nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings
q=$(scratch_name) looks=$(scratch_name) acts=$(scratch_name)
person "$looks" lockstep_monitor
person "$acts" lockstep_operator
lockstep queue create "$q" -q --create-topic >/dev/null
printf '%s\n' '{"order": 1, "name": "long", "sql": "SELECT pg_sleep(600)"}' \
    '{"order": 2, "name": "later", "sql": "SELECT 1"}' \
    '{"order": 2, "name": "<script>window.hurt = 1</script><b>bold</b>", "sql": "SELECT 1"}' >"$tmp/tasks"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks")
lockstep job apply - \
    -q <<<"{\"job\": \"nightly\", \"queue\": \"$q\", \"tasks\": [{\"order\": 1, \"sql\": \"SELECT 1\"}]}" >/dev/null
lockstep executor run --queue "$q" --readers 2 >/dev/null 2>"$tmp/executor.log" &
eventually 60 is "SELECT count(*) FROM lockstep.task WHERE name = 'later'" 1
eventually 60 is "SELECT count(*) FROM lockstep.task WHERE name LIKE '<script>%'" 1
task=$(sql "SELECT task_id FROM lockstep.task WHERE name = 'later'")

case_begin 'people sign in, look or act, and sign out'
console_start -b "$LOCKSTEP_TEST_BROKERS"
browser_run signin.mjs "$url" "$looks" "$acts" '' runs queues executors locks jobs missed log rejected replay system \
    "runs/$run" "tasks/$task" "queues/$q" jobs/nightly
console_stop

case_begin 'a session that is not used ends; after the sign-in its visitor is where they were'
console_start -b "$LOCKSTEP_TEST_BROKERS" -s console.session_idle=10s -s console.session_limit=60s
browser_run expiry.mjs unused "$url" "$looks" 60
console_stop

case_begin 'a session that is old ends, though it is used; after the sign-in its visitor is where they were'
console_start -b "$LOCKSTEP_TEST_BROKERS" -s console.session_idle=10s -s console.session_limit=20s
browser_run expiry.mjs old "$url" "$looks" 20
console_stop
cases_end
exit $failed
