#!/bin/bash
# A minute of torture with its own servers, for a first look before a push; ./dev torture runs longer. Not part of ./dev test yet.
set -euo pipefail
exec "$(dirname "$0")/run.sh" --seconds 60 --seed "${LOCKSTEP_TEST_SEED:-7}"
