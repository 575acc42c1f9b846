#!/bin/bash
# An open page whose database or console is gone says so and since when. It is live again by itself, with the events of
# the meantime: the database refuses all logins, the console is killed and started again.
# ctest: nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings

case_begin 'a page shows when it is not live, and becomes live again'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
console_port=$("$here/../../scripts/free-port") # it is started again on it
console_anyone
QUEUE=$q CONSOLE=$console browser_run stream.mjs "$url" "$console_port"
cases_end
exit $failed
