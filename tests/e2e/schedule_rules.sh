#!/bin/bash
# Rules of times have the times that a walk through every minute finds, in zones and on days whose clock changes. The
# rules are made up from a seed, which is printed.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
seed=${LOCKSTEP_TEST_SEED:-$RANDOM}
walk() { python3 "$here/schedule_rules.py" "$seed" "$1" "$2" "$LOCKSTEP_BIN" -q -d "$db" || failed=1; } # KIND COUNT

case_begin 'a cron expression has the times that a walk through every minute finds'
walk cron 90

case_begin 'a calendar rule has the times that a walk through every minute finds'
walk calendar 60

case_begin 'a rule whose next day is far away has the times that the clock repeats'
walk set-back 200
cases_end
exit $failed
