#!/bin/bash
# examples/notification/run.sh CONNINFO BROKERS: notifications and invoices as external tasks between two SQL phases,
# with two workers in Python and one in C. The database has the schema (lockstep migrate up). Leaves a queue, the schema
# notification and a role behind, all named below; they must not be there before, except the role.
# The topic is created if the broker lacks it. The embedded broker cannot create one, so start it with the topic:
#   lockstep dev broker --topic notification
# Needs Python with psycopg (version 3): Debian has it for its own.
#   QUEUE          the queue and its topic (default: notification)
#   PYTHON         the interpreter (default: /usr/bin/python3)
#   LOCKSTEP_BIN   the binary (default: lockstep)       WORKER_ROLE   the workers' login, made if it is not there
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || { sed -n "2,10p" "$0" >&2; exit 2; }
python=${PYTHON:-/usr/bin/python3}
"$python" -c "import psycopg" 2>/dev/null ||
    { echo "run.sh: $python has no psycopg; on Debian: apt-get install python3-psycopg" >&2; exit 1; }
lockstep=${LOCKSTEP_BIN:-lockstep} role=${WORKER_ROLE:-notification_worker}
queue=${QUEUE:-notification} pids=() tmp=$(mktemp -d)
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true; wait || true; rm -rf "$tmp"' EXIT

cc -O -Wall -o "$tmp/worker" "$here/worker.c" -I"$(pg_config --includedir)" -lpq
psql -X -q -v ON_ERROR_STOP=1 -d "$1" \
    -c "DO \$\$ BEGIN CREATE ROLE $role LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$" \
    -c "GRANT lockstep_worker TO $role"
# CONNINFO may be a URI, and may have the password of another login
as_worker=$("$python" -c 'import sys; from psycopg.conninfo import conninfo_to_dict, make_conninfo
print(make_conninfo(**{**conninfo_to_dict(sys.argv[1]), "password": "", "user": sys.argv[2]}))' "$1" "$role")
psql -X -q -w -d "$as_worker" -c '' || {
    echo "run.sh: the login $role of the workers cannot connect. If it is its authentication, let pg_hba.conf trust" \
        "it here, or give it a password that ~/.pgpass has; nothing but this role was made" >&2
    exit 1
}
psql -X -q -v ON_ERROR_STOP=1 -d "$1" -f "$here/schema.sql"

"$lockstep" queue create "$queue" -q --create-topic -d "$1" -b "$2"
"$lockstep" executor run --queue "$queue" -d "$1" -b "$2" 2>"$tmp/executor.log" & pids+=($!)
"$python" "$here/worker.py" "$as_worker" "$queue" "$tmp/outbox" & pids+=($!)
"$python" "$here/worker.py" "$as_worker" "$queue" "$tmp/outbox" & pids+=($!)
"$tmp/worker" "$as_worker" "$queue" & pids+=($!)

"$lockstep" publish --queue "$queue" -d "$1" -b "$2" --wait --timeout 60s "$here/tasks.jsonl"
echo
echo "What was sent:"
sort "$tmp/outbox"
echo "Who did it:"
psql -X -d "$1" -c "SELECT \"order\", name, attempt, status, split_part(worker, ' ', 2) AS worker, error
    FROM lockstep.execution_log WHERE queue = '$queue' ORDER BY \"order\", seq, attempt"
