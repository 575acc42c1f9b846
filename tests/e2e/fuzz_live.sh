#!/bin/bash
# ctest: slow nosan timeout=900 long
# Records that no producer should write, under a new seed each time: it is printed, and with it the same records are
# made again (LOCKSTEP_TEST_SEED). ./dev fuzz --live runs longer.
set -euo pipefail
exec "$(dirname "$0")/../fuzz/live.sh" --records "${LOCKSTEP_TEST_FUZZ_RECORDS:-20000}" --round 10000 \
    --seed "${LOCKSTEP_TEST_SEED:-$RANDOM}"
