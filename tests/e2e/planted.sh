#!/bin/bash
# The defects that tests/torture/planted.sh plants fit today's code: a run of all of them takes an hour, and a text that
# is gone would be known at its end only.
# ctest: nosan timeout=60
. "$(dirname "$0")/../support/e2e.bash"
check() { PATH=$LOCKSTEP_TEST_PGBIN:$PATH "$here/../torture/planted.sh" --check "$db"; }

case_begin 'each text that a planted defect changes is there'
check || failed=1

case_begin 'a text that is not there is noticed'
sql 'CREATE OR REPLACE FUNCTION lockstep.job_run_id(p_schedule uuid, p_for timestamptz)
    RETURNS uuid LANGUAGE sql AS $$ SELECT NULL::uuid $$' >/dev/null
expect 'it says which' \
    "$( (check || true) | grep -c '^fires_twice: .*job_run_id: the text to be changed is not there')" 1
cases_end
exit $failed
