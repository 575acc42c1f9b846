#!/bin/bash
# SIGHUP: an executor reads its configuration again. It executes what it lacked a section for, running tasks continue as
# they began, and a file with an error leaves the values of before in force.
. "$(dirname "$0")/../support/e2e.bash"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
act="$here/../support/act $tmp/act"
printf '[log]\nlevel = info\n' >"$LOCKSTEP_CONFIG"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 3 --max-attempts 1 --on-failure continue
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 2>"$tmp/log" &
pid=$!
publish() { printf '%s\n' "$@" | lockstep publish --queue "$q" -q -; }
status() { is "SELECT status FROM lockstep.task t WHERE t.name = '$1'" "$2"; }
reload() { # HOW OFTEN it has said WORD by then
    kill -HUP "$pid"
    eventually 10 eval "[ \$(grep -c 'event[=\":]*$2' '$tmp/log') = $1 ]" || { tail -5 "$tmp/log"; failed=1; }
}
run=$(publish '{"order": 1, "name": "first", "command": "act", "args": ["span", "0"]}')
eventually 20 eval \
    "lockstep run explain $run | grep -q 'needs command:act, which none of the executors of its queue (1) has in its configuration'" ||
    failed=1

printf '[commands]\nact = %s\n' "$act" >"$LOCKSTEP_CONFIG"
reload 1 reloaded
eventually 10 status first Completed || failed=1

case_begin 'a reload takes a command away while it runs, and a wrong file changes nothing'
publish '{"order": 1, "name": "running", "command": "act", "args": ["span", "2"]}' >/dev/null
eventually 10 eval "[ \$(grep -c ^start '$tmp/act') = 2 ]"
printf '[commands]\nact = bin/act\nother = %s\n[http]\nallow = h/\n' "$act" >"$LOCKSTEP_CONFIG"
reload 1 reload_refused
grep -q "event=reload_refused.*$LOCKSTEP_CONFIG:2: \|event=reload_refused.*$LOCKSTEP_CONFIG:2" "$tmp/log" ||
    { echo 'the refusal names no line:'; grep reload_refused "$tmp/log"; failed=1; }
expect 'it was refused' "$(grep -c 'event=reloaded' "$tmp/log")" 1
printf '[commands]\nother = %s args\n[log]\nformat = json\n' "$act" >"$LOCKSTEP_CONFIG"
reload 2 reloaded
expect 'the log has its new format' "$(tail -1 "$tmp/log" | jq -r .event)" reloaded
eventually 10 status running Completed || failed=1
expect 'what ran went on as it began' "$(grep -c ^end "$tmp/act")" 2
publish '{"order": 1, "name": "gone", "command": "act", "args": ["span", "0"]}' \
    '{"order": 1, "name": "new", "command": "other", "args": ["x"]}' >/dev/null
eventually 10 status new Completed || failed=1
eventually 10 is "SELECT needs FROM lockstep.task t WHERE t.name = 'gone'" '{command:act}' || failed=1
rm "$LOCKSTEP_CONFIG"
reload 2 reload_refused
printf '[commands]\nact = %s\n' "$act" >"$LOCKSTEP_CONFIG"
reload 3 reloaded
eventually 10 status gone Completed || failed=1

case_begin 'a reload whose statement fails is noted later, and the incarnation continues'
publish '{"order": 1, "name": "unable", "command": "other", "args": ["y"]}' >/dev/null
eventually 10 is "SELECT unable <> '{}' FROM lockstep.executor WHERE ended_at IS NULL" t || failed=1
sql "CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN RAISE ''No space left on device'' USING ERRCODE = ''53100''; END';
     CREATE TRIGGER disk_full BEFORE UPDATE OF unable ON lockstep.executor FOR EACH ROW WHEN (NEW.unable = '{}')
     EXECUTE FUNCTION disk_full()"
printf '[commands]\nother = %s args\n' "$act" >"$LOCKSTEP_CONFIG"
reload 4 reloaded
reload_noted_not() { grep -q 'event=abilities_not_noted' "$tmp/log"; }
eventually 10 reload_noted_not || wrong 'the statement of the reload does not fail'
sql 'DROP TRIGGER disk_full ON lockstep.executor'
eventually 20 status unable Completed || failed=1
if grep -q 'event=incarnation_lost' "$tmp/log"; then wrong 'a reload costs the incarnation'; fi
kill -TERM "$pid"
wait "$pid" || failed=1
cases_end
exit $failed
