#!/bin/bash
# Remedies with a command, a statement or a command of Kafka's stand in base/remedies.h and remedies_rights.h, so that
# one place holds what tests take: no other C file has such words in a text, except what teaches commands (the table of
# commands, help, completion, the servers for trying things out).
set -euo pipefail
cd "$(dirname "$0")/../.."
nouns='advise|alert|check|config|console|executor|job|lock|log|message|migrate|monitor|publish|queue|rejected|replay|run|schedule|scheduler|task|dev'
folders=$(sed -nE 's/^([a-z]+):.*/\1/p' LAYERS | grep -vE '^(sql|tests|examples|bench)$')
# These have some of their own, still: the list may only shrink.
not_yet='console/guard.c'
# shellcheck disable=SC2086
found=$(grep -nE "\"[^\"]*(\blockstep ($nouns) [a-z-]|\b(GRANT|REVOKE|ALTER ROLE) [a-z_%\\]|kafka-[a-z]+\.sh|\bkill -|SELECT pg_[a-z_]+\()" \
    -r --include='*.[ch]' $folders |
    grep -vE '^(base/remedies(_rights)?\.h|cli/(commands|help|completion|dev_[a-z]+)\.c):|^[^:]+:[0-9]+: *(/?\*|//)|`lockstep queue advise` reads' ||
    true)
for file in $not_yet; do
    grep -q "^$file:" <<<"$found" || { echo "$file has no remedy any more: take it off the list"; exit 1; }
    found=$(grep -v "^$file:" <<<"$found" || true)
done
[ -z "$found" ] || {
    echo 'remedies outside base/remedies.h:'
    echo "$found"
    exit 1
}

# Each of them is taken by a test, which names it. This one is not: a tool of Kafka's that is not among the jars of the
# test broker.
not_taken='REMEDY_KAFKA_ABORT'
for remedy in $(grep -ohE '^#define REMEDY_[A-Z_]+' base/remedies*.h | cut -d' ' -f2); do
    [[ " $not_taken " == *" $remedy "* ]] || grep -rqw "$remedy" tests/e2e || { echo "no test takes $remedy"; exit 1; }
done
