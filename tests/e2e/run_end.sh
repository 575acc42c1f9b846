#!/bin/bash
# A run whose end never comes: of a producer that is gone, of lockstep publish that was killed, the implicit run. explain and publish say
# what helps, each command is taken as it is printed, and the queue goes on.
# ctest: timeout=120
# ctest: nosan
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
. "$here/ledger.bash"
tmp=$(mktemp -d)
trap 'jobs_end; scratch_drop; rm -rf "$tmp"' EXIT
scratch_database
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 --queue implicit --queue foreign --queue killed --queue cancelled 2>"$tmp/executor.log" &
