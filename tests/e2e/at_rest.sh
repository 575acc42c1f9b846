#!/bin/bash
# Daemons that have nothing to do cost next to nothing: an executor that dispatches, one that stands by, a scheduler
# that stands by, a monitor and a console. A thread that spins shows in the processor time of its process, and one
# that connects again and again in the sessions of the database. An executor whose next phase waits for a task that no
# executor can run asks the database less and less often.
# ctest: nosan timeout=120
. "$(dirname "$0")/../support/e2e.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 2
unable=$(scratch_name)
lockstep queue create "$unable" -q --create-topic --max-readers 2
printf '%s\n' '{"order": 1, "command": "unknown"}' '{"order": 2, "sql": "SELECT 1"}' |
    lockstep publish --queue "$unable" -q - >/dev/null
sql "DO \$\$ BEGIN EXECUTE format('ALTER DATABASE %I SET track_functions = pl', current_database()); END \$\$"
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "rare", "queue": "$q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
           "schedules": [{"name": "s", "kind": "interval", "every": "1d"}]}]}
END
printf '[postgres]\nconninfo = %s\n[kafka]\nbootstrap.servers = %s\n[console]\nlisten = 127.0.0.1:0\n' \
    "$db" "$LOCKSTEP_TEST_BROKERS" >"$tmp/lockstep.conf"
chmod 600 "$tmp/lockstep.conf"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
declare -A daemon_pid=()
begin() { # NAME EVENT COMMAND...: until its log has the event
    "$LOCKSTEP_BIN" "${@:3}" 2>"$tmp/$1.log" &
    daemon_pid[$1]=$!
    eventually 40 grep -q "event=$2" "$tmp/$1.log" || { tail "$tmp/$1.log"; exit 1; }
}
used_ms() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / hz }' "/proc/$1/stat"; }
asked() {
    sql "SELECT COALESCE(sum(calls), 0) FROM pg_stat_user_functions
        WHERE schemaname = 'lockstep' AND funcname IN ('gate', 'adopt')"
}
sessions() { sql 'SELECT sessions FROM pg_stat_database WHERE datname = current_database()'; }

case_begin 'daemons at rest use hardly any processor time, and open no sessions'
begin dispatching dispatching executor run --queue "$q" --readers 2
begin standing_by executor_started executor run --queue "$q" --readers 2
begin scheduler scheduler_started scheduler run
begin monitor monitor_started monitor run
begin console console_started console run
begin waiting task_left executor run --queue "$unable" --readers 2
sleep 2 # the work that follows a start has ended
declare -A before=()
for name in "${!daemon_pid[@]}"; do before[$name]=$(used_ms "${daemon_pid[$name]}"); done
opened=$(sessions) questions=$(asked)
[ "$questions" -gt 0 ] || wrong 'no gate waits'
sleep 5 # the observation itself
opened=$(($(sessions) - opened)) questions=$(($(asked) - questions))
for name in "${!daemon_pid[@]}"; do
    used=$(($(used_ms "${daemon_pid[$name]}") - before[$name]))
    [ "$used" -lt 500 ] || wrong "$name used $used ms of processor time in 5 s"
done
[ "$opened" -lt 25 ] || wrong "$opened sessions were opened in 5 s"
for name in "${!daemon_pid[@]}"; do
    status=0
    kill -TERM "${daemon_pid[$name]}"
    wait "${daemon_pid[$name]}" || status=$?
    expect "how the $name ended" "$status" 0
done

case_begin 'a gate before a task that no executor can run asks about once a second'
[ "$questions" -lt 20 ] || wrong "$questions questions in 5 s"
cases_end
[ $failed = 0 ] || tail -n 5 "$tmp"/*.log
exit $failed
