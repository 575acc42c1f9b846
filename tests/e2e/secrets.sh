#!/bin/bash
# Secrets of the configuration: headers for a host, variables for a command. They reach it, nothing else, and are
# nowhere to be read: not in the database, not on the topic, not in the log, not in config show.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/http.bash"
http_three
token=hush1ngT0ken variable=hush1ngVariable later=hush1ngLater
cat >"$tmp/tell" <<'END'
#!/bin/sh
printf '%s' "$API_TOKEN" >>"$1"
echo "in the output: $API_TOKEN"
echo "in the error: $API_TOKEN" >&2
exit "$2"
END
chmod 755 "$tmp/tell"
configure() { # TOKEN
    cat >"$tmp/lockstep.conf" <<END
[commands]
tell = $tmp/tell
bare = $tmp/tell
[command:tell]
env.API_TOKEN = $variable
[http]
allow = 127.0.0.1:*, localhost:$tls
ca_file = $tmp/cert.pem
[http:localhost:$tls]
header.Authorization = Bearer $1
[http:127.0.0.1:$plain]
header.X-Api-Key = $1
plain = on
[http:127.0.0.1:$other]
header.Authorization = Bearer $1
END
    chmod 600 "$tmp/lockstep.conf"
}
export LOCKSTEP_CONFIG=$tmp/lockstep.conf
configure "$token"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --on-failure continue
"$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 4 -v -v 2>"$tmp/log" &
executor=$!
publish() { lockstep publish --queue "$q" -q --wait - >/dev/null || true; }
case_begin 'a request has the secret header of its host, over http only if allowed, and a redirect takes nothing along'
publish <<END
{"order": 1, "name": "tls", "url": "https://localhost:$tls/echo/tls", "headers": {"authorization": "of the message", "X-Api-Key": "mine"}}
{"order": 1, "name": "plain", "url": "http://127.0.0.1:$plain/echo/plain"}
{"order": 1, "name": "redirect", "url": "http://127.0.0.1:$plain/elsewhere/127.0.0.1:$other/stolen"}
{"order": 1, "name": "refused", "url": "http://127.0.0.1:$other/echo/refused"}
{"order": 1, "name": "told", "command": "tell", "args": ["$tmp/seen", "0"]}
{"order": 1, "name": "failed", "command": "tell", "args": ["$tmp/seen", "3"]}
{"order": 1, "name": "bare", "command": "bare", "args": ["$tmp/bare", "0"]}
END
of() { sql "SELECT $2 FROM lockstep.task t WHERE t.name = '$1'"; }
stars() { printf '%*s' "${#1}" '' | tr ' ' '*'; }
expect 'the header of a host over TLS, instead of that of the message' \
    "$(of tls response | jq -c '[.headers.authorization, .headers["x-api-key"]]')" \
    "[\"$(stars "Bearer $token")\",\"mine\"]"
expect 'over http, where it is allowed' \
    "$(of plain response | jq -c '[.headers["x-api-key"], .headers.authorization]')" "[\"$(stars "$token")\",null]"
expect 'a redirect takes nothing along' "$(of redirect error) $(cat "$tmp/other/requests" 2>/dev/null)" "http 127.0.0.1:$plain: status 302, a redirect, which is not followed, to http://127.0.0.1:$other/stolen "
expect 'over http, where it is not' "$(of refused "status || ' ' || attempt_num || ' ' || error")" \
    "Failed 1 http 127.0.0.1:$other: the headers of [http:127.0.0.1:$other] are not sent without encryption: use https, or set plain = on there"
case_begin 'a command has its secret variable, and its output has stars in place of the secret'
expect 'the command has it' "$(cat "$tmp/seen")" "$variable$variable"
expect 'its output has not' "$(of told response)" "in the output: $(stars "$variable")"
expect 'its error has not' "$(sql "SELECT a.error FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id)
    WHERE t.name = 'failed'")" \
    "command tell: exit code 3: in the error: $(stars "$variable")"
expect 'another command has nothing' "$(of bare response) $(wc -c <"$tmp/bare")" 'in the output:  0'

case_begin 'after a reload the next request has the new secret'
configure "$later"
kill -HUP "$executor"
eventually 10 grep -q 'event=reloaded' "$tmp/log"
publish <<END
{"order": 1, "name": "later", "url": "https://localhost:$tls/echo/later"}
END
expect 'after a reload' "$(of later response | jq -r .headers.authorization)" "$(stars "Bearer $later")"

case_begin 'no secret is in the log, in the database, on the topic or in the output of a command'
told_to_end "$executor"
{
    cat "$tmp/log"
    "$LOCKSTEP_TEST_PGBIN/pg_dump" --data-only "$db"
    kcat -C -e -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -f '%k %h %s\n'
    lockstep config show --origin
    lockstep check 2>&1 || true
    for name in tls failed refused; do lockstep task show "$(of "$name" task_id)"; done
    lockstep run explain --latest
} >"$tmp/everything"
[ "$(wc -l <"$tmp/everything")" -gt 100 ]
expect 'nobody says it' "$(grep -n 'hush1ng' "$tmp/everything")" ''
cases_end
exit $failed
