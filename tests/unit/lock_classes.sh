#!/bin/bash
# The classes of advisory locks stand in one place, sql/functions/lock/lock_class.sql. Migrations keep what they said;
# the migrators' lock, and the statement that names what blocks a migrator (session/waits.sql), come before any
# function.
set -euo pipefail
cd "$(dirname "$0")/../.."
folders=$(sed -nE 's/^([a-z]+):.*/\1/p' LAYERS | grep -vE '^(tests|bench)$')
# shellcheck disable=SC2086
ls -d $folders >/dev/null # all are there, or grep would fail, and that would pass
if grep -rnE '\b12805079[0-9]{2}\b' --include='*.sql' --include='*.c' --include='*.h' $folders |
    grep -vE '^sql/(migrations/|migrate/(un)?lock\.sql|functions/lock/lock_class\.sql|session/waits\.sql)'; then
    echo "lock_classes: use lockstep.lock_class('...')"
    exit 1
fi
echo 'lock_classes: in one place'
