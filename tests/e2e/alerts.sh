#!/bin/bash
# Alerts reach a command and a server, each notice once, however many monitors run; one that fails is sent again, and so
# is one whose sender died before it was recorded. No executor and no dispatcher runs: that a job is missed is found all
# the same.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
login=$(scratch_name)
e2e_roles=("$login")
sql "CREATE ROLE $login LOGIN IN ROLE lockstep_operator" # what the monitor's login needs
http_start server
: >"$tmp/pages"
: >"$tmp/server/requests"
cat >"$tmp/page" <<END
#!/bin/bash
read -r -d '' document || true
echo "\$document" >>"$tmp/pages"
END
cat >"$tmp/hang" <<'END'
#!/bin/bash
trap '' TERM
while :; do sleep 1; done
END
chmod +x "$tmp/page" "$tmp/hang"
config() { # FILE, and the sections of receivers on standard input
    printf '[postgres]\nconninfo = %s\n[monitor]\nevery = 200ms\n[http]\nallow = 127.0.0.1:%s\n[commands]\npage = %s\nhang = %s\n[command:page]\nkill_after = 0s\n[command:hang]\nkill_after = 0s\n' \
        "$db user=$login" "$port" "$tmp/page" "$tmp/hang" >"$1"
    cat >>"$1"
    chmod 600 "$1"
}
monitor() { # CONFIGURATION LOG [BINARY]
    : >"$2"
    LOCKSTEP_CONFIG=$1 "${3:-$LOCKSTEP_BIN}" monitor run 2>>"$2" &
    pid=$!
}
# A watch whose time has passed, or is to come.
watch() {
    lockstep job apply - \
        -q <<<'{"job": "'"$1"'", "watch": true, "schedules": [{"name": "nightly", "kind": "interval", "every": "24h"}]}' >/dev/null
    due "$1" "$2"
}
due() {
    sql "UPDATE lockstep.schedule s SET next_at = now() + interval '$2' FROM lockstep.job j
        WHERE j.job_id = s.job_id AND j.name = '$1'"
}
pages() { jq -r 'select(.job == "'"$1"'") | "\(.notice) \(.kind) \(.attempt)"' "$tmp/pages" | paste -sd,; }
paged() { [ "$(pages "$1")" = "$2" ]; }
sent() {
    is "SELECT string_agg(notice || ' ' || attempts || ' ' || (delivered_at IS NOT NULL), ', ' ORDER BY notice_id)
        FROM lockstep.alert_notice JOIN lockstep.alert USING (alert_id) WHERE job = '$1' AND receiver = '$2'" "$3"
}
explain() {
    sql "SELECT * FROM lockstep.alert_notice"
    sql 'SELECT * FROM lockstep.alert'
    cat "$tmp/pages" "$tmp"/*.log
}
must() { eventually "$@" || { explain; exit 1; }; }

case_begin 'of two monitors one sends each notice of an alert, that it opened and ended, once to a command and a server'
config "$tmp/both.conf" <<END
[alert:page]
command = page
jobs = backup*
[alert:hook]
url = http://127.0.0.1:$port/echo
kinds = missed, failed
[alert:others]
command = page
jobs = load-*
END
watch backup.first '-3 hours'
monitor "$tmp/both.conf" "$tmp/a.log"; a=$pid
monitor "$tmp/both.conf" "$tmp/b.log"; b=$pid
must 60 sent backup.first page 'opened 1 true'
must 60 sent backup.first hook 'opened 1 true'
# At once, and as if it had been in time.
sql "SELECT lockstep.ping('backup.first'); UPDATE lockstep.job_occurrence SET decided_at = scheduled_for"
must 60 sent backup.first page 'opened 1 true, closed 1 true'
must 60 sent backup.first hook 'opened 1 true, closed 1 true'
expect 'the command was run once for each' "$(pages backup.first)" 'opened missed 1,closed missed 1'
expect 'and the server called once for each' "$(wc -l <"$tmp/server/requests")" 2
expect 'with a key for each' "$(jq -r .key "$tmp/server/requests" | paste -sd,)" 'alert-1-opened-0,alert-1-closed-0'
expect 'what it is told' "$(head -n 1 "$tmp/pages" | jq -c '[.alert, .number, .text, .ended, .receiver]')" \
    "[1,0,$(sql "SELECT to_json(text) FROM lockstep.alert"),null,\"page\"]"
expect 'the list of what is open' "$(lockstep alert list -o csv | wc -l)" 1
expect 'and of all' "$(lockstep alert list --all -o json | jq -r '.[] | "\(.job) \(.kind) \(.ended)"')" \
    'backup.first missed recovered'
expect 'what was sent of it' \
    "$(lockstep alert show 1 -o json | jq -r '.notices | map(.receiver + " " + .notice) | sort | join(", ")')" \
    'hook closed, hook opened, page closed, page opened'

case_begin 'monitors whose sessions were ended open others and still send'
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'lockstep/monitor'" >/dev/null
watch backup.second '-3 hours'
must 60 sent backup.second page 'opened 1 true'
case_begin 'an alert that is acknowledged and silenced ends with the note of its operator'
lockstep monitor ack backup.second -q --reason 'it is known'
expect 'who acknowledged it' "$(lockstep alert list -o json | jq -r '.[].note')" 'it is known'
lockstep monitor silence backup.second -q --for 1h --reason 'the disk is replaced'
must 60 sent backup.second page 'opened 1 true, closed 1 true'
expect 'its end' \
    "$(jq -r 'select(.job == "backup.second" and .notice == "closed") | .ended + " " + .note' "$tmp/pages")" \
    'silenced it is known'
lockstep monitor silence backup.second -q --end
lockstep job delete backup.second -q
told_to_end "$a" "$b"

case_begin 'a notice that failed is sent again, and one whose command does not end in time is shown as not delivered'
config "$tmp/flaky.conf" <<END
[alert:flaky]
url = http://127.0.0.1:$port/retry/1
[alert:slow]
command = hang
timeout = 300ms
END
watch flaky '-3 hours'
monitor "$tmp/flaky.conf" "$tmp/flaky.log"
must 60 sent flaky flaky 'opened 2 true'
expect 'after an error' "$(jq -rs 'map(select(.path == "/retry/1")) | length' "$tmp/server/requests")" 2
must 60 is "SELECT error FROM lockstep.alert_notice WHERE receiver = 'slow' AND attempts > 1" \
    'no answer within its timeout'
expect 'shown as not delivered' \
    "$(lockstep alert list -o json | jq -r '.[] | select(.job == "flaky") | .undelivered')" 1
told_to_end "$pid"

case_begin 'a receiver that does not answer in time is ended while a look waits for the database'
config "$tmp/late.conf" <<END
[alert:late-command]
command = hang
timeout = 300ms
[alert:late-url]
url = http://127.0.0.1:$port/slow/60
timeout = 300ms
END
session_open BEGIN 'LOCK TABLE lockstep.job_silence' # a look reads it, a notice does not
monitor "$tmp/late.conf" "$tmp/late.log"
ended_late() {
    is "SELECT count(*) FROM lockstep.alert_notice
        WHERE receiver LIKE 'late-%' AND error = 'no answer within its timeout'" 2
}
must 15 ended_late
must 10 is "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'lockstep.job_silence'::regclass" t
printf 'ROLLBACK;\n' >&"$session" # the monitor has that descriptor, too
session_close
told_to_end "$pid"
lockstep job delete flaky -q

case_begin 'a notice whose sender died before it was recorded is sent again by the next monitor'
config "$tmp/page.conf" <<END
[alert:page]
command = page
jobs = third
timeout = 5s
END
watch third '-3 hours'
LOCKSTEP_PROBE=notice.sent=kill LOCKSTEP_PROBE_DIR=$tmp monitor "$tmp/page.conf" "$tmp/killed.log" \
    "${LOCKSTEP_BIN}-probed"
status=0
wait "$pid" || status=$?
expect 'killed' "$status" 137
must 30 paged third 'opened missed 1'
expect 'not recorded' "$(sql "SELECT delivered_at IS NULL
    FROM lockstep.alert_notice JOIN lockstep.alert USING (alert_id) WHERE job = 'third'")" t
monitor "$tmp/page.conf" "$tmp/third.log"
must 60 sent third page 'opened 2 true'
expect 'sent again' "$(pages third)" 'opened missed 1,opened missed 2'
told_to_end "$pid"

case_begin 'a monitor that died is noticed by check and by the list of alerts, and a new one is well'
sql "DELETE FROM lockstep.monitor_process" # as a week later
config "$tmp/fourth.conf" <<END
[alert:night]
command = page
jobs = fourth
END
# said SUBJECT PATTERN WHAT: the line of check about it
said_of() {
    LOCKSTEP_CONFIG=$tmp/fourth.conf "$LOCKSTEP_BIN" check -o json 2>/dev/null >"$tmp/checked" || true
    said=$(jq -r ".[] | select(.subject == \"$1\") | .result + \" \" + .finding" "$tmp/checked")
    grep -qE -- "$2" <<<"$said" || { echo "$3: $said"; failed=1; }
}
# REMEDY_MONITOR_RUN: it is run
said_of 'receiver night' 'no monitor has read section' 'a section that no monitor has read'
monitor "$tmp/fourth.conf" "$tmp/fourth.log"
must 60 is "SELECT login = '$login' AND is_alive AND receivers = '{night}' FROM lockstep.monitor_status
    WHERE monitor ~ '^monitor on .*, pid $pid\$'" t
said_of monitor '^ok monitor on .*it sends to night' 'a monitor that looks'
kill -9 "$pid"
wait "$pid" || true
sql "UPDATE lockstep.monitor_process SET looked_at = looked_at - interval '5 minutes'"
watch fourth '-3 hours'
for _ in 1 2; do # as a dispatcher looks, which sends nothing
    sql "UPDATE lockstep.monitor SET looked_at = NULL"
    sql "SELECT lockstep.monitor_look('dispatcher', '1 minute')" >/dev/null
done
said_of monitor '^FAIL none has looked since .*does not look any more; nothing is sent to night; 1 notice not deliv' \
    'a dead monitor'
expect 'the list of alerts says so' "$(lockstep alert list 2>&1 >/dev/null | sed 's/since .*,/since THEN,/')" \
    'lockstep: receiver night: 1 notice not delivered since THEN, and no monitor looks'
expect 'and the list of receivers' '["night",false,1]' \
    "$(lockstep alert list --receivers -o json | jq -c '.[] | [.receiver, .is_served, .undelivered]')"
monitor "$tmp/fourth.conf" "$tmp/fifth.log"
must 60 sent fourth night 'opened 1 true'
said_of monitor '^ok monitor on ' 'a new one'
told_to_end "$pid"
said_of monitor '^FAIL none has looked since .*was ended; nothing is sent to night' 'one that was ended'

case_begin 'a monitor whose registration was interrupted between its receivers has all of them in the end'
printf '[alert:%s]\ncommand = page\njobs = none\n' first second | config "$tmp/two.conf"
monitor "$tmp/two.conf" "$tmp/two.log"
registered() { is "SELECT receivers FROM lockstep.monitor_status WHERE monitor ~ ', pid $pid\$'" "$1"; }
must 30 registered '{first,second}'
sql "ALTER TABLE lockstep.monitor_receiver ADD CONSTRAINT interrupts CHECK (receiver <> 'second') NOT VALID;
    DELETE FROM lockstep.monitor_process" # it is to register again
must 30 grep -q 'event=monitor_lost' "$tmp/two.log"
sql 'ALTER TABLE lockstep.monitor_receiver DROP CONSTRAINT interrupts'
must 30 registered '{first,second}'
told_to_end "$pid"

case_begin 'a monitor that ends waits for the commands of its receivers at the same time'
config "$tmp/stubborn.conf" <<END
[command:stubborn]
kill_after = 10s
$(for i in 1 2 3; do printf '[alert:stubborn%s]\ncommand = stubborn\njobs = fifth\n' $i; done)
END
sed -i "s,^hang = .*,&\nstubborn = $tmp/hang," "$tmp/stubborn.conf"
watch fifth '-3 hours'
monitor "$tmp/stubborn.conf" "$tmp/stubborn.log"
must 60 is "SELECT count(*) FROM lockstep.alert_notice WHERE receiver LIKE 'stubborn_' AND attempts = 1" 3
all_hang() { [ "$(pgrep -c -f "$tmp/hang")" = 3 ]; }
must 60 all_hang
since=$(date +%s%3N)
told_to_end "$pid"
took=$(($(date +%s%3N) - since))
[ "$took" -lt 25000 ] || wrong "three commands with kill_after = 10s held up the end for $took ms"

case_begin 'a receiver with a wrong setting is refused before anything is started'
refused() { # WHAT EXPECTED, and the receivers
    config "$tmp/bad.conf"
    for command in 'monitor run' 'config check'; do
        # shellcheck disable=SC2086 # two words
        if LOCKSTEP_CONFIG=$tmp/bad.conf timeout 60 "$LOCKSTEP_BIN" $command >"$tmp/said" 2>&1; then
            echo "$1: $command does not refuse it"
            failed=1
        fi
        grep -qF -- "$2" "$tmp/said" || { echo "$1: $command says"; cat "$tmp/said"; failed=1; }
    done
}
refused 'no way to send' '[alert:x] has neither command nor url' <<<$'[alert:x]\njobs = *'
refused 'two ways' '[alert:x] has both command and url' <<<$'[alert:x]\ncommand = page\nurl = http://127.0.0.1:1/'
refused 'a command that is none' '[alert:x] command: [commands] does not name "pager"' <<<$'[alert:x]\ncommand = pager'
refused 'a host that is not allowed' '[alert:x] url: [http] allow does not have example.com:443' <<<$'[alert:x]\nurl = https://example.com/'
refused 'no URL' '[alert:x] url: it is no URL of http or https' <<<$'[alert:x]\nurl = ftp:x'
refused 'an unknown kind' '[alert:x] kinds: "lost" is not known' <<<$'[alert:x]\ncommand = page\nkinds = missed, lost'
refused 'no pattern' '[alert:x] jobs: "load%" is not known' <<<$'[alert:x]\ncommand = page\njobs = load%'
refused 'no time' '[alert:x] remind_every: "often"' <<<$'[alert:x]\ncommand = page\nremind_every = often'
case_begin 'a wrong command about an alert is refused, and the reason is named'
said() { "$LOCKSTEP_BIN" "$@" -d "$db" 2>&1 | head -n 1 || true; }
expect 'no length' "$(said monitor silence third --reason x)" \
    'lockstep: monitor silence: one of --for, --until and --end is needed'
expect 'no reason' "$(said monitor silence third --for 1h)" 'lockstep: reason: it is missing'
expect 'no acknowledgement' "$(said alert ack 1 --reason x | sed 's/since.*/since/')" \
    'lockstep: alert 1 is closed since'
expect 'no alert' "$(said monitor ack 4711 --reason x)" 'lockstep: there is no alert 4711'
expect 'no job' "$(said monitor ack nothing --reason x)" 'lockstep: there is no job nothing'
expect 'no time' "$(said monitor silence third --until tomorrowish --reason x)" \
    'lockstep: monitor silence: --until: "tomorrowish" is no time'
cases_end
[ $failed = 0 ] || explain
exit $failed
