#!/bin/bash
# Rules of times have the times that a walk through every minute finds, in zones and on days whose clock changes.
# ctest: nosan timeout=300
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/shell.bash"
trap 'scratch_drop' EXIT
scratch_database
python3 "$here/schedule_rules.py" "${LOCKSTEP_TEST_SEED:-$RANDOM}" 150 "$LOCKSTEP_BIN" -q -d "$db"
