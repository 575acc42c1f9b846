#!/bin/bash
# The classes of advisory locks are in one place, sql/functions/lock/lock_class.sql. Migrations keep what they said; the
# migrators' lock, and the statements about its holder and about sessions that block a migrator, come before any
# function.
set -euo pipefail
cd "$(dirname "$0")/../.."
folders=$(sed -nE 's/^([a-z]+):.*/\1/p' LAYERS | grep -vE '^(tests|bench)$')
# shellcheck disable=SC2086
ls -d $folders >/dev/null # all are there, or grep would fail, and that would pass
if grep -rnE '\b12805079[0-9]{2}\b' --include='*.sql' --include='*.c' --include='*.h' $folders |
    grep -vE '^sql/(migrations/|(migrate/((un)?lock|holder)|functions/lock/lock_class|session/waits)\.sql)'; then
    echo "lock_classes: use lockstep.lock_class('...')"
    exit 1
fi
echo 'lock_classes: in one place'
