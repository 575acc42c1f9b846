# tests/support/http.bash: servers that http tasks call. Sourced behind shell.bash, with $here and $tmp set.
#   http_start NAME [CERTIFICATE]   starts one; its files are in $tmp/NAME (http_server.py has the list), its port in
#                                   $port
#   http_certificate                one for localhost, signed by itself: $tmp/cert.pem, and with its key $tmp/both.pem
#   http_three                      three of them: ports $plain, $other, and $tls, which has that certificate

http_start() {
    mkdir "$tmp/$1"
    python3 "$here/../support/http_server.py" "$tmp/$1" "${@:2}" 2>"$tmp/$1.log" &
    eventually 30 test -f "$tmp/$1/port" || { cat "$tmp/$1.log"; exit 1; }
    port=$(cat "$tmp/$1/port")
}

http_certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
    cat "$tmp/key.pem" "$tmp/cert.pem" >"$tmp/both.pem"
}

# shellcheck disable=SC2034 # the script's
http_three() {
    http_certificate
    http_start plain
    plain=$port
    http_start other
    other=$port
    http_start tls "$tmp/both.pem"
    tls=$port
}
