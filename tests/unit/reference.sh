#!/bin/bash
# The lists of log events and of metrics in docs/reference name each one of the sources, and its meaning.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../../scripts/reference.py" --check log-events metrics
