# tests/support/dev.bash: a test file of `dev up`, which runs as an ordinary user.
#   $tmp        a directory that the test may use; $tmp/home belongs to that user
#   up OPTION...    dev up of $tmp/home/pg, which is stopped at the end
setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    tmp=$(mktemp -d /tmp/ls_dev_XXXXXX)
    chmod 755 "$tmp"
    cp "$LOCKSTEP_BIN" "$tmp/lockstep"
    as=()
    if [ "$(id -u)" = 0 ]; then
        as=(runuser -u nobody --)
        install -d -o nobody -m 700 "$tmp/home"
    else
        mkdir -m 700 "$tmp/home"
    fi
}

teardown() {
    "${as[@]}" "$tmp/lockstep" dev down -q --dir "$tmp/home/pg" || true
    rm -rf "$tmp"
}

up() { (cd / && "${as[@]}" "$tmp/lockstep" dev up --dir "$tmp/home/pg" "$@"); }
