#!/bin/bash
# Torture: executors, publishers, servers and the network between them are killed, frozen, cut off and restarted while
# runs go through; then everything must end, and the checkers look for violations (always.sql while it
# runs, end.sql and the rest below at the end). The first line printed is the seed: it decides every choice (not
# the timing). The last line counts. 0: no violation.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    cat <<'USAGE'
usage: tests/torture/run.sh [--minutes N | --seconds N] [--seed S] [--rate N] [--faults LIST] [--first KIND]
                            [--settle N] [--servers DIR] [--sql FILE] [--keep DIR]

  --minutes N    how long faults are made; default 5
  --seed S       what is chosen; default: from the clock
  --rate N       faults a minute; default 45
  --faults LIST  only these, in such numbers: "kill_executor 2 make_zombie 1"; the names are in nemesis.bash
  --first KIND   the first violation that begins so is enough: end there; a regular expression, "." is any
  --settle N     after the last fault no more than so many seconds may pass without a task being finished; default 25
  --servers DIR  servers of scripts/servers --via that run already; default: its own, with --fsync off
  --sql FILE     run in the scratch database before anything else: plants a defect (planted.sh)
  --keep DIR     where the logs stay; default: kept only if something was found
LOCKSTEP_BIN names the binary; default build/release/lockstep.
USAGE
}
seconds=300 seed=$(date +%s) rate=45 only='' first='' settle=25 servers='' plant='' keep=''
while [ $# -gt 0 ]; do
    case $1 in
    --minutes) seconds=$(awk -v m="$2" 'BEGIN {print int(m * 60)}') ;;
    --seconds) seconds=$2 ;;
    --seed) seed=$2 ;;
    --rate) rate=$2 ;;
    --faults) only=$2 ;;
    --first) first=$2 ;;
    --settle) settle=$2 ;;
    --servers) servers=$2 ;;
    --sql) plant=$2 ;;
    --keep) keep=$2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift 2
done
seed=$((10#$seed % 1000000000))
echo "torture: seed $seed, $seconds s"

export LOCKSTEP_BIN=${LOCKSTEP_BIN:-$root/build/release/lockstep} PGCONNECT_TIMEOUT=3
LOCKSTEP_BIN=$(realpath -m "$LOCKSTEP_BIN")
[ -x "$LOCKSTEP_BIN" ] || { echo "torture: $LOCKSTEP_BIN is missing; ./dev build makes it" >&2 && exit 2; }
clock=${LOCKSTEP_TORTURE_CLOCK_LIB:-${LOCKSTEP_BIN%/*}/libtorture_clock.so}
[ -f "$clock" ] || { echo "torture: $clock is missing; ./dev build makes it" >&2 && exit 2; }
[ -z "$plant" ] || plant=$(realpath "$plant")
tmp=${keep:-$(mktemp -d)}
mkdir -p "$tmp"
tmp=$(cd "$tmp" && pwd)
chmod 755 "$tmp"
own='' kept=$keep data=''
if [ -z "$servers" ]; then
    own=yes servers=$tmp/servers
    "$root/scripts/servers" start "$servers" --via >/dev/null
fi
unset KAFKA_LIBS_DIR
tidy() {
    local p
    touch "$tmp/stop"
    for p in $(jobs -pr; jobs -ps); do kill -CONT "$p" 2>/dev/null && kill -KILL "$p" 2>/dev/null; done
    # shellcheck disable=SC2046
    kill -CONT "$(broker_pid)" $(pgrep -P "$(head -n 1 "$data/postmaster.pid")") 2>/dev/null
    if [ -n "$own" ]; then "$root/scripts/servers" stop "$servers"; else scratch_drop; fi
    [ -n "$kept" ] || rm -rf "$tmp"
} >/dev/null 2>&1
set -a
. "$servers/env"
set +a
: "${LOCKSTEP_TEST_VIA:?the servers must be started with --via}"
. "$here/../support/shell.bash"
. "$here/load.bash"
. "$here/nemesis.bash"
. "$here/judge.bash"
. "$here/jobs.bash"
cd "$tmp" # a core stays with the logs
ulimit -c unlimited || true
trap tidy EXIT
trap 'exit 130' INT TERM

# The network: a link for each executor, one for the publishers, one to Kafka for everybody.
network_start() {
    local i pg links=("kafka=$LOCKSTEP_TEST_VIA:$LOCKSTEP_TEST_VIA_TO")
    pg=$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")
    for ((i = 0; i < executors; i++)); do links+=("executor$i=0:127.0.0.1:$pg"); done
    mkfifo "$tmp/network"
    touch "$tmp/links"
    "$here/proxy.py" "$tmp/network" "${links[@]}" "publish=0:127.0.0.1:$pg" >"$tmp/links" 2>"$tmp/proxy.log" &
    eventually 10 grep -q '^ready' "$tmp/links"
    brokers=127.0.0.1:$LOCKSTEP_TEST_VIA
}
via() { # LINK: how a client behind it connects to the database
    echo "host=127.0.0.1 port=$(sed -n "s/^$1 //p" "$tmp/links") user=lockstep_test dbname=${db##*dbname=}"
}

# The stage.
broker_answers() { kcat -L -b "$LOCKSTEP_TEST_BROKERS" -m 5 >/dev/null; }
eventually 60 broker_answers 2>/dev/null # the run before may have ended while it was down
rm -f "$tmp/network" "$tmp/stop" "$tmp/violations" "$tmp/found_after" "$tmp/published" "$tmp/suspects"
network_start
scratch_database
data=$(sql 'SHOW data_directory')
mapfile -d '' broker <"/proc/$(broker_pid)/cmdline"
load_create
sql 'CREATE SEQUENCE looks_at_locks'
sql "ALTER SYSTEM SET max_wal_size = '256MB'"
# A server that stops waits for a client that was cut off at its first word.
sql "ALTER SYSTEM SET authentication_timeout = '5s'"
sql 'SELECT pg_reload_conf()' >/dev/null
# Records that only this database refuses: the claim is halved until it has found them.
sql "ALTER TABLE lockstep.task ADD CONSTRAINT no_unwanted CHECK (name <> 'unwanted');
     ALTER TABLE lockstep.rejected_message ADD CONSTRAINT no_words CHECK (detail NOT LIKE '%unspeakable%')"
outside_create
q1=$(scratch_name) q2=$(scratch_name) q3=$(scratch_name) q4=$(scratch_name) q5=$(scratch_name)
lockstep queue create "$q1" -q --create-topic --max-readers 6 --on-failure continue --external-lease 2s
lockstep queue create "$q2" -q --create-topic --max-readers 2 --on-failure stop --external-lease 2s
lockstep queue create "$q3" -q --create-topic --max-readers 3 --on-failure continue --runs concurrent \
    --external-lease 2s
lockstep queue create "$q4" -q --create-topic
lockstep queue create "$q5" -q --create-topic --max-readers 4 --on-failure continue --runs concurrent
jobs_create
[ -z "$plant" ] || "$LOCKSTEP_TEST_PGBIN/psql" -X -q -v ON_ERROR_STOP=1 -d "$db" -f "$plant"
log_from=$(wc -l <"$LOCKSTEP_TEST_HOME/postgres.log")
touch "$tmp/published" "$tmp/violations" "$tmp/suspects"
for ((i = 0; i < executors; i++)); do clock_by "$i" 0; done
began=$SECONDS
RANDOM=$((seed % 32768))
for ((i = 0; i < executors; i++)); do executor_start $i; done
load_publish "$q1" $((seed % 32749 + 1)) 40 0.03 &
publishers=($!)
load_publish "$q2" $((seed % 32719 + 2)) 40 0.04 &
publishers+=($!)
load_publish "$q3" $((seed % 32717 + 3)) 60 0.03 &
publishers+=($!)
poison $((seed % 32713 + 4)) &
jobs_feed &
workers "$q1" &
helpers=($! "$outside")
workers "$q2" &
helpers+=($!)
workers "$q3" &
helpers+=($!)
judge_always &
judge=$!
watch_locks &
watcher=$!

nemesis "$seconds" "$rate"
faults_ended=$SECONDS

# The faults are over, but for one: an executor with work in hand stands still for good. The publishers finish, one more
# run on each queue settles what a killed one left, and all comes to its end.
order '*' heal
for ((try = 0; try < 20; try++)); do
    pick
    frozen=$i
    if found_first || busy_reader 5; then break; fi
done
well=$((thawed > faults_ended + 3 ? thawed : faults_ended + 3))
stands_still 600.0
kill -STOP "${pid[frozen]}" || true
touch "$tmp/stop"
until [ $SECONDS -ge $well ] || found_first; do sleep 0.2; done
order '*' heal
publisher_ends() { ! alive "$1" || found_first; }
for p in "${publishers[@]}"; do
    eventually 60 publisher_ends "$p" 2>/dev/null || bad "a publisher does not come to its end"
done
found_first || jobs_stop
found_first || last_runs
found_first || goes_on || not_ended
! found_first || jobs_tell KILL "${publishers[@]}"
jobs_tell CONT "${pid[frozen]}"
executors_look
found_first || descriptors
for i in "${!pid[@]}"; do
    jobs_tell TERM "${pid[i]}"
    leaving[${pid[i]}]=${log[i]}
done
found_first || leavers_look
jobs_tell TERM "$judge" "$watcher" "${helpers[@]}"
wait "$judge" "$watcher" "${helpers[@]}" 2>/dev/null || true
neighbours_end
found_first || judge_end
report
