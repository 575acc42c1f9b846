# Sourced by checks for expressions that C files must not have; they set $forbidden, an extended regular expression,
# before. Leads to the project's top. $0 names the check.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
check=${0##*/}
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

found() { # FILE: lines with a forbidden expression, comments left out; 1 if there is none
    sed -E 's,/\*([^*]|\*[^/])*\*/,,g' "$1" | grep -nE "$forbidden"
}
notices() { # LINE: the check itself is checked
    echo "$1" >"$scratch"
    found "$scratch" >/dev/null || { echo "$check: this passed: $1" && exit 1; }
}
passes() { # LINE
    echo "$1" >"$scratch"
    if found "$scratch" >/dev/null; then echo "$check: this did not pass: $1" && exit 1; fi
}
# search LEFT_OUT INSTEAD SUMMARY: all C files but those that the expression LEFT_OUT matches from their start; ends the
# check
search() {
    local file count=0 failed=0
    while read -r file; do
        [[ ! $file =~ ^($1) ]] || continue
        count=$((count + 1))
        if found "$file"; then
            echo "$check: $file: use $2"
            failed=1
        fi
    done < <(scripts/c-files)
    [ "$count" -gt 100 ] || { echo "$check: only $count files were looked at" && exit 1; }
    [ "$failed" = 1 ] || echo "$check: $count files $3"
    exit "$failed"
}
