#!/bin/bash
# A command that runs as another user: that user's ids and groups, rights and limits, and whose processes are ended all
# the same. Only root may do that; any other executor fails such a task with the reason, and runs the others.
# ctest: notsan
. "$(dirname "$0")/../support/e2e.bash"
[ "$(id -u)" = 0 ] || { echo 'command_user.sh: not checked, only root becomes another user'; exit 0; }
chmod 755 "$tmp"
cp "$here/../support/act" "$LOCKSTEP_BIN" "$tmp"
chmod 755 "$tmp"/*
install -d -o nobody "$tmp/nobodys"
install -d -m 700 "$tmp/ours"
cat >"$tmp/lockstep.conf" <<END
[commands]
own = $tmp/act $tmp/own
nobody = $tmp/act $tmp/nobodys/file
secret = /bin/cat $tmp/ours/secret
outside = /bin/true
hidden = $tmp/ours/act
root = $tmp/act $tmp/own who
[command:nobody]
user = nobody
directory = $tmp/nobodys
kill_after = 200ms
open_files = 40
processes = 3000
[command:secret]
user = nobody
[command:outside]
user = nobody
directory = $tmp/ours
[command:hidden]
user = nobody
[command:root]
user = root
END
echo secret >"$tmp/ours/secret"
cp "$tmp/act" "$tmp/ours/act"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "name": "own", "command": "own", "args": ["who"]}
{"order": 1, "name": "nobody", "command": "nobody", "args": ["who"]}
{"order": 1, "name": "limits", "command": "nobody", "args": ["limits"]}
{"order": 1, "name": "secret", "command": "secret"}
{"order": 1, "name": "outside", "command": "outside"}
{"order": 1, "name": "hidden", "command": "hidden"}
{"order": 1, "name": "root", "command": "root"}
{"order": 2, "name": "family", "command": "nobody", "args": ["family", "60"], "timeout": 3}
END
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --max-attempts 1 --on-failure continue
case_begin 'a command runs with the ids, groups, directory and limits of its user'
lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
executors 1 "$q" 4
executors_wait || { tail -20 "$tmp/$q".*.log; failed=1; }
of() { sql "SELECT $2 FROM lockstep.task t WHERE t.name = '$1'"; }
outcomes() { sql "SELECT string_agg(t.name || '=' || t.status, ', ' ORDER BY t.seq) FROM lockstep.task t"; }
groups() { id -G "$1" | tr ' ' ','; }
expect 'outcomes' "$(outcomes)" \
    'own=Completed, nobody=Completed, limits=Completed, secret=Failed, outside=Failed, hidden=Failed, root=Completed, family=Failed'
expect 'without a user it is the executor' "$(of own response)" "0 0 $(id -G | tr ' ' ',') /   no home 0022"
expect 'another user, whole' "$(of nobody response)" \
    "$(id -u nobody) $(id -g nobody) $(groups nobody) $tmp/nobodys nobody nobody no home 0022"
expect 'limits of another user' \
    "$(of limits response | sed -n -e 's/^open files .* //p' -e 's/^max user processes .* //p' | xargs)" '40 3000'
case_begin 'a command of another user fails at an act that this user may not do, with the reason'
expect 'what it may not read' "$(of secret error)" \
    "command secret: exit code 1: /bin/cat: $tmp/ours/secret: Permission denied"
expect 'where it may not be' "$(of outside error)" \
    "command outside: cannot change to its directory ($tmp/ours): Permission denied"
expect 'what it may not execute' "$(of hidden error)" \
    "command hidden: cannot execute ($tmp/ours/act): Permission denied"
case_begin 'processes of another user are ended at the time-out'
expect 'the processes of another user' "$(wc -l <"$tmp/nobodys/file.pids")" 5
while read -r p; do ! kill -0 "$p" 2>/dev/null || { wrong "process $p is left"; }; done <"$tmp/nobodys/file.pids"

case_begin 'an executor that is not root runs commands as itself, and fails those of another user with the reason'
q=$(scratch_name)
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "name": "plain", "command": "own", "args": ["who"]}
{"order": 1, "name": "itself", "command": "nobody", "args": ["who"]}
{"order": 1, "name": "higher", "command": "root"}
END
lockstep queue create "$q" -q --create-topic --max-readers 4 --max-attempts 1 --on-failure continue
lockstep publish --queue "$q" -q "$tmp/tasks.jsonl" >/dev/null
setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$tmp/${LOCKSTEP_BIN##*/}" executor run -d "$db" \
    -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 3 --until-idle 2>"$tmp/nobody.log" ||
    { cat "$tmp/nobody.log"; failed=1; }
nobody="$(id -u nobody) $(id -g nobody)"
expect 'the user that it is already needs no right' "$(of itself "t.status || ' ' || t.response")" \
    "Completed $nobody $(id -g nobody) $tmp/nobodys nobody nobody no home 0022"
expect 'a command without a user' "$(of plain response)" "$nobody $(id -g nobody) /   no home 0022"
expect 'only root becomes another user' "$(of higher "t.status || ': ' || t.error")" \
    'Failed: command root: cannot become its user (root): Operation not permitted'
cases_end
exit $failed
