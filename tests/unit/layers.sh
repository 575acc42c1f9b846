#!/bin/bash
# Every #include of the tree is one that LAYERS allows; and this check itself catches each kind of violation.
# With a directory as argument only that tree is checked.
set -euo pipefail

# ISO C17, POSIX and Linux: free to all. A foreign header that is not here and not in LAYERS is a violation.
export free_headers="
assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h signal.h
stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h threads.h
time.h uchar.h wchar.h wctype.h
arpa/inet.h dirent.h dlfcn.h fcntl.h fnmatch.h getopt.h glob.h grp.h langinfo.h libgen.h netdb.h netinet/in.h
netinet/tcp.h poll.h pthread.h pwd.h regex.h sched.h semaphore.h spawn.h strings.h sys/file.h sys/mman.h
sys/resource.h sys/select.h sys/socket.h sys/stat.h sys/time.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/wait.h
syslog.h termios.h unistd.h
linux/sched.h sys/epoll.h sys/eventfd.h sys/ioctl.h sys/pidfd.h sys/prctl.h sys/random.h sys/signalfd.h sys/syscall.h
sys/timerfd.h
"

check() { # ROOT: one line for each violation; 1 if there is any
    (
        cd "$1"
        find . \( -path ./build -o -name '.*' -not -name . \) -prune -o -name '*.[ch]' -print | sed 's,^\./,,' | sort
    ) >"$work/files"
    # shellcheck disable=SC2016
    (cd "$1" && xargs -r -a "$work/files" awk '
        BEGIN {
            split(ENVIRON["free_headers"], list)
            for (i in list) free[list[i]] = 1
            while ((getline line <"LAYERS") > 0) {
                sub(/#.*/, "", line)
                if (split(line, part, /[:;]/) < 2) continue
                folder = part[1]; gsub(/[ \t]/, "", folder)
                row[folder] = 1
                allow(own, folder, part[2])
                allow(foreign, folder, part[3])
            }
        }
        function allow(set, folder, words,    list, i) {
            split(words, list)
            for (i in list) set[folder, list[i]] = 1
        }
        function bad(why) { print FILENAME ":" FNR ": " why; violations = 1 }
        FNR == 1 {
            folder = FILENAME; sub(/\/.*/, "", folder)
            if (!(folder in row)) bad("the folder " folder " has no line in LAYERS")
        }
        /^[ \t]*#[ \t]*include/ {
            name = $0; sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
            kind = substr(name, 1, 1); name = substr(name, 2); sub(/[">].*/, "", name)
            if (kind == "<") {
                if (!(name in free) && !((folder, name) in foreign) && !((folder, "*") in foreign))
                    bad(folder " may not include the foreign header <" name ">")
            } else if (kind != "\"") {
                bad("an include must name its header")
            } else if (name !~ /^[a-z]+\// || name ~ /\.\./) {
                bad("\"" name "\": own headers are included as \"folder/name.h\"")
            } else {
                target = name; sub(/\/.*/, "", target)
                if (target != folder && !((folder, target) in own) && !((folder, "*") in own))
                    bad(folder " may not include " target " (\"" name "\")")
            }
        }
        END { exit violations }
    ')
}

failures=0

# tree FILE TEXT: a tree of two folders that keep the rules, and FILE with TEXT
tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/low" "$work/tree/high" "$(dirname "$work/tree/$1")"
    printf 'low: ; foreign.h # the only one\nhigh: low;\ntop: *; *\n' >"$work/tree/LAYERS"
    printf '#include <stdio.h>\n#include <foreign.h>\n' >"$work/tree/low/low.c"
    printf '#include "high/high.h"\n#include "low/low.h"\n' >"$work/tree/high/high.c"
    printf '%s\n' "$2" >"$work/tree/$1"
}

expect() { # allowed|refused WHAT FILE TEXT
    local got=allowed
    tree "$3" "$4"
    check "$work/tree" >"$work/out" || got=refused
    if [ "$got" != "$1" ]; then
        echo "layers.sh: $2: $1 expected, $got"
        cat "$work/out"
        failures=1
    fi
}

self_test() {
    expect allowed 'a tree that keeps the rules' low/x.h '#include <pthread.h>'
    expect allowed 'everything, for a folder with stars' top/x.c $'#include "high/x.h"\n#include <other.h>'
    expect refused 'a folder that its row does not name' low/x.c '#include "high/high.h"'
    expect refused 'the same in a header' low/x.h '#include "high/high.h"'
    expect refused 'the same with blanks' low/x.c ' #  include  "high/high.h"'
    expect refused 'the same deeper down' low/deep/x.c '#include "high/high.h"'
    expect refused 'a foreign header that its row does not name' high/x.c '#include <foreign.h>'
    expect refused 'a foreign header that nobody names' low/x.c '#include <unheard/of.h>'
    expect refused 'a foreign header in quotes' low/x.c '#include "foreign.h"'
    expect refused 'an own header without its folder' low/x.c '#include "low.h"'
    expect refused 'a way around through the parent' low/x.c '#include "low/../high/high.h"'
    expect refused 'an include by macro' low/x.c '#include HEADER'
    expect refused 'a folder without a row' other/x.c 'int x;'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
    check "$1"
    exit
fi
self_test
check "$(cd "$(dirname "$0")/../.." && pwd)" || failures=1
[ "$(wc -l <"$work/files")" -gt 0 ] || failures=1
[ "$failures" = 0 ] && echo "layers.sh: $(wc -l <"$work/files") files keep to LAYERS"
exit "$failures"
