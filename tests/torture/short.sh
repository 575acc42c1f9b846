#!/bin/bash
# ctest: slow nosan wide timeout=420
# Two minutes of torture with servers of its own, under a new seed each time: it is printed, and with it the same
# choices are made again (LOCKSTEP_TEST_SEED). ./dev torture runs longer.
set -euo pipefail
exec "$(dirname "$0")/run.sh" --seconds 120 --seed "${LOCKSTEP_TEST_SEED:-$RANDOM}"
