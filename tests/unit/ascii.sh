#!/bin/bash
# The locale plays no part: letters are looked at with base/ascii.h. And this check itself notices a call that it forbids.
set -euo pipefail
cd "$(dirname "$0")/../.."

forbidden='\b(toupper|tolower|is(alpha|digit|alnum|space|xdigit|upper|lower|punct|print|graph|cntrl|blank)|str(n?casecmp|casestr|coll|xfrm))\('

calls() { # FILE...: forbidden calls, comments left out; 1 if there is none
    sed -E 's,/\*([^*]|\*[^/])*\*/,,g' "$@" | grep -nE "$forbidden"
}

scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
echo 'return toupper((unsigned char)c);' >"$scratch"
calls "$scratch" >/dev/null || { echo 'ascii.sh: a call of toupper passed' && exit 1; }
echo 'return ascii_upper(c); /* not toupper() */' >"$scratch"
if calls "$scratch" >/dev/null; then echo 'ascii.sh: a comment is no call' && exit 1; fi

count=0 failed=0
while read -r file; do
    case $file in tests/* | bench/* | examples/*) continue ;; esac
    count=$((count + 1))
    if calls "$file"; then
        echo "ascii.sh: $file: use base/ascii.h"
        failed=1
    fi
done < <(scripts/c-files)
[ "$count" -gt 100 ]
[ "$failed" = 0 ] && echo "ascii.sh: $count files ask no locale"
exit "$failed"
