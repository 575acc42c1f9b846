#!/bin/bash
# Text that may reach the database is cut by base/utf8.h alone: no precision of a %s (it counts bytes), and no snprintf into a struct err.
# And this check itself notices both. The folders left out write for people only, through err_set.
set -euo pipefail
cd "$(dirname "$0")/../.."

forbidden='%[-0-9]*\.([0-9]+|\*)s|snprintf\((\*?[a-z_]+(->|\.))*(err|why)(->|\.)(message|object|detail|context|hint|code)'

cuts() { # FILE...: what is forbidden, comments left out; 1 if there is none
    sed -E 's,/\*([^*]|\*[^/])*\*/,,g' "$@" | grep -nE "$forbidden"
}

scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
for bad in 'str_format(&s, "%.200s", name);' 'str_format(&s, "%.*s", n, at);' '(void)snprintf(err->hint, 9, "%s", x);' \
    '(void)snprintf(source->why.context, 9, "x");' '(void)snprintf(err.message, 9, "x");'; do
    echo "$bad" >"$scratch"
    cuts "$scratch" >/dev/null || { echo "utf8_cuts.sh: this passed: $bad" && exit 1; }
done
echo 'utf8_format(err->hint, 9, "%s %.3f", x, y); /* not %.9s */' >"$scratch"
if cuts "$scratch" >/dev/null; then echo 'utf8_cuts.sh: what is right did not pass' && exit 1; fi

count=0 failed=0
while read -r file; do
    case $file in tests/* | bench/* | examples/* | cli/* | config/* | producer/*) continue ;; esac
    [ "$file" != base/remedies.h ] || continue # names of queues: letters of ASCII
    count=$((count + 1))
    if cuts "$file"; then
        echo "utf8_cuts.sh: $file: use base/utf8.h"
        failed=1
    fi
done < <(scripts/c-files)
[ "$count" -gt 100 ]
[ "$failed" = 0 ] && echo "utf8_cuts.sh: $count files cut text between characters"
exit "$failed"
