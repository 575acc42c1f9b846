#!/bin/bash
# Bytes at the console's socket: a request that two readers could understand in two ways is refused and its connection
# closed; one that is only unusual is answered like any other.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
. "$here/../support/console.bash"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic >/dev/null
console_start -s console.login=none
cat >"$tmp/raw.py" <<'END'
import re, socket, ssl, sys, time, urllib.parse
at = urllib.parse.urlparse(sys.argv[1])
host = at.netloc.encode()


def talk(data):
    """The statuses that come for these bytes, and whether the server closes."""
    s = socket.create_connection((at.hostname, at.port), timeout=10)
    if at.scheme == 'https':
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        s = context.wrap_socket(s)
    try:
        s.sendall(data)
    except OSError:
        pass
    got, closed = b'', False
    s.settimeout(0.7)
    until = time.monotonic() + 12
    while time.monotonic() < until:
        try:
            more = s.recv(65536)
        except (TimeoutError, ssl.SSLError):
            if got:
                break
            continue
        except OSError:
            closed = True
            break
        if not more:
            closed = True
            break
        got += more
    s.close()
    return ' '.join(m.decode() for m in re.findall(rb'HTTP/1\.1 (\d\d\d)', got)) + (' closed' if closed else ''), got


failed = 0


def expect(name, wanted, data):
    global failed
    said, got = talk(data.replace(b'HOST', host))
    if not re.fullmatch(wanted, said):
        failed = 1
        print('%s:\n  is     %s\n  wanted %s\n  %r' % (name, said, wanted, got[:300]))


def get(path=b'/livez', headers=b'', body=b'', method=b'GET', first=b'Host: HOST\r\n'):
    return method + b' ' + path + b' HTTP/1.1\r\n' + first + headers + b'\r\n' + body


def post(headers, body):
    return get(b'/api/v1/schedules/explain', b'Content-Type: application/json\r\n' + headers, body, b'POST')


json = b'{"rule": {"kind": "cron", "expr": "0 2 * * *"}}'
length = b'Content-Length: %d\r\n' % len(json)
chunked = b'%x\r\n%s\r\n0\r\n\r\n' % (len(json), json)
exec(sys.stdin.read())
sys.exit(failed)
END
raw() { python3 "$tmp/raw.py" "$url"; }

case_begin 'what is only unusual is answered'
raw <<'END' || failed=1
expect('plain', '200', get())
expect('two requests behind one another', '200 200', get() + get())
expect('a body of a length', '200', post(length, json))
expect('a body in chunks', '200', post(b'Transfer-Encoding: chunked\r\n', chunked))
expect('one that says so in capitals', '200', post(b'Transfer-Encoding: CHUNKED\r\n', chunked))
expect('a whole address as its target', '200', get(b'http://HOST/livez'))
expect('with a query', '200', get(b'http://HOST/api/v1/queues?limit=1'))
expect('and none behind the host', '200', get(b'http://HOST'))
END
expect 'raw' "$?" 0

case_begin 'what can be understood in two ways is refused, once, and its connection closed'
raw <<'END' || failed=1
expect('two hosts', '400 closed', get(headers=b'Host: HOST\r\n'))
expect('two hosts that differ', '400 closed', get(headers=b'Host: evil.example\r\n'))
smuggled = get(b'/livez')
itself = r'400 (400 )?closed'  # libmicrohttpd refuses it, and in 0.9.75 says so twice
expect('no host', itself, get(first=b''))
expect('a length and chunks', '400 closed', post(length + b'Transfer-Encoding: chunked\r\n', chunked + smuggled))
expect('chunks and a length', '400 closed', post(b'Transfer-Encoding: chunked\r\n' + length, chunked + smuggled))
expect('two lengths', '400 closed', post(length + b'Content-Length: 3\r\n', json + smuggled))
expect('a list of lengths', itself, post(b'Content-Length: 3, 3\r\n', json + smuggled))
expect('another coding', '400 closed', post(b'Transfer-Encoding: gzip\r\n', chunked + smuggled))
expect('chunks within another coding', '400 closed', post(b'Transfer-Encoding: gzip, chunked\r\n', chunked + smuggled))
expect('two codings', '400 closed', post(b'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n', chunked + smuggled))
expect('a negative length', itself, post(b'Content-Length: -1\r\n', json + smuggled))
expect('no length', itself, post(b'Content-Length: x\r\n', json + smuggled))
expect('a target of another host', '400', get(b'http://evil.example/livez'))
expect('a target that is no path', '400', get(b'livez'))
expect('a star', '400', get(b'*', method=b'OPTIONS'))
expect('a NUL in the path', '400', get(b'/livez%00x'))
expect('a NUL in a segment', '400', get(b'/api/v1/queues/a%00b'))
END
expect 'raw' "$?" 0

case_begin 'what can only be read says so to one who would change it'
for path in livez metrics runs; do
    api POST $path '{}'
    expect "$path" "$status $(sed -nE 's/^Allow: (.*)\r/\1/Ip' "$tmp/headers") $(api_is .hint)" \
        '405 GET, HEAD Changes are made below api/v1/; api/v1/openapi.json lists them.'
done

case_begin 'what cannot be a token is none, whatever its bytes are'
raw <<'END' || failed=1
for token in (b'\xff' * 64, b'x' * 64, b'0' * 63, b'0' * 65, b'0' * 64):
    expect('%r' % token, '401', get(b'/api/v1/queues', b'Authorization: Bearer ' + token + b'\r\n'))
END
expect 'raw' "$?" 0

case_begin 'a body that is too large is answered 413, however it comes'
raw <<'END' || failed=1
large = b'x' * 1200000
expect('of a length', '413 closed', post(b'Content-Length: 1200000\r\n', large))
pieces = b''.join(b'186a0\r\n' + b'x' * 100000 + b'\r\n' for _ in range(12)) + b'0\r\n\r\n'
expect('in chunks', '413', post(b'Transfer-Encoding: chunked\r\n', pieces))
END
expect 'raw' "$?" 0

console_stop

case_begin 'at a Unix socket the Host is localhost or one of [console] hosts, or any if there are none'
hears() { curl -s -m 10 -o /dev/null -w '%{http_code}' --unix-socket "$tmp/socket" "http://$1/api/v1/session"; } # HOST
console_port=$tmp/socket console_start -s console.login=none -s 'console.hosts=lockstep.example.com, other.example:8330'
for host in lockstep.example.com lockstep.example.com:8330 other.example:8330 localhost localhost:8330; do
    expect "$host" "$(hears "$host")" 200
done
for host in evil.example localhost.evil.example other.example 127.0.0.1; do
    expect "$host" "$(hears "$host")" 421
done
console_stop
console_port=$tmp/socket console_start -s console.login=none
expect 'any' "$(hears any.example)" 200
console_stop

case_begin 'a page of the same host without TLS is another site'
. "$here/../support/http.bash"
http_certificate
console_start -s console.login=none -s "console.tls_certificate=$tmp/cert.pem" -s "console.tls_key=$tmp/key.pem"
raw <<'END' || failed=1
expect('its own', '200', get(b'/api/v1/queues', b'Origin: https://HOST\r\n'))
expect('without TLS', '403', get(b'/api/v1/queues', b'Origin: http://HOST\r\n'))
END
expect 'raw' "$?" 0
console_stop

case_begin 'a proxy of this host is one at an IPv6 address, too: behind it each login waits for its own failures'
if grep -qs . /proc/net/if_inet6; then # a file of /proc has no size
    console_port='[::]:0' console_start -s console.allow_plain=on
    port=${url##*:}
    for login in "a_$q" "b_$q"; do
        url=http://127.0.0.1:${port%%/*}/ api POST api/v1/session "{\"login\": \"$login\", \"password\": \"wrong\"}"
        expect "$login" "$status" 401
    done
    expect 'its address' "$(grep -c 'event=sign_in_refused .*address=127.0.0.1 ' "$tmp/console.log")" 2
    console_stop
fi
cases_end
exit $failed
