#!/bin/bash
# A minute of torture (tests/torture/run.sh), with its own servers: kills, freezes, cuts and crashes; then everything comes to its end.
# ctest: timeout=240 serial nosan
set -euo pipefail
exec "$(dirname "$0")/../torture/run.sh" --seconds 60 --seed "${LOCKSTEP_TEST_SEED:-7}"
