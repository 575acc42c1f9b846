#!/bin/bash
# Remedies with a command, a statement or a command of Kafka's stand in base/remedies.h, so that one place holds what tests take: no other
# C file has such words in a text, except what teaches commands (the table of commands, help, completion, the servers for trying things out).
set -euo pipefail
cd "$(dirname "$0")/../.."
nouns='check|config|executor|lock|log|migrate|publish|queue|rejected|replay|run|task|dev'
found=$(grep -nE "\"[^\"]*(\blockstep ($nouns) [a-z-]|\b(GRANT|REVOKE|ALTER ROLE) [a-z_%\\]|kafka-[a-z]+\.sh|\bkill -|SELECT pg_[a-z_]+\()" -r --include='*.[ch]' \
    action base cli config db executor kafka phaselock producer relay replay scheduler task |
    grep -vE '^(base/remedies\.h|cli/(commands|help|completion|dev_[a-z]+)\.c):|^[^:]+:[0-9]+: *(/?\*|//)' || true)
[ -z "$found" ] || {
    echo 'remedies outside base/remedies.h:'
    echo "$found"
    exit 1
}
