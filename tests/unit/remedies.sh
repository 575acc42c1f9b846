#!/bin/bash
# Remedies with a command, a statement or a command of Kafka's stand in base/remedies.h, so that one place holds what tests take: no other
# C file has such words in a text, except what teaches commands (the table of commands, help, completion, the servers for trying things out).
set -euo pipefail
cd "$(dirname "$0")/../.."
nouns='check|config|executor|lock|log|migrate|publish|queue|rejected|replay|run|task|dev'
found=$(grep -nE "\"[^\"]*(\blockstep ($nouns) [a-z-]|\b(GRANT|REVOKE|ALTER ROLE) [a-z_%\\]|kafka-[a-z]+\.sh|\bkill -|SELECT pg_[a-z_]+\()" -r --include='*.[ch]' \
    action base cli config db executor kafka phaselock producer reader relay replay scheduler task |
    grep -vE '^(base/remedies\.h|cli/(commands|help|completion|dev_[a-z]+)\.c):|^[^:]+:[0-9]+: *(/?\*|//)' || true)
[ -z "$found" ] || {
    echo 'remedies outside base/remedies.h:'
    echo "$found"
    exit 1
}

# Each of them is taken by a test, which names it. These are not: another migrator must be at work for a minute; a tool of Kafka's that is not
# among the jars of the test broker.
not_taken='REMEDY_MIGRATE_WAIT REMEDY_KAFKA_ABORT'
for remedy in $(grep -oE '^#define REMEDY_[A-Z_]+' base/remedies.h | cut -d' ' -f2); do
    [[ " $not_taken " == *" $remedy "* ]] || grep -rqw "$remedy" tests/e2e || { echo "no test takes $remedy"; exit 1; }
done
