#!/bin/bash
# The hints of commands are followed literally: each case makes a command fail, cuts the command, the statement or the
# command of Kafka's out of the hint, runs it, and checks that it helps. A case names its words in base/remedies.h;
# tests/unit/remedies.sh wants one for each of them.
# ctest: nosan timeout=120 long
. "$(dirname "$0")/../support/e2e.bash"
login=$(scratch_name) tasks=$(scratch_name)
e2e_roles=("$login" "$tasks")
config() {
    printf '[postgres]\nconninfo = %s\n%s\n[kafka]\nbootstrap.servers = %s\n%s\n' "$db$1" "$2" \
        "$LOCKSTEP_TEST_BROKERS" "$3" >"$tmp/$4"
    chmod 600 "$tmp/$4"
}
config '' '' '' lockstep.conf
# So that a command is run as it is printed, with nothing behind it.
export LOCKSTEP_CONFIG=$tmp/lockstep.conf LOCKSTEP_PROBE_DIR=$tmp
lockstep() { "$LOCKSTEP_BIN" "$@"; }
# fails COMMAND...: its output is in $tmp/said
fails() { if "$@" >"$tmp/said" 2>&1; then echo "not refused: $*"; failed=1; fi; }
cut_out() { grep -oP "$1(?:(?![;,.](?: |\$)|\)).)*" "$tmp/said" | sed -n "$2p" || true; } # BEGINNING N
# takes N COMMAND [WANTED]: the N-th one that is printed and begins like COMMAND is run; its output has WANTED in it
takes() {
    local command
    command=$(cut_out "$2" "$1")
    [ -n "$command" ] || { echo "no $2 in:"; cat "$tmp/said"; failed=1; return 0; }
    if ! eval "$command" >"$tmp/taken" 2>&1 || { [ -n "${3:-}" ] && ! grep -qE -- "$3" "$tmp/taken"; }; then
        echo "$command: wanted ${3:-}:"; cat "$tmp/taken"; failed=1
    fi
}
admin_takes() { # N STATEMENT: as an administrator
    local statement
    statement=$(cut_out "$2" "$1")
    [ -n "$statement" ] || { echo "no $2 in:"; cat "$tmp/said"; failed=1; return 0; }
    sql "$statement" >/dev/null || failed=1
}
q=$(scratch_name)
u() { printf '6f6b2a52-7f4f-4c55-9f2e-94c0b8d2b%03d' "$1"; }
echo '{"order": 1, "sql": "SELECT 1"}' >"$tmp/one.jsonl"
ended() {
    eventually 15 is "SELECT status FROM lockstep.run WHERE run_id = '$1' AND ended_at IS NOT NULL" "$2" ||
        { lockstep run explain "$1"; exit 1; }
}

case_begin 'the schema is missing, or its migrations' REMEDY_MIGRATE_UP REMEDY_MIGRATE_LIST
sql "SET client_min_messages = warning; DROP SCHEMA lockstep CASCADE"
fails lockstep queue list
takes 1 'lockstep migrate'
lockstep queue list >/dev/null
fails lockstep migrate get 9999
takes 1 'lockstep migrate' baseline

case_begin 'the schema is of another line of development' REMEDY_MIGRATE_LINE
lockstep queue create "$q" -q --create-topic --from-offset latest
sql "UPDATE lockstep.migration SET name = '0001_roles' WHERE version = 1"
fails lockstep queue list
grep -q 'migration 1 of the schema is 0001_roles, that of this program is 0001_baseline' "$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
fails lockstep migrate up
admin_takes 1 'ALTER SCHEMA lockstep'
takes 1 'lockstep migrate' 'made to the schema'
expect 'a new schema' "$(lockstep queue list -o json)" '[]'
expect 'nothing is lost' "$(sql 'SELECT name FROM lockstep_before.queue')" "$q"
sql 'SET client_min_messages = warning; DROP SCHEMA lockstep_before CASCADE'
q=$(scratch_name)

case_begin 'a name leads to nothing' REMEDY_QUEUE_MISSING REMEDY_QUEUE_LIST REMEDY_QUEUE_FIRST REMEDY_RUN_LIST \
    REMEDY_TASK_LIST REMEDY_REJECTED_LIST REMEDY_ALERT_LIST REMEDY_EXECUTOR_LIST REMEDY_LIST
lockstep check >"$tmp/said" 2>&1 || true
# The name is everybody's on these servers.
cut_out 'lockstep queue create' 1 | grep -q 'lockstep queue create tasks --create-topic' || failed=1
fails lockstep publish --queue "$q" "$tmp/one.jsonl"
takes 1 'lockstep queue list'
sed -i "s/create $q/& --create-topic/" "$tmp/said"
takes 2 'lockstep queue' 'queue made'
fails lockstep publish "$tmp/one.jsonl"
takes 1 'lockstep queue list' "${q:0:12}"
fails lockstep run show 0123
takes 1 'lockstep run list'
fails lockstep task show 99
takes 1 'lockstep task list'
fails lockstep task show x
takes 1 'lockstep task list'
fails lockstep rejected show 99
takes 1 'lockstep rejected list'
fails lockstep alert show 99
takes 1 'lockstep alert list'
fails lockstep executor set 0123 --readers 1
takes 1 'lockstep executor list'

case_begin 'how a command is typed' REMEDY_HELP REMEDY_HELP_OF REMEDY_HELP_ALL REMEDY_MEANT REMEDY_CONFIG_LIST \
    REMEDY_COMPLETION REMEDY_CHMOD
fails lockstep queue
takes 1 'lockstep queue' 'usage: lockstep queue'
fails lockstep queue list --nosuch
takes 1 'lockstep queue' 'usage: lockstep queue list'
fails lockstep queue set "$q"
takes 1 'lockstep queue set' 'usage: lockstep queue set'
fails lockstep replay --queue "$q" --run "$(u 1)" --from-offset 1
takes 1 'lockstep replay' 'usage: lockstep replay'
fails lockstep help nosuch
takes 1 'lockstep help' 'lockstep runs tasks'
fails lockstep quee list
cut_out 'lockstep queue' 1 | grep -qx 'lockstep queue' || { cat "$tmp/said"; failed=1; }
fails lockstep completion fish
takes 1 'lockstep completion' '_lockstep'
config '' 'nosuch = 1' '' wrong.conf
fails env LOCKSTEP_CONFIG="$tmp/wrong.conf" "$LOCKSTEP_BIN" queue list
takes 1 'lockstep config' 'task_conninfo'
config ' password=secret' '' '' open.conf
chmod 644 "$tmp/open.conf"
if ! env LOCKSTEP_CONFIG="$tmp/open.conf" "$LOCKSTEP_BIN" queue list >"$tmp/said" 2>&1; then
    takes 1 'chmod 6[04]0'
    env LOCKSTEP_CONFIG="$tmp/open.conf" "$LOCKSTEP_BIN" queue list >/dev/null || failed=1
else
    echo 'a readable password is not refused'; failed=1
fi

case_begin 'how a job, a schedule and a token are typed' REMEDY_JOB_LIST REMEDY_JOB_APPLY REMEDY_JOB_PROBLEMS \
    REMEDY_SCHEDULE_NEXT REMEDY_SCHEDULE_ADD REMEDY_SCHEDULE_SET REMEDY_TOKEN
cd "$tmp"
jq -n --arg queue "$q" '[{job: "nightly-load", queue: $queue, tasks: [{order: 1, sql: "SELECT 1"}]}]' >jobs.json
fails lockstep job apply
takes 1 'lockstep job apply' nightly-load
fails lockstep job show nosuch
takes 1 'lockstep job list' nightly-load
fails lockstep schedule next
takes 1 'lockstep schedule next' '06:00:00'
fails lockstep schedule add nightly-load night
takes 1 'lockstep schedule add'
expect 'the schedule' "$(sql 'SELECT name FROM lockstep.schedule')" night
fails lockstep schedule set nightly-load night
takes 1 'lockstep schedule set'
sql "UPDATE lockstep.schedule SET next_at = now() - interval '2 hours'" # and no dispatcher
fails lockstep monitor check
takes 1 'lockstep monitor list' nightly-load
fails lockstep console token burn deploy
takes 1 'lockstep console token'
takes 2 'lockstep console token' deploy
takes 3 'lockstep console token'
expect 'the token' "$(lockstep console token list -o json | jq -r '.[].state')" revoked
lockstep job delete nightly-load >/dev/null

case_begin 'files of other programs are wrong' REMEDY_IMPORT_CRON REMEDY_IMPORT_AGENT
echo '0 2 * * * /usr/local/bin/nightly' >crontab.txt
fails lockstep job import
takes 1 'lockstep job import' 'watch.*true'
fails lockstep job import --from sqlagent sysjobs.csv --watch
printf '%s\n' job_id,name,enabled '1,Backup,1' >sysjobs.csv
printf '%s\n' \
    schedule_id,name,enabled,freq_type,freq_interval,freq_subday_type,freq_subday_interval,freq_relative_interval,freq_recurrence_factor,active_start_date,active_end_date,active_start_time,active_end_time \
    '1,daily,1,4,1,1,0,0,0,20260101,99991231,20000,235959' >sysschedules.csv
printf '%s\n' schedule_id,job_id '1,1' >sysjobschedules.csv
takes 1 'lockstep job import' 'watch.*true'
cd - >/dev/null

case_begin 'a command without a broker names the remedy' REMEDY_DEV_BROKER
fails env LOCKSTEP_CONFIG=/dev/null "$LOCKSTEP_BIN" publish -d "$db" --queue "$q" "$tmp/one.jsonl"
command=$(cut_out 'lockstep dev broker' 1)
: >"$tmp/broker"
eval "exec -a lockstep \"\$LOCKSTEP_BIN\" ${command#lockstep }" >"$tmp/broker" 2>&1 &
broker=$!
eventually 10 grep -qE '127.0.0.1:[0-9]+' "$tmp/broker" || { cat "$tmp/broker"; failed=1; }
fails env LOCKSTEP_CONFIG=/dev/null "$LOCKSTEP_BIN" queue create none -d "$db" \
    -b "$(grep -oE '127.0.0.1:[0-9]+' "$tmp/broker")" --create-topic
kill "$broker"
command=$(cut_out 'lockstep dev broker' 1) # REMEDY_DEV_TOPIC
: >"$tmp/broker"
eval "exec -a lockstep \"\$LOCKSTEP_BIN\" ${command#lockstep }" >"$tmp/broker" 2>&1 &
broker=$!
eventually 10 grep -qE '127.0.0.1:[0-9]+' "$tmp/broker" || { cat "$tmp/broker"; failed=1; }
"$LOCKSTEP_BIN" queue create none -d "$db" -b "$(grep -oE '127.0.0.1:[0-9]+' "$tmp/broker")" -q || failed=1
"$LOCKSTEP_BIN" queue delete none -d "$db" --yes -q
kill "$broker"

case_begin 'a command without a right names the remedy' REMEDY_GRANT REMEDY_GRANT_ONE REMEDY_GRANT_TASK \
    REMEDY_GRANT_END REMEDY_MIGRATE_ROLES REMEDY_MIGRATE_OTHER
sql "CREATE ROLE $login LOGIN; CREATE ROLE $tasks LOGIN"
config " user=$login" "task_conninfo = $db user=$tasks" '' login.conf
as_login() { env LOCKSTEP_CONFIG="$tmp/login.conf" "$LOCKSTEP_BIN" "$@"; }
fails as_login queue list
admin_takes 1 'GRANT lockstep_monitor'
as_login queue list >/dev/null || failed=1
sql "ALTER ROLE $login NOLOGIN" # REMEDY_LOGIN
fails as_login queue list
admin_takes 1 'ALTER ROLE'
as_login queue list >/dev/null || failed=1
sql "ALTER ROLE $login CONNECTION LIMIT 0" # REMEDY_ROLE_LIMIT
fails as_login queue list
admin_takes 1 'ALTER ROLE'
as_login queue list >/dev/null || failed=1
sql "ALTER DATABASE ${db##*dbname=} CONNECTION LIMIT 0" # REMEDY_DATABASE_LIMIT
fails as_login queue list
admin_takes 1 'ALTER DATABASE'
as_login queue list >/dev/null || failed=1
sql "REVOKE lockstep_monitor FROM $login;
    GRANT USAGE ON SCHEMA lockstep TO $login;
    GRANT SELECT ON ALL TABLES IN SCHEMA lockstep TO $login"
as_login check >"$tmp/said" 2>&1 || failed=1 # a warning
admin_takes 1 'GRANT lockstep_executor'
sql "REVOKE SELECT ON ALL TABLES IN SCHEMA lockstep FROM $login; REVOKE USAGE ON SCHEMA lockstep FROM $login"
fails as_login check
admin_takes 1 "GRANT lockstep_task TO \"$tasks\""
fails as_login check
admin_takes 1 "GRANT \"$tasks\" TO \"$login\""
as_login check >"$tmp/said" 2>&1 || true
grep -Eq '^ok +task SQL ' "$tmp/said" && grep -Eq '^ok +task sessions ' "$tmp/said" || { cat "$tmp/said"; failed=1; }
sql "REVOKE $tasks FROM $login"
fails as_login check
admin_takes 1 'GRANT pg_signal_backend'
admin_takes 1 'GRANT pg_read_all_stats'
as_login check >"$tmp/said" 2>&1 || true
grep -Eq '^ok +task sessions ' "$tmp/said" || { cat "$tmp/said"; failed=1; }
fails as_login migrate roles
takes 1 'lockstep migrate roles' 'GRANT'
sql "UPDATE lockstep.function_version SET checksum = 'of before' WHERE name LIKE '%said'"
fails as_login check
grep -q 'may not change the schema. A login that is a member of lockstep_owner runs: lockstep migrate up$' \
    "$tmp/said" || { cat "$tmp/said"; failed=1; }
fails as_login queue list
takes 1 'lockstep migrate' # by the login of the configuration, which may
as_login queue list >/dev/null || failed=1
again="REVOKE lockstep_executor FROM $login; GRANT lockstep_executor TO $login"
sql "ALTER ROLE $login NOINHERIT; $again" # REMEDY_INHERIT
fails as_login check
admin_takes 1 'ALTER ROLE'
sql "$again"
as_login check >"$tmp/said" 2>&1 || true
grep -Eq '^ok +schema ' "$tmp/said" || { cat "$tmp/said"; failed=1; }
sql "REVOKE lockstep_task FROM $tasks; ALTER ROLE $tasks NOINHERIT; GRANT lockstep_task TO $tasks"
fails as_login check
admin_takes 1 'ALTER ROLE'
sql "REVOKE lockstep_task FROM $tasks; GRANT lockstep_task TO $tasks"
as_login check >"$tmp/said" 2>&1 || true
grep -Eq '^ok +task SQL ' "$tmp/said" || { cat "$tmp/said"; failed=1; }

case_begin 'a queue is there already, is in use, a topic is not fit' \
    REMEDY_QUEUE_SHOW REMEDY_KAFKA_TOPIC REMEDY_KAFKA_TOPIC_ANEW REMEDY_KAFKA_CONFIG
fails lockstep queue create "$q"
takes 1 'lockstep queue show' "${q:0:12}"
kafka-configs.sh() { java -cp "$libs/*" kafka.admin.ConfigCommand "$@" 2>/dev/null; }
libs=$(tr '\0' '\n' <"/proc/$LOCKSTEP_TEST_KAFKA_PID/cmdline" | grep -A1 -xE -- '-cp|-classpath' | tail -1)
libs=${libs%%\**}
libs=${libs%/}
sql "INSERT INTO lockstep.queue (name, topic, halted_reason, halted_at)
     VALUES ('gone', 'gone$q', 'topic_deleted', now())"
fails lockstep queue resume gone --accept-topic --from-offset earliest
# That tool is not among the jars of the test broker: another command makes the topic.
grep -q "kafka-topics.sh --bootstrap-server $LOCKSTEP_TEST_BROKERS --create --topic gone$q --partitions 1 " \
    "$tmp/said" ||
    { cat "$tmp/said"; failed=1; }
lockstep queue create "gone$q" -q --create-topic
lockstep queue resume gone -q --accept-topic --from-offset earliest || failed=1
lockstep queue delete gone --yes -q
lockstep queue delete "gone$q" --yes -q
fails lockstep queue create "x$q"
grep -q "kafka-topics.sh --bootstrap-server $LOCKSTEP_TEST_BROKERS --create --topic x$q --partitions 1 " \
    "$tmp/said" || { cat "$tmp/said"; failed=1; }
kafka-configs.sh --bootstrap-server "$LOCKSTEP_TEST_BROKERS" --entity-type topics --entity-name "$q" --alter \
    --add-config cleanup.policy=compact >/dev/null
fails lockstep publish --queue "$q" "$tmp/one.jsonl"
takes 1 'kafka-configs.sh' Completed
lockstep publish --queue "$q" -q "$tmp/one.jsonl" >/dev/null || failed=1

"$LOCKSTEP_BIN" executor run --readers 2 --queue "$q" 2>"$tmp/executor.log" &
case_begin 'a run that ended badly, or has not ended' REMEDY_RUN_FAILED REMEDY_TASK_SHOW REMEDY_RUN_WATCH \
    REMEDY_RUN_THERE REMEDY_EXECUTOR_STOP
echo '{"order": 1, "sql": "SELECT 1/0"}' >"$tmp/fails.jsonl"
fails lockstep publish --queue "$q" --wait --run "$(u 2)" "$tmp/fails.jsonl"
takes 1 'lockstep run show' 'division by zero'
lockstep run show "$(u 2)" >"$tmp/said" 2>&1
takes 1 'lockstep task show' 'division by zero'
grep -Eq '^ *[0-9]+ +1 .*Failed .*22012: division by zero' "$tmp/said" || { cat "$tmp/said"; failed=1; }
fails lockstep publish --queue "$q" --run "$(u 2)" "$tmp/fails.jsonl"
takes 1 'lockstep run show' 'division by zero'
echo '{"order": 1, "sql": "SELECT pg_sleep(3)"}' >"$tmp/long.jsonl"
fails lockstep publish --queue "$q" --wait --timeout 1s --run "$(u 3)" "$tmp/long.jsonl"
cp "$tmp/said" "$tmp/watch"
eventually 10 is "SELECT count(*) FROM lockstep.task WHERE status = 'Processing'" 1
fails lockstep queue delete "$q" --yes
takes 1 'lockstep executor list' "${q:0:12}"
cp "$tmp/watch" "$tmp/said"
takes 1 'lockstep run watch' Completed

case_begin 'publishers that ended in the middle' REMEDY_RUN_UNFINISHED REMEDY_RUN_RESUME REMEDY_RUN_DOUBT \
    REMEDY_RUN_PIPED REMEDY_RUN_SHOW
seq 200 | sed 's/.*/{"order": 1, "sql": "SELECT &"}/' >"$tmp/many.jsonl"
killed() {
    LOCKSTEP_PROBE=publish.record=sleep:110@2,publish.committed=kill "$LOCKSTEP_BIN-probed" publish -q --queue "$q" \
        --run "$1" --stream "$tmp/many.jsonl" >/dev/null 2>&1 || true
}
killed "$(u 4)" 2>/dev/null
fails lockstep publish --queue "$q" --unfinished refuse "$tmp/one.jsonl"
takes 1 'lockstep publish'
ended "$(u 4)" Completed
fails lockstep publish --queue "$q" --resume "$(u 4)"
takes 1 'lockstep run show' "$(u 4)"
killed "$(u 5)" 2>/dev/null
fails lockstep publish --queue "$q" --unfinished refuse "$tmp/one.jsonl"
takes 1 'lockstep run end'
ended "$(u 5)" Failed
piped() {
    LOCKSTEP_PROBE=publish.record=sleep:110@2,publish.committed=kill "$LOCKSTEP_BIN-probed" publish -q --queue "$q" \
        --run "$1" --stream - < <(cat "$tmp/many.jsonl") >/dev/null 2>&1 || true
}
piped "$(u 8)" 2>/dev/null
fails lockstep publish --queue "$q" --resume "$(u 8)"
ln -s many.jsonl "$tmp/FILE" # the copy that is to be named there
pushd "$tmp" >/dev/null
takes 1 'lockstep publish'
popd >/dev/null
ended "$(u 8)" Completed
piped "$(u 9)" 2>/dev/null
fails lockstep publish --queue "$q" --resume "$(u 9)"
takes 1 'lockstep run end'
ended "$(u 9)" Failed
LOCKSTEP_PROBE=publish.record=sleep:110@2,publish.flushing=hold@2 "$LOCKSTEP_BIN-probed" publish -q --queue "$q" \
    --run "$(u 6)" --stream "$tmp/many.jsonl" >"$tmp/publisher" 2>&1 &
publisher=$!
eventually 20 test -e "$tmp/publish.flushing.hit"
sql "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE application_name = 'lockstep/producer' AND datname = current_database()" >/dev/null
touch "$tmp/publish.flushing.go"
wait "$publisher" || true
cp "$tmp/publisher" "$tmp/said"
takes 1 'lockstep publish'
ended "$(u 6)" Completed
fails env LOCKSTEP_PROBE=publish.record=sleep:110@2 \
    LOCKSTEP_INJECT=rd_kafka_commit_transaction=2+,rd_kafka_init_transactions=2+ "$LOCKSTEP_BIN-probed" publish -q \
    --queue "$q" --run "$(u 7)" --stream "$tmp/many.jsonl"
grep -q 'It is not known how much' "$tmp/said" || { cat "$tmp/said"; failed=1; }
takes 1 'lockstep publish'
ended "$(u 7)" Completed

case_begin 'replays that were interrupted' REMEDY_REPLAY_OTHER REMEDY_REPLAY_RESUME REMEDY_REPLAY_LOG REMEDY_LOCK_LIST
replay=(replay --queue "$q" --from-offset earliest --to-offset latest --mode all --execute --reason again)
interrupt() {
    LOCKSTEP_PROBE=replay.step=kill@1 "$LOCKSTEP_BIN-probed" "${replay[@]}" >/dev/null 2>&1 || true
} 2>/dev/null
interrupt
fails lockstep replay --queue "$q" --from-offset 0 --to-offset 3 --mode all --execute --reason other
takes 1 'lockstep replay'
expect 'the first' "$(sql "SELECT state FROM lockstep.replay WHERE replay_id = 1")" Completed
interrupt
fails lockstep replay --queue "$q" --from-offset 0 --to-offset 3 --mode all --execute --reason other
takes 2 'lockstep replay'
expect 'the second' "$(sql "SELECT state FROM lockstep.replay WHERE replay_id = 2")" Abandoned
fails lockstep replay --queue "$q" --resume 2
takes 1 'lockstep log' replay_begun
mkfifo "$tmp/other"
"$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" <"$tmp/other" >"$tmp/other.out" &
exec 6>"$tmp/other"
echo "SELECT 'locked' FROM pg_advisory_lock(1280507911, (SELECT queue_id FROM lockstep.queue WHERE name = '$q'))" \
    \\g >&6
eventually 10 grep -q locked "$tmp/other.out"
fails lockstep "${replay[@]}"
takes 1 'lockstep lock list' replay
exec 6>&-

cases_end
exit $failed
