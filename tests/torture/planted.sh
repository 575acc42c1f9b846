#!/bin/bash
# Does torture find what it is for? Plants one defect at a time, in the functions of a scratch database or in one C file
# of a binary made for it alone, runs run.sh on it until the first violation, and prints after how many seconds that
# came and its text. The control, with nothing planted, must not be found; all others must be.
# usage: tests/torture/planted.sh [--seed S] [NAME...]        default: seed 1, all
#        tests/torture/planted.sh --check CONNINFO
#            only whether each text to be changed is still there; a database with today's schema
# LOCKSTEP_BIN names the binary, in its build directory; default build/release/lockstep. 0: each as expected.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seed=1 check=''
while [ $# -gt 0 ]; do
    case $1 in
    --seed) seed=$2 && shift 2 ;;
    --check) check=$2 && shift 2 ;;
    -h | --help) sed -n '2,7s/^# //p' "$0" && exit 0 ;;
    *) break ;;
    esac
done
names=" $* "
bin=$(realpath "${LOCKSTEP_BIN:-$root/build/release/lockstep}")
build=${bin%/*}
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap '"$root/scripts/servers" stop "$tmp/servers" >/dev/null 2>&1; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
wrong=0

# sql FUNCTION OLD NEW: in a function as it is installed. Where the text has a blank, the function may have any layout.
sql() {
    cat <<SQL
DO \$plant\$
DECLARE
    was text := pg_get_functiondef((SELECT oid FROM pg_proc
                                    WHERE pronamespace = 'lockstep'::regnamespace AND proname = '$1'));
    pattern text := regexp_replace(
        regexp_replace(\$old\$$2\$old\$, '[][(){}.*+?^\$|\\\\]', '\\\\\&', 'g'),
        '\s+', '\\\\s+', 'g');
    changed text := regexp_replace(was, pattern, replace(\$new\$$3\$new\$, '\\', '\\\\'), 'g');
BEGIN
    IF changed = was THEN
        RAISE EXCEPTION '$1: the text to be changed is not there';
    END IF;
    EXECUTE changed;
END \$plant\$;
SQL
}

# c FILE OLD NEW...: compiles a changed copy of the file and links it before the library that has the true one.
c() {
    local file=$1 copy=$tmp/${1##*/} compile link
    cp "$root/$file" "$copy"
    for (( ; $# >= 3; )); do
        OLD=$2 NEW=$3 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/ or die "$ARGV: the text to be changed is not there\n"' \
            "$copy" || return 1
        shift 2
    done
    [ -z "$check" ] || return 0
    compile=$(jq -r --arg f "$root/$file" '.[] | select(.file == $f) | .command' "$build/compile_commands.json" |
        head -n 1)
    compile=${compile%% -o *}
    link=$(ninja -C "$build" -t commands lockstep | tail -n 1)
    link=${link/ -o lockstep / -o $tmp\/lockstep $copy.o }
    (cd "$build" && bash -c "$compile -w -o $copy.o -c $copy" && bash -c "$link") || return 1
    LOCKSTEP_BIN=$tmp/lockstep
}

# plant NAME [CHANGE]...: a CHANGE is a command, sql or c, with its arguments, written with printf %q. $faults,
# $seconds, $kind: run.sh's.
faults='' seconds=25 kind=.
plant() {
    local name=$1 verdict=found expected=found broken='' after first
    [ "$names" = '  ' ] || [[ $names == *" $name "* ]] || { faults='' seconds=25 kind=. && return 0; }
    shift
    [ $# -gt 0 ] || expected=harmless
    rm -rf "$tmp/run" "$tmp"/*.c "$tmp"/*.o "$tmp/lockstep"
    export LOCKSTEP_BIN=$bin LOCKSTEP_TORTURE_CLOCK_LIB=$build/libtorture_clock.so
    : >"$tmp/plant.sql"
    for change; do eval "$change" >>"$tmp/plant.sql" || broken=yes; done
    if [ -n "$check" ]; then
        psql -X -q -v ON_ERROR_STOP=1 -d "$check" -c BEGIN -f "$tmp/plant.sql" -c ROLLBACK >"$tmp/check.log" 2>&1 ||
            broken=yes
        sed "s/^/$name: /" "$tmp/check.log"
    fi
    if [ -n "$check$broken" ]; then
        [ -z "$broken" ] || wrong=$((wrong + 1))
        faults='' seconds=25 kind=.
        return 0
    fi
    "$root/scripts/servers" start "$tmp/servers" --via >/dev/null
    ! "$here/run.sh" --first "$kind" --seconds "$seconds" --settle 14 --seed "$seed" --faults "$faults" \
        --servers "$tmp/servers" --sql "$tmp/plant.sql" --keep "$tmp/run" \
        </dev/null >"$tmp/$name.log" 2>&1 || verdict=harmless
    first=$(grep -m 1 -E "^VIOLATION ($kind)" "$tmp/$name.log" || true)
    if [ $verdict = found ] && [ -z "$first" ]; then verdict=broken; fi
    after=$(sed -n 's/^torture: the first violation was found after //p' "$tmp/$name.log")
    printf '| %-28s | %-8s | %5s | %s |\n' "$name" "$verdict" "$after" "$(cut -c1-110 <<<"${first#VIOLATION }")"
    if [ "$verdict" != "$expected" ]; then
        wrong=$((wrong + 1))
        tail -n 5 "$tmp/$name.log"
    fi
    faults='' seconds=25 kind=.
}
q() { printf '%q ' "$@"; }

plant nothing

# Strict order.
plant phase_before_not_looked_at "$(q sql gate_ready 'NOT p_within OR (' 'true OR NOT p_within OR (')" \
    "$(q sql lock_intent_xact 'RETURN false;' 'RETURN true;')" \
    "$(q sql lock_intent_xact 'RETURN pg_catalog' 'RETURN true OR pg_catalog')"
plant gate_opens_at_once "$(q sql gate_ready 'IF free AND held THEN' 'free := true; verdict := NULL; IF false THEN')"
plant run_before_not_looked_at "$(q sql gate_ready 'SELECT NOT EXISTS (SELECT FROM lockstep.run b' \
    'SELECT true OR NOT EXISTS (SELECT FROM lockstep.run b')"
plant run_ends_early \
    "$(q sql run_finish 'run_row.replay_id IS NOT NULL OR EXISTS' 'run_row.replay_id IS NOT NULL OR false AND EXISTS')"
plant stop_leaves_claimed "$(q sql run_stop 'WHERE phase_id = ANY (stopped) AND lockstep.is_unstarted' \
    'WHERE false AND phase_id = ANY (stopped) AND lockstep.is_unstarted')"

# Exactly once, at least once, no overlap.
no_end_of_sessions=$(q sql executors_living 'living := living || lockstep.sessions_left(living)' 'living := living')
no_token=$(q sql complete ' AND token OPERATOR(pg_catalog.=) p_token' '')
# While sessions are ended before their tasks are given away, no zombie comes to its completion: the token is the second
# line.
faults='make_zombie 1' kind=effect
plant completed_without_token "$no_token" "$no_end_of_sessions"
faults='make_zombie 1' seconds=90 # it shows in tasks without a transaction
plant adopted_beside_the_old "$no_end_of_sessions"
plant adopted_from_the_living "$(q sql adopt 'living int[] := lockstep.executors_living()' "living int[] := '{}'")"
faults='slow_network 2 kill_executor 2 terminate_reader 2 reset_network 1'
plant recorded_after_the_commit "$(q c reader/attempt.c 'return db_run(db, &sql_reader_complete,' \
    'return db_script(db, "COMMIT", NULL, why) != RC_OK || db_script(db, "BEGIN", NULL, why) != RC_OK ? RC_LOST
             : db_run(db, &sql_reader_complete,')"
faults='kill_executor 2 terminate_reader 1' seconds=60
plant lost_counts_as_failed "$(q sql adopt_take 'max_attempts = t.max_attempts + CASE WHEN l.lost THEN 1 ELSE 0 END' \
    'max_attempts = t.max_attempts')" \
    "$(q sql lose 'max_attempts = t.max_attempts + c.tried' 'max_attempts = t.max_attempts')" \
    "$(q sql spare 'max_attempts = t.max_attempts + 1' 'max_attempts = t.max_attempts')"

# Nothing lost.
plant claimed_without_lock \
    "$(q sql claim 'WHERE queue_id = p_queue_id FOR NO KEY UPDATE;' 'WHERE queue_id = p_queue_id;')"
seconds=10
plant cursor_skips "$(q sql claim 'last int := pg_catalog.cardinality(p_segment.offsets)' \
    'last int := GREATEST(1, pg_catalog.cardinality(p_segment.offsets) - (pg_catalog.random() < 0.05)::int)')" \
    "$(q sql claim \
        'next_offset := lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], p_segment.last_timestamp, p_segment.last_digest);
    verdict := CASE' \
        'next_offset := lockstep.cursor_advance(p_queue_id, p_segment.offsets[pg_catalog.cardinality(p_segment.offsets)], p_segment.last_timestamp, p_segment.last_digest);
    verdict := CASE')"
plant cursor_in_its_own_transaction \
    "$(q sql cursor_advance 'SET next_offset = p_offset + 1,' 'SET next_offset = next_offset,')" \
    "$(q c executor/claim.c '    *ret_progress = many ? rejects_follow(' '    if (!many) {
        STR_AUTO text = {0};
        str_format(&text, "UPDATE lockstep.queue SET next_offset = GREATEST(next_offset, %s) WHERE queue_id = %d", db_text(row, 0, EXECUTOR_CLAIM_NEXT_OFFSET), lane->queue.id);
        rc = db_script(lane->ex->control.db, text.data, NULL, err);
        if (rc != RC_OK)
            return rc;
    }
    *ret_progress = many ? rejects_follow(')"

# Bounded.
faults='make_zombie 3 kill_executor 1'
plant slot_of_the_dead "$(q sql slot_take 'IF named.pid IS NOT NULL AND' 'IF false AND')"
plant slots_without_locks \
    "$(q sql slot_take 'CONTINUE WHEN NOT pg_catalog.pg_try_advisory_lock(class, candidate.slot_id);' '')"

# Self-healing.
seconds=8
plant nobody_is_adopted "$(q sql adopt 't.executor_no <> ALL (living)' 'false')"
seconds=8
plant frozen_is_not_fenced \
    "$(q sql executor_fence "PERFORM FROM lockstep.executor WHERE" "PERFORM FROM lockstep.executor WHERE false AND")"
seconds=8
plant lock_not_given_back \
    "$(q sql release 'unlocked := NOT p_shared OR lockstep.unlock_shared(p_phase_id)' 'unlocked := true')"

# Locks and sessions.
plant intent_beside_shared "$(q sql lock_intent_xact 'PERFORM pg_catalog.pg_advisory_xact_lock(class, a);' '')" \
    "$(q sql lock_intent_xact 'pg_catalog.pg_try_advisory_xact_lock(class, a) AND ' '')"
plant session_not_reset "$(q c reader/attempt.c 'bool reset = plan.changes_session || !part->transaction;' \
    'bool reset = false; plan_done(&plan); return rc;')"

# Bad records.
plant rejection_stops_the_cursor "$(q c executor/refusal.c 'if (buffered->detail < DETAIL_NONE) {' 'if (false) {')"
seconds=60
plant text_cut_in_a_character \
    "$(q c base/utf8.c 'while (n > 0 && most - n < 3 && ((unsigned char)text[n] & 0xc0) == 0x80)' 'while (false)' \
    'while ((at += utf8_prefix(text + at, len - at)) < len) {' 'while (false) {')" # what is cut so is mended, too

# Deleted queues.
faults='delete_queue 1 kill_executor 1'
plant trouble_ends_the_others \
    "$(q c executor/trouble.c 'if (deleted(lane, rc, err) && others_left(lane)) {' 'if (false) {')"

# Jobs.
kind=job seconds=20
plant fires_twice \
    "$(q sql job_run_id 'pg_catalog.uuid_send(p_schedule)' 'pg_catalog.uuid_send(pg_catalog.gen_random_uuid())')" \
    "$(q sql job_fire 'p_missed_count, p_by, p_rows);' 'p_missed_count, p_by, p_rows) ON CONFLICT DO NOTHING;')" \
    "$(q sql job_act 'next_at = CASE WHEN has_news THEN' \
        'next_at = CASE WHEN has_news OR pg_catalog.random() < 0.2 THEN')" \
    "$(q sql job_act 'wake_at = CASE WHEN has_news THEN' 'wake_at = CASE WHEN has_news OR true THEN')"
faults='kill_dispatcher 2 kill_executor 1' kind=job seconds=40
plant forgets_after_a_crash "$(q sql dispatch_begin 'UPDATE lockstep.schedule s SET asked_until = NULL' \
    'UPDATE lockstep.schedule s SET next_at = lockstep.rule_next(s.rule, now()), wake_at = lockstep.rule_next(s.rule, now())
    WHERE s.next_at <= now() AND (s.rule).kind IS NOT NULL;
    UPDATE lockstep.schedule s SET asked_until = NULL')"
kind=job seconds=20
plant overlap_guard_ignored "$(q sql job_decide "ELSIF NOT is_open OR p_job.overlap = 'allow' THEN" 'ELSIF true THEN')"

echo "planted: $wrong not as expected"
[ "$wrong" = 0 ]
