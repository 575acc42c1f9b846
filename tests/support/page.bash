# run_page PAGE DIR: runs a page as it is printed (page.py decides which parts), in DIR, with lockstep in PATH. The
# output of a block is kept, and shown when the page fails. Jobs that the page has started end with it.
page_support=$(dirname "${BASH_SOURCE[0]}")

run_page() {
    local page=$1 dir=$2
    python3 "$page_support/page.py" "$page" >"$dir/.page.sh"
    page_output=$dir/.page.out
    : >"$page_output"
    (
        exec 3>&1
        cd "$dir"
        PATH=$(dirname "$(realpath "$LOCKSTEP_BIN")"):$LOCKSTEP_TEST_PGBIN:$PATH
        LC_ALL=C.UTF-8 COLUMNS=100
        export PATH LC_ALL COLUMNS
        page_line=0
        page_at() { page_name=$1 page_line=$2; exec >"$page_output" 2>&1; }
        page_says() {
            grep -Eq -- "$1" "$page_output" || { echo "page: the output has no line: $2"; return 1; }
        }
        page_ended() { [ "$1" = "$2" ] || { echo "page: it ended with $1, not with $2"; return 1; }; }
        page_done() { page_line=done; }
        page_end() {
            local rc=$? pid
            trap - EXIT
            for pid in $(jobs -pr); do kill "$pid" 2>/dev/null || true; done
            wait
            [ "$page_line" = done ] && [ "$rc" = 0 ] && exit 0
            {
                echo "${page_name:-$page}:$page_line: failed ($rc); the block printed:"
                cat "$page_output"
                for log in "$dir"/*.log; do [ ! -s "$log" ] || { echo "== $log"; tail -n 30 "$log"; }; done
            } >&3
            exit 1
        }
        trap page_end EXIT
        # shellcheck disable=SC1091
        . "$dir/.page.sh"
    )
}
