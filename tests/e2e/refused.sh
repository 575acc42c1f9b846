#!/bin/bash
# Messages that the codec lets pass and the database refuses: each is found among its neighbours and kept as rejected,
# with the server's words; the others run. The refusal is made by a constraint that only this database has.
# ctest: timeout=120
. "$(dirname "$0")/../support/e2e.bash"
ledger_create
sql "ALTER TABLE lockstep.task ADD CONSTRAINT no_unwanted CHECK (payload NOT LIKE '%unwanted%')"
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4 --on-failure continue
for ((i = 0; i < 60; i++)); do
    word=wanted
    [ "$i" != 17 ] && [ "$i" != 44 ] || word=unwanted
    echo "{\"order\": $((1 + i / 20)), \"name\": \"$word\", \"sql\": \"SELECT work('$q', $((1 + i / 20)), $i, 0)\"}"
done >"$tmp/tasks.jsonl"
case_begin 'a message that the database refuses is kept as rejected, with the words of the server'
run=$(lockstep publish --queue "$q" -q "$tmp/tasks.jsonl")
executors 2 "$q" 2
executors_wait || failed=1
expect 'kept as rejected' \
    "$(sql "SELECT string_agg(concat_ws(' ', m.seq, m.reason, m.detail LIKE '23514: %no_unwanted%',
                                        convert_from(m.raw, 'UTF8') LIKE '%unwanted%'), ', ' ORDER BY m.seq)
        FROM lockstep.rejected_message m")" \
    '17 refused_by_database t t, 44 refused_by_database t t'
case_begin 'the other messages of the run are executed, and nothing is left over'
expect 'the others ran' "$(sql "SELECT count(*), count(DISTINCT seq) FROM ledger")" '58|58'
expect 'the run' "$(sql "SELECT status, completed FROM lockstep.run_status WHERE run_id = '$run'")" \
    'PartiallyCompleted|58'
no_locks_left
cases_end
[ $failed = 0 ] || tail -n 30 "$tmp"/*.log
exit $failed
