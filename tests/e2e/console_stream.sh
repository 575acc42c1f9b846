#!/bin/bash
# A page that is open while its database or its console goes away says so and since when, and is live again by itself,
# with what happened meanwhile: the database refuses everybody, the console is killed and started again.
# ctest: nosan timeout=300 long
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings

case_begin 'a page shows when it is not live, and becomes live again'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
console_anyone
port=${url##*:}
QUEUE=$q CONSOLE=$console browser_run stream.mjs "$url" "${port%/}"
cases_end
exit $failed
