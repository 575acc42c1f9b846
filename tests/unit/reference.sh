#!/bin/bash
# The list of log events in docs/reference names each event of the sources, its level and its meaning.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../../scripts/reference.py" --check log-events
