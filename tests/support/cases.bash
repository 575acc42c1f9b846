# tests/support/cases.bash: the cases of a script, reported one by one as TAP does. Sourced by tests/support/begin.bash.
#   case_begin SENTENCE   what holds from here on; the case before it is reported
#   case_of SENTENCE FILE a case whose checks were made beside those of others: FILE has a line for each thing that is
#                         wrong
#   cases_end             the last case is reported, and $failed is that of all. A line of its own before the script's
#                         exit $failed
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
    [ "$case_no" != 0 ] || grep -q '^cases_end$' "$0" || { echo "$0: it does not end with cases_end"; exit 1; }
    case_close
    case_no=$((case_no + 1)) case_name=$1
}

case_of() {
    case_begin "$1"
    [ ! -s "$2" ] || { cat "$2"; failed=1; }
    case_close
}

cases_end() {
    case_close
    failed=$cases_failed
    echo "1..$case_no"
}
