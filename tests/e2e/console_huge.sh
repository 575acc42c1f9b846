#!/bin/bash
# The pages of the console with a database in which everything is many (tests/console/huge.sql): nothing is cut off, at
# any width, and none takes long; a Gantt of 100 phases with 1,000 tasks each stays smooth. Screenshots are kept in
# build/console/shots/huge, in the light: e2e.console_pages has those in the dark, with the same styles.
# ctest: nosan long timeout=600
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/browser.bash"
. "$here/../support/console.bash"
browser_needed chromium
browser_surroundings
"$PSQL" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$here/../console/huge.sql" >/dev/null
run=00000000-0000-4000-8000-0000000
console_anyone

case_begin 'every page opens with a huge database'
browser_run pages.mjs "$url" light "$browser_root/build/console/shots/huge" overview= runs=runs tasks=tasks \
    queues=queues executors=executors jobs=jobs missed=missed log=log \
    job-log='log?of=jobs' rejected=rejected replay=replay system=system "run=runs/${run}11000" queue=queues/huge \
    job=jobs/job0001 often=jobs/job0020

case_begin 'lists of thousands are gone through page by page, and each says what it shows'
browser_run lists.mjs "$url"

case_begin 'a Gantt of 100 phases stays smooth'
browser_run smooth.mjs "$url" "${run}11000" "${run}10500"
cases_end
exit $failed
