#!/bin/bash
# Tasks of type http: the request that is sent, the hosts that may be called, the answers that are failures,
# Retry-After, limits, certificates, a time-out, a cancel, an executor that is killed.
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
http_three
cat >"$tmp/lockstep.conf" <<END
[http]
allow = 127.0.0.1:$plain, localhost:$tls, [::1]:9, *.example.invalid:*
response_limit = 1000B
ca_file = $tmp/cert.pem
timeout = 5s
END
export LOCKSTEP_CONFIG=$tmp/lockstep.conf http_proxy=http://127.0.0.1:9/ https_proxy=http://127.0.0.1:9/
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 6 --max-attempts 1 --on-failure continue
task() { printf '{"order": %s, "name": "%s", "url": "%s"%s}\n' "$1" "$2" "$3" "${4:+, $4}"; }
at=http://127.0.0.1:$plain
{
    task 1 get "$at/echo/get?a=b"
    task 1 post "$at/echo/post" '"body": "{}", "headers": {"X-A": "é \"q\"", "X-Empty": "", "User-Agent": "me"}'
    task 1 put "$at/echo/put" \
        '"method": "PUT", "body": "x=1", "headers": {"Content-Type": "text/plain", "Idempotency-Key": "mine"}'
    task 1 head "$at/echo/head" '"method": "HEAD"'
    task 1 delete "$at/echo/delete" '"method": "DELETE"'
    task 1 tls "https://localhost:$tls/echo/tls"
    task 1 'another spelling' "http://0x7f.1:$plain/echo/hex"
    task 2 404 "$at/status/404" '"max_attempts": 3'
    task 2 500 "$at/status/500" '"max_attempts": 2, "retry_intervals": [0.05]'
    task 2 409 "$at/status/409" '"max_attempts": 2, "retry_intervals": [0.05]'
    task 2 204 "$at/status/204"
    task 2 redirect "$at/redirect"
    task 2 elsewhere "$at/elsewhere/127.0.0.1:$other/stolen"
    task 2 headers "$at/headers/100000000"
    task 2 big "$at/big"
    task 2 binary "$at/binary"
    task 2 close "$at/close"
    task 2 refused 'http://[::1]:9/'
    task 2 nowhere 'http://x.example.invalid/'
    task 2 'wrong name' "https://localhost:$plain/" # a server that does not speak TLS: not allowed, another port
    task 2 'user name' "http://127.0.0.1:$plain@localhost:1/"
    task 3 seconds "$at/retry/2" '"max_attempts": 2, "retry_intervals": [0.05]'
    task 3 date "$at/retry/date" '"max_attempts": 2, "retry_intervals": [0.05]'
    task 3 'interval' "$at/retry/0" '"max_attempts": 2, "retry_intervals": [1]'
    task 3 slow "$at/slow/60"
    task 3 'own time-out' "$at/slow/60" '"timeout": 0.3'
    task 3 'longer than usual' "$at/slow/6" '"timeout": 30'
} | grep -v 'wrong name' >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 6
executors_wait || { tail -20 "$tmp/$q".*.log; failed=1; }
of() { sql "SELECT $2 FROM lockstep.task t WHERE t.name = '$1'"; }
expect 'outcomes' "$(sql "SELECT string_agg(t.name || '=' || t.status || '/' || t.attempt_num, ', ' ORDER BY t.seq)
    FROM lockstep.task t")" \
    'get=Completed/1, post=Completed/1, put=Completed/1, head=Completed/1, delete=Completed/1, tls=Completed/1, another spelling=Completed/1, 404=Failed/1, 500=Failed/2, 409=Failed/2, 204=Completed/1, redirect=Failed/1, elsewhere=Failed/1, headers=Failed/1, big=Completed/1, binary=Completed/1, close=Failed/1, refused=Failed/1, nowhere=Failed/1, user name=Failed/1, seconds=Completed/2, date=Completed/2, interval=Completed/2, slow=Failed/1, own time-out=Failed/1, longer than usual=Completed/1'
expect 'type' "$(sql "SELECT DISTINCT type FROM lockstep.task")" http
expect 'get' "$(of get response | jq -c '[.method, .body, .headers.accept, .headers["idempotency-key"]]')" \
    "[\"GET\",\"\",\"*/*\",\"$run-0\"]"
expect 'post' "$(of post response |
    jq -c '[.method, .body, .headers["content-type"], .headers["x-empty"], .headers["user-agent"]]')" \
    '["POST","{}","application/json","","me"]'
expect 'put' "$(of put response | jq -c '[.method, .body, .headers["content-type"], .headers["idempotency-key"]]')" \
    '["PUT","x=1","text/plain","mine"]'
expect 'a status that is final' "$(of 404 "error || ' ' || response")" "http 127.0.0.1:$plain: status 404 because"
expect 'the same key at each attempt' \
    "$(jq -r 'select(.path == "/status/500") | .key' "$tmp/plain/requests" | sort | uniq -c | tr -s ' ')" " 2 $run-8"
expect 'a redirect' "$(of redirect error)" \
    "http 127.0.0.1:$plain: status 302, a redirect, which is not followed, to /echo/redirected"
expect 'and is not followed' "$(grep -c redirected "$tmp/plain/requests")" 0
expect 'nor is one to a host that may not be called' "$(of elsewhere error) $(wc -l 2>/dev/null <"$tmp/other/requests" || true)" "http 127.0.0.1:$plain: status 302, a redirect, which is not followed, to http://127.0.0.1:$other/stolen "
expect 'headers without end' "$(of headers error)" \
    "http 127.0.0.1:$plain: the headers of its answer are larger than 256 kB"
expect 'a gigabyte is cut' "$(of big "length(response) || right(response, 23)")" $'1023\n[cut after 1000 bytes]'
eventually 10 grep -q /big "$tmp/plain/hung_up" || failed=1
expect 'bytes that are no text' "$(of binary "encode(convert_to(response, 'UTF8'), 'hex')")" \
    '61efbfbdefbfbd62c3a963efbfbd'
expect 'a URL with a user name' "$(of 'user name' error)" \
    'http: the URL holds a user name: give an Authorization header instead'
expect 'nobody listens' "$(of refused "error ~ '^http \[::1\]:9: Failed to connect'")" t
expect 'no such host' "$(of nowhere "error ~ '^http x.example.invalid:80: Could not resolve'")" t
waited() { jq -s "[.[] | select(.path == \"$1\") | .at] | .[1] - .[0] | . >= $2 and . < $3" "$tmp/plain/requests"; }
expect 'Retry-After in seconds' "$(waited /retry/2 2 8)" true
expect 'Retry-After as a date' "$(waited /retry/date 1.9 9)" true
expect 'never sooner than the interval' "$(waited /retry/0 1 7)" true
expect 'the time-out of the configuration' "$(of slow "error ~ 'timed out' AND duration BETWEEN '4.9 s' AND '20 s'")" t
expect 'the time-out of the task' "$(of 'own time-out' error)" '57014: time-out: the attempt ran for longer than 0.3 s'

case_begin 'an unknown authority, a cancel and a killed executor end a request as they should'
sed -i '/ca_file/d; s/^timeout.*/timeout = 100s/' "$tmp/lockstep.conf"
{
    task 1 unknown "https://localhost:$tls/echo/unknown"
    task 2 cancelled "$at/slow/90"
    task 3 killed "$at/slow/2.001"
} >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 1 "$q" 6
arrived() { grep -qs "\"$1\"" "$tmp/plain/requests"; }
eventually 20 arrived /slow/90 || { tail -5 "$tmp/$q".*.log; exit 1; }
expect 'an authority that is not known' "$(of unknown "error ~ 'certificate'")" t
eventually 10 lockstep task cancel -q "$(of cancelled t.task_id)" >/dev/null
eventually 10 is "SELECT status FROM lockstep.task WHERE name = 'cancelled'" Terminated || failed=1
eventually 20 arrived /slow/2.001 || exit 1
kill -9 "${executors[0]}"
executors 1 "$q" 6
executors_wait || failed=1
expect 'after a kill' "$(of killed "status || '/' || attempt_num || '/' || response")" Completed/2/late
expect 'the same key again' \
    "$(jq -r 'select(.path == "/slow/2.001") | .key' "$tmp/plain/requests" | uniq -c | tr -s ' ')" " 2 $run-2"

case_begin 'a server may ask for a pause of at most a day'
{
    task 1 much "$at/retry/999999999" '"max_attempts": 2'
    task 1 'too much' "$at/retry/99999999999999999999999999" '"max_attempts": 2'
    task 1 'some day' "$at/retry/Fri,%2031%20Dec%209999%2023:59:59%20GMT" '"max_attempts": 2'
    task 1 'long ago' "$at/retry/Thu,%2001%20Jan%201970%2000:00:00%20GMT" '"max_attempts": 2, "retry_intervals": [600]'
    task 1 less "$at/retry/-5" '"max_attempts": 2, "retry_intervals": [600]'
    task 1 soon "$at/retry/soon" '"max_attempts": 2, "retry_intervals": [600]'
} >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 6 2>>"$tmp/last.log" &
last=$!
eventually 20 is "SELECT count(*) FROM lockstep.task t JOIN lockstep.run r USING (run_no)
    WHERE r.run_id = '$run' AND t.status = 'Error'" 6 || { tail -5 "$tmp/last.log"; failed=1; }
expect 'absurd words of a server' \
    "$(sql "SELECT string_agg(t.name || ' ' || round(extract(epoch FROM t.scheduled_for - t.updated_at) / 60), ', '
                              ORDER BY t.seq)
        FROM lockstep.task t JOIN lockstep.run r USING (run_no) WHERE r.run_id = '$run'")" \
    'much 1440, too much 1440, some day 1440, long ago 10, less 10, soon 10'
lockstep run cancel "$run" -q >/dev/null
kill -TERM "$last"
wait "$last" || failed=1

case_begin 'a request goes through the proxy of the configuration, whatever NO_PROXY says'
echo 'proxy = http://127.0.0.1:9/' >>"$tmp/lockstep.conf"
task 1 proxied "$at/echo/proxied" >"$tmp/tasks.jsonl"
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
export NO_PROXY='*'
executors 1 "$q" 1
executors_wait || failed=1
expect 'a proxy at which nothing listens' \
    "$(of proxied "t.status || ' ' || (error ~ 'connect to 127.0.0.1 port 9 ')")" \
    'Failed true'
cases_end
exit $failed
