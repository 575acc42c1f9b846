#!/bin/bash
# A run whose end never comes: of a producer that is gone, of lockstep publish that was killed, the implicit run. explain and publish say
# what helps, each command is taken as it is printed, and the queue goes on.
# ctest: timeout=120
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --readers 4 --queue implicit --queue foreign --queue killed --queue cancelled 2>"$tmp/executor.log" &
