# tests/support/cases.bash: the cases of a script, reported one by one as TAP does. Sourced by tests/support/e2e.bash and after shell.bash.
#   case_begin SENTENCE   what holds from here on; the case before it is reported
#   cases_end             the last case is reported, and $failed is that of all. A line of its own before the script's exit $failed
# A case has failed when $failed is set in it, as expect does, or when the script ends in it.

failed=0 # the script's exit status
cases_failed=0 case_no=0 case_name=''

case_close() {
    local word=ok
    [ "$failed" = 0 ] || word='not ok' cases_failed=1
    [ -z "$case_name" ] || echo "$word $case_no - $case_name"
    case_name='' failed=0
}

case_begin() {
    grep -q '^cases_end$' "$0" || { echo "$0: it does not end with cases_end"; exit 1; }
    case_close
    case_no=$((case_no + 1)) case_name=$1
}

cases_end() {
    case_close
    failed=$cases_failed
    echo "1..$case_no"
}
