#!/bin/bash
# Tasks of type command: the registered program, its arguments unchanged, a clean environment, its input, its output up
# to a limit, its exit, its limits, a time-out, a cancel, and the files and processes that it leaves.
# ctest: timeout=90
. "$(dirname "$0")/../support/e2e.bash"
act=$here/../support/act
cat >"$tmp/lockstep.conf" <<END
[commands]
act = $act $tmp/done
fixed = $act $tmp/done args "two words" 'a"b' c\\ d "\$HOME"
small = $act $tmp/done
cut = $act $tmp/done
missing = /nonexistent/program
plain = /etc/passwd
[command:cut]
output_limit = 10B
[command:small]
directory = /tmp
cpu_limit = 1s
memory_limit = 256MB
open_files = 33
processes = 4000
file_limit = 100kB
kill_after = 300ms
path = /usr/bin:/bin
END
chmod 700 "$tmp"
export LOCKSTEP_CONFIG=$tmp/lockstep.conf SECRET_OF_THE_EXECUTOR=1
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --max-attempts 1 --on-failure continue
cat >"$tmp/tasks.jsonl" <<'END'
{"order": 1, "name": "args", "command": "act", "args": ["args", "", "a b", "$(id)", "-n", "é\n'\"\\"]}
{"order": 1, "name": "fixed", "type": "command", "command": "fixed", "args": ["x"]}
{"order": 1, "name": "env", "command": "act", "args": ["env"]}
{"order": 1, "name": "input", "command": "act", "args": ["cat"], "input": "one\ntwo"}
{"order": 1, "name": "no input", "command": "act", "args": ["cat"]}
{"order": 1, "name": "input that is not read", "command": "act", "args": ["args", "k"], "input": "INPUT"}
{"order": 2, "name": "exit 3", "command": "act", "args": ["exit", "3"]}
{"order": 2, "name": "signal", "command": "act", "args": ["signal", "SEGV"]}
{"order": 2, "name": "missing", "command": "missing"}
{"order": 2, "name": "plain", "command": "plain"}
{"order": 2, "name": "cut", "command": "cut", "args": ["flood", "1073741824"]}
{"order": 2, "name": "binary", "command": "act", "args": ["binary"]}
{"order": 2, "name": "limits", "command": "small", "args": ["limits"]}
{"order": 2, "name": "burn", "command": "small", "args": ["burn"]}
{"order": 2, "name": "file", "command": "small", "args": ["write", "FILE", "200000"]}
{"order": 2, "name": "fds", "command": "act", "args": ["fds"]}
{"order": 2, "name": "shout", "command": "act", "args": ["shout", "10000000"]}
{"order": 2, "name": "left", "command": "act", "args": ["left"]}
{"order": 3, "name": "deaf", "command": "small", "args": ["deaf"], "timeout": 0.3, "max_attempts": 2, "retry_intervals": [0.05]}
{"order": 3, "name": "polite", "command": "act", "args": ["polite"], "timeout": 0.3}
{"order": 3, "name": "family", "command": "act", "args": ["family", "60"], "timeout": 3}
{"order": 4, "name": "again", "command": "act", "args": ["exit", "75"], "max_attempts": 3, "retry_intervals": [0.05]}
{"order": 5, "name": "sql", "sql": "SELECT 1"}
END
python3 - "$tmp/tasks.jsonl" <<'END'
import sys
path = sys.argv[1]
text = open(path).read().replace('INPUT', 'x' * 900000).replace('FILE', path + '.written')
open(path, 'w').write(text)
END
case_begin 'each command ends as its program does, and is tried again where its task says so'
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 4
executors_wait || { tail -20 "$tmp/$q".*.log; failed=1; }
of() { sql "SELECT $2 FROM lockstep.task t WHERE t.name = '$1'"; }
expect 'outcomes' "$(sql "SELECT string_agg(t.name || '=' || t.status || '/' || t.attempt_num, ', ' ORDER BY t.seq)
    FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" \
    'args=Completed/1, fixed=Completed/1, env=Completed/1, input=Completed/1, no input=Completed/1, input that is not read=Completed/1, exit 3=Failed/1, signal=Failed/1, missing=Failed/1, plain=Failed/1, cut=Completed/1, binary=Completed/1, limits=Completed/1, burn=Failed/1, file=Failed/1, fds=Completed/1, shout=Failed/1, left=Completed/1, deaf=Failed/2, polite=Failed/1, family=Failed/1, again=Failed/3, sql=Completed/1'
expect 'types' "$(sql "SELECT type, count(*) FROM lockstep.task GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" \
    'command|22 sql|1 '
case_begin 'a program has its arguments as they are, a clean environment and its input'
expect 'arguments, without a shell' "$(of args response)" $'<>\n<a b>\n<$(id)>\n<-n>\n<é\n\'"\\>'
expect 'fixed arguments, then those of the task' "$(of fixed response)" $'<two words>\n<a"b>\n<c d>\n<$HOME>\n<x>'
expect 'a clean environment' "$(of env response | sed 's/=.*//' | grep -v -e '^_$' -e '^PWD$' -e '^SHLVL$' | xargs)" \
    'LOCKSTEP_ATTEMPT LOCKSTEP_OFFSET LOCKSTEP_ORDER LOCKSTEP_QUEUE LOCKSTEP_RUN LOCKSTEP_SEQ LOCKSTEP_TASK LOCKSTEP_TOKEN PATH'
expect 'what it is told' \
    "$(of env response | grep -E '^(LOCKSTEP_(ATTEMPT|ORDER|QUEUE|RUN|SEQ)|PATH)=' | tr '\n' ' ')" \
    "LOCKSTEP_ATTEMPT=1 LOCKSTEP_ORDER=1 LOCKSTEP_QUEUE=$q LOCKSTEP_RUN=$run LOCKSTEP_SEQ=2 PATH=/usr/local/bin:/usr/bin:/bin "
expect 'input' "$(of input response)" $'one\ntwo'
case_begin 'a failed attempt has the exit code or the signal, and the last line that the program wrote'
expect 'an exit code, with what it said last' "$(of 'exit 3' error)" 'command act: exit code 3: this is why: 3'
expect 'all of what it said' "$(sql "SELECT detail FROM lockstep.execution_log WHERE error LIKE '%exit code 3%'")" \
    $'on its way\nthis is why: 3'
expect 'a signal' "$(of signal error)" 'command act: killed by signal 11 (Segmentation fault)'
expect 'a program that is not there' "$(of missing error)" \
    'command missing: cannot execute (/nonexistent/program): No such file or directory'
expect 'one that is none' "$(of plain error)" 'command plain: cannot execute (/etc/passwd): Permission denied'
case_begin 'output is cut at its limit, and bytes that are no text are replaced'
expect 'a gigabyte is cut' "$(of cut response)" $'xxxxxxxxxx\n[cut: 10 of 1073741824 bytes]'
expect 'bytes that are no text' "$(of binary "encode(convert_to(response, 'UTF8'), 'hex')")" \
    '61efbfbdefbfbd62c3a963efbfbd'
case_begin 'a program has the limits of its command, and fails with the name of the one that it exceeds'
expect 'limits' \
    "$(of limits response | sed -n -e 's/^cpu time .* //p' -e 's/^virtual memory .* //p' -e 's/^open files .* //p' \
        -e 's/^max user processes .* //p' -e 's/^core file size .* //p' -e '/^\//p' | sort -n | xargs)" \
    '/tmp 0 1 33 4000 262144'
expect 'the processor limit' "$(of burn error)" \
    'command small: killed by signal 24 (CPU time limit exceeded), its cpu_limit'
expect 'the limit of a file' "$(of file error) $(wc -c <"$tmp/tasks.jsonl.written")" \
    'command small: killed by signal 25 (File size limit exceeded) 102400'
case_begin 'a program has no open file of the executor'
expect 'nothing of the executor is open' "$(of fds response | xargs)" '0 1 2 3' # the last is its list
case_begin 'the end of ten megabytes on standard error is kept'
expect 'the last line of what it said' "$(of shout error)" 'command act: exit code 4: the last word'
expect 'the end of what it said, of ten megabytes' \
    "$(sql "SELECT split_part(detail, E'\n', 1), length(detail), right(detail, 17) FROM lockstep.execution_log
        WHERE error LIKE '%exit code 4%'")" \
    $'[the last 4096 of 10000015 bytes]|4130|yy\nthe last word'
case_begin 'a program that runs beyond its time-out is ended, whether it obeys or not'
expect 'a time-out' "$(of deaf "error || ' ' || (duration BETWEEN '0.3 s' AND '5 s')")" \
    '57014: time-out: the attempt ran for longer than 0.3 s true'
expect 'a time-out that is obeyed is one' "$(of polite error)" '57014: time-out: the attempt ran for longer than 0.3 s'
case_begin 'no process that a program started is left'
nobody() {
    local pid
    while read -r pid; do
        ! kill -0 "$pid" 2>/dev/null ||
            { echo "process $pid is left: $(tr '\0' ' ' <"/proc/$pid/cmdline")"; return 1; }
    done < <(cat "$tmp/done.pids" "$tmp/done.left")
}
expect 'processes that were started' "$(cat "$tmp/done.pids" "$tmp/done.left" | wc -l)" 6
nobody || failed=1
expect 'runners that are left' "$(pgrep -c -P $$ lockstep || true)" 0
cases_end
exit $failed
