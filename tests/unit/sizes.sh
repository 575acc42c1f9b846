#!/bin/bash
# Nothing grows past what one reads at a glance: a function has at most 60 lines, a C file 500, a header 150 and 12
# prototypes, a line 100 columns. And this check itself notices each kind.
set -euo pipefail

# At most five exceptions, one a line: KIND NAME REASON, as "function executor/claim.c:send one switch". There is none.
exceptions=()
limits='function 60 file 500 header 150 prototypes 12 columns 100'

lengths() { # the files as arguments: "KIND NAME SIZE" for each file, header and long line
    awk '
        function end() {
            if (last == "") return
            print "file", last, lines
            if (last ~ /\.h$/) print "header", last, lines
        }
        FNR == 1 { end() }
        { last = FILENAME; lines = FNR }
        length($0) > 100 { print "columns", FILENAME ":" FNR, length($0) }
        END { end() }' "$@"
}

contents() { # the same for functions, and for the prototypes of headers
    ctags -f - --kinds-c=fp --fields=+neK --sort=no "$@" | awk -F '\t' '
        {
            line = end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) line = substr($i, 6)
                if ($i ~ /^end:/) end = substr($i, 5)
            }
        }
        $4 == "prototype" && $2 ~ /\.h$/ { count[$2]++ }
        $4 == "function" { print "function", $2 ":" $1, end - line + 1 }
        END { for (name in count) print "prototypes", name, count[name] }'
}

check() { # ROOT: one line for each that is too large; 1 if there is any
    (cd "$1" && { lengths "${files[@]}"; contents "${files[@]}"; }) >"$work/sizes"
    {
        printf 'limit %s %s\n' $limits
        printf 'except %s\n' "${exceptions[@]+"${exceptions[@]}"}"
        cat "$work/sizes"
    } | awk '
        $1 == "limit" { limit[$2] = $3; next }
        $1 == "except" { except[$2 " " $3] = 1; next }
        { seen[$1]++ }
        $3 > limit[$1] && !(($1 " " $2) in except) { print "sizes.sh: " $2 ": " $1 " of " $3 ", at most " limit[$1]; wrong = 1 }
        $3 <= limit[$1] && ($1 " " $2) in except { print "sizes.sh: " $2 ": is no exception any more"; wrong = 1 }
        END { exit wrong }'
}

failures=0
lines() { for ((i = 0; i < $1; i++)); do echo "$2"; done; }

expect() { # PATTERN WHAT FILE: what is said of the file, whose text comes on stdin; "" is nothing
    local said
    rm -rf "$work/tree"
    mkdir -p "$work/tree"
    cat >"$work/tree/$3"
    files=("$3")
    said=$(check "$work/tree" || true)
    [[ $said =~ ^$1$ ]] || { echo "sizes.sh: $2: '$1' expected, '$said'"; failures=1; }
}

self_test() {
    body() { echo 'int f(void)'; echo '{'; lines "$1" '    x();'; echo '}'; }
    expect '' 'a function of 60 lines' a.c < <(body 57)
    expect '.*a.c:f: function of 61, .*' 'a function of 61 lines' a.c < <(body 58)
    expect '' 'a file of 500 lines' a.c < <(lines 500 '')
    expect '.*a.c: file of 501, .*' 'a file of 501 lines' a.c < <(lines 501 '')
    expect '' 'a header of 150 lines' a.h < <(lines 150 '')
    expect '.*a.h: header of 151, .*' 'a header of 151 lines' a.h < <(lines 151 '')
    noise=$'/* int c(void); */\nstruct a {\n    int (*f)(void);\n};\nstatic inline int g(void)\n{\n    f(1);\n}'
    prototypes() {
        for ((i = 0; i < $1; i++)); do
            echo "MUST_CHECK enum rc f$i(int a,"
            echo '    void (*b)(int)) __attribute__((format(printf, 2, 3)));'
        done
    }
    expect '' 'a header of 12 prototypes' a.h < <(echo "$noise"; prototypes 12)
    expect '.*a.h: prototypes of 13, .*' 'a header of 13 prototypes' a.h < <(echo "$noise"; prototypes 13)
    long=$(printf '%0100d' 0)
    expect '' 'code of 100 columns' a.c < <(echo "$long")
    expect '.*a.c:1: columns of 101, .*' 'code of 101 columns' a.c < <(echo "${long}0")
    expect '.*a.c:2: columns of 103, .*' 'a comment of 103 columns' a.c < <(printf '/* x\n * %s0 */\n' "${long:4}")
    exceptions=('file a.c one table')
    expect '' 'an exception' a.c < <(lines 501 '')
    expect '.*a.c: is no exception any more' 'an exception that is none' a.c < <(lines 500 '')
    exceptions=()
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
named=("${exceptions[@]+"${exceptions[@]}"}")
self_test
exceptions=("${named[@]+"${named[@]}"}")
[ "${#exceptions[@]}" -le 5 ] || { echo "sizes.sh: ${#exceptions[@]} exceptions, at most 5"; failures=1; }
cd "$(dirname "$0")/../.."
mapfile -t files < <(scripts/c-files)
check . || failures=1
[ "$(grep -c '^function' "$work/sizes")" -gt 2000 ] || { echo "sizes.sh: too few functions were seen"; failures=1; }
[ "$failures" = 0 ] &&
    echo "sizes.sh: ${#files[@]} files, $(grep -c '^function' "$work/sizes") functions, ${#exceptions[@]} exceptions"
exit "$failures"
