#!/bin/bash
# Fixed workloads, each beside its reference in the same run. docs/explanation/performance.md says how to read the
# figures.
# shellcheck disable=SC2034 # the workloads, sourced below, use what is set here
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
quick_workloads="seed narrow plain wide long mixed start raw" # two minutes
workloads="seed narrow chain plain wide long mixed spread queues full distance start cost raw memory"
workloads+=" idle recovery schedule console"

usage() {
    cat <<END
usage: ./dev bench [--quick] [WORKLOAD...]

  --quick  two rounds and short runs

Workloads: $workloads. Without one: all; with
--quick: $quick_workloads, which take two minutes.
Starts a PostgreSQL (fsync on) and a Kafka of its own. Figures go to stdout and to build/bench/results.jsonl. A missed
target is reported and no failure; a broken promise (strict order, exactly once, bounded) is one: exit 1.
BENCH_BUILD names another build directory than build/release; BENCH_BACKLOG and BENCH_FINISHED another number of records
(memory) and of finished tasks (full); BENCH_RUNS of runs (console), each of which has a hundred tasks; 0: without the
large tables.
END
}

say() { echo "bench: $*" >&2; }
fail() {
    say "$@"
    exit 1
}

quick=false rounds=5 reference_seconds=5 chosen=''
for word; do
    case $word in
    --quick) quick=true rounds=2 reference_seconds=2 ;;
    -h | --help) usage && exit 0 ;;
    *)
        [[ " $workloads " == *" $word "* ]] || { usage >&2 && exit 2; }
        chosen+=" $word"
        ;;
    esac
done

[ "$quick" = false ] || chosen=${chosen:-$quick_workloads}

build=$(cd "${BENCH_BUILD:-$root/build/release}" && pwd)
cmake --build "$build" --target bench_programs >/dev/null
mkdir -p "$root/build/bench"
results=$root/build/bench/results.jsonl
servers=$root/build/bench/servers
cron_servers=$root/build/bench/cron
console_servers=$root/build/bench/console_servers
tmp=$(mktemp -d)
db='' checked=0 missed=()

cleanup() {
    local rc=$? pid
    trap - EXIT
    for pid in $(jobs -pr; jobs -ps); do kill "$pid" 2>/dev/null || true; done
    wait
    "$root/scripts/servers" stop "$servers"
    [ ! -e "$cron_servers/env" ] || "$root/scripts/servers" stop "$cron_servers"
    [ ! -e "$console_servers/env" ] || "$root/scripts/servers" stop "$console_servers"
    rm -rf "$tmp"
    exit "$rc"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

"$root/scripts/servers" start "$servers" --fsync
set -a
# shellcheck disable=SC1091
. "$servers/env"
set +a
export LOCKSTEP_BIN=$build/lockstep
# shellcheck disable=SC1091
. "$root/tests/support/shell.bash"
# shellcheck disable=SC1091
. "$root/tests/e2e/ledger.bash"
for part in figures work ceiling $workloads; do
    # shellcheck disable=SC1090
    . "$here/$part.bash"
done

began=$(date -u +%FT%TZ)
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
read -r load _ </proc/loadavg
say "$(nproc) processors ($(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)), load $load, commit $commit"
figures_header
for workload in ${chosen:-$workloads}; do
    scratch_database 2>/dev/null
    ledger_create
    "workload_$workload"
    scratch_drop
done
say "the order and exactly-once check passed $checked times"
for target in "${missed[@]}"; do say "missed: $target"; done
