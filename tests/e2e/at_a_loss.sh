#!/bin/bash
# Daemons that can do nothing wait for it: a broker that stands still, a server that takes no writes, a login that is
# refused, a schema that is gone, a queue that has halted, rows that other sessions hold. None of them uses the
# processor, opens sessions in a hurry or fills its log, and each ends soon after SIGTERM, even when the server answers
# nothing. Its servers are its own.
# ctest: nosan timeout=300 lock=servers
. "$(dirname "$0")/../support/own_servers.bash"
frozen=()
e2e_leave() {
    kill -CONT "${frozen[@]}" 2>/dev/null || true
    own_servers_end "$1"
}
scratch_database
a=$(scratch_name) b=$(scratch_name)
for queue in "$a" "$b"; do lockstep queue create "$queue" -q --create-topic --max-readers 2; done
sql 'CREATE ROLE worker LOGIN IN ROLE lockstep_executor, lockstep_worker, lockstep_operator'
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "rare", "queue": "$a", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "s", "kind": "interval", "every": "1d"}]},
          {"job": "watched", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1d"}]}]}
END
printf '#!/bin/bash\ntrap "" TERM\nwhile :; do sleep 1; done\n' >"$tmp/hang"
chmod +x "$tmp/hang"
cat >"$tmp/lockstep.conf" <<END
[postgres]
conninfo = $db user=worker
[kafka]
bootstrap.servers = $LOCKSTEP_TEST_BROKERS
[console]
listen = 127.0.0.1:0
[monitor]
every = 500ms
[commands]
hang = $tmp/hang
[command:hang]
kill_after = 1s
[alert:one]
command = hang
timeout = 10min
[alert:two]
command = hang
timeout = 10min
END
chmod 600 "$tmp/lockstep.conf"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
declare -A daemon_pid=() used=() lines=()
begin() { # NAME EVENT COMMAND...: until its log has the event
    : >"$tmp/$1.log"
    "$LOCKSTEP_BIN" "${@:3}" 2>>"$tmp/$1.log" &
    daemon_pid[$1]=$!
    eventually 40 grep -q "event=$2" "$tmp/$1.log" || { tail "$tmp/$1.log"; exit 1; }
}
used_ms() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / hz }' "/proc/$1/stat"; }
# Of all databases, from a session of its own: the count is of the daemons' database.
counts() {
    scratch_cluster "SELECT sessions, xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '${db##*=}'"
}
# For five seconds: the processor time and log lines of each daemon, and the server's counts.
observe() {
    local name before=0\|0 after=0\|0
    [ ${#frozen[@]} != 0 ] || before=$(counts)
    for name in "${!daemon_pid[@]}"; do
        used[$name]=$(used_ms "${daemon_pid[$name]}")
        lines[$name]=$(wc -l <"$tmp/$name.log")
    done
    sleep 5 # the observation itself
    for name in "${!daemon_pid[@]}"; do
        used[$name]=$(($(used_ms "${daemon_pid[$name]}") - used[$name]))
        lines[$name]=$(($(wc -l <"$tmp/$name.log") - lines[$name]))
        [ "${used[$name]}" -lt 300 ] || wrong "$name used ${used[$name]} ms of processor time in 5 s"
        [ "${lines[$name]}" -lt 10 ] || { wrong "$name wrote ${lines[$name]} lines in 5 s"; tail "$tmp/$name.log"; }
    done
    [ ${#frozen[@]} != 0 ] || after=$(counts)
    local opened=$((${after%|*} - ${before%|*})) done=$((${after#*|} - ${before#*|}))
    [ "$opened" -lt 25 ] || wrong "$opened sessions were opened in 5 s"
    [ "$done" -lt 300 ] || wrong "there were $done transactions in 5 s"
}
publish() { printf '%s\n' "${@:2}" | lockstep publish --queue "$1" -q - >/dev/null; }
works() { # each of them, with a session and a heartbeat
    [ "$(sql "SELECT count(*) FROM lockstep.executor
        WHERE ended_at IS NULL AND heartbeat_at > clock_timestamp() - interval '3 s'" 2>/dev/null)" = 2 ]
}

begin both executor_started executor run --queue "$a" --queue "$b" --readers 2
begin one executor_started executor run --queue "$a" --readers 2
begin scheduler scheduler_started scheduler run
begin monitor monitor_started monitor run
begin console console_started console run
sql "SELECT lockstep.ping('watched', 'fail')" >/dev/null # its alert has two receivers, which hang
eventually 20 is 'SELECT count(*) FROM lockstep.alert_notice WHERE attempts = 1' 2

case_begin 'a queue that has halted, one that is paused, and rows of theirs that another session holds'
sql "UPDATE lockstep.queue SET halted_at = now(), halted_reason = (SELECT reason FROM lockstep.halt_reason LIMIT 1),
     halted_detail = 'a test' WHERE name = '$a'"
publish "$a" '{"order": 1, "sql": "SELECT 1"}'
lockstep queue pause "$b" -q --reason 'a test'
publish "$b" '{"order": 1, "sql": "SELECT 1"}'
sql 'BEGIN; SELECT FROM lockstep.queue FOR UPDATE; SELECT FROM lockstep.job FOR UPDATE;
     SELECT FROM lockstep.schedule FOR UPDATE; SELECT pg_sleep(60)' >/dev/null 2>&1 &
eventually 10 is "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()" 1
observe
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()" >/dev/null
wait $! || true
lockstep queue resume "$b" -q

case_begin 'a broker that stands still'
kill -STOP "$LOCKSTEP_TEST_KAFKA_PID"
sql "SELECT lockstep.enqueue('$b', ARRAY['{\"order\": 1, \"sql\": \"SELECT 1\"}'::jsonb])" >/dev/null
sleep 3 # the relay is waiting for the broker by now
observe
kill -CONT "$LOCKSTEP_TEST_KAFKA_PID"

case_begin 'a server that takes no writes'
writes() { # on, off: not in a transaction, and by a session that writes
    PGOPTIONS='-c default_transaction_read_only=off' sql "ALTER SYSTEM SET default_transaction_read_only = $1"
    sql 'SELECT pg_reload_conf()' >/dev/null
}
eventually 40 works
writes on
sleep 2 # each of them has met it by now
observe
writes off
eventually 60 works || failed=1

case_begin 'a login that is refused'
sql 'ALTER ROLE worker NOLOGIN'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'" >/dev/null
sleep 2 # likewise
observe
sql 'ALTER ROLE worker LOGIN'
eventually 60 works || failed=1

case_begin 'a server that answers nothing, also to SIGTERM'
postmaster=$(head -n 1 "$(sql 'SHOW data_directory')/postmaster.pid")
mapfile -t frozen < <(echo "$postmaster"; pgrep -P "$postmaster")
kill -STOP "${frozen[@]}"
sleep 2 # likewise
observe
since=$(date +%s%3N)
kill -TERM "${daemon_pid[@]}"
for name in "${!daemon_pid[@]}"; do
    wait "${daemon_pid[$name]}" || true # the status may say that the server was lost
    took=$(($(date +%s%3N) - since))
    [ "$took" -le 15000 ] || wrong "the $name ended after $took ms"
done
kill -CONT "${frozen[@]}"
cases_end
[ $failed = 0 ] || tail -n 8 "$tmp"/*.log
exit $failed
