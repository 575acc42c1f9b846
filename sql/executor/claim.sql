-- executor_claim :one  claims the head of a segment; see sql/functions/claim/claim.sql for parameters and result
-- parameters: queue_id, executor_no, buffer_from, kind, run, implicit, order, previous, offsets, seqs, payloads, names,
--          max_attempts, traceparents, last_timestamp, last_digest, held, reason, detail, raw, keys, end_tasks,
--          end_phases, aborted, header_offsets, header_names, header_values, withheld, special, parking, in_stretches
-- columns: verdict, next_offset, phase_id, run_no, is_open, took_shared, task_ids, tokens, note, definitions_changes
-- words of verdict: claimed, cancelled, parked, resumed, rejected, bare, ended, moved, behind, lookahead, others, busy,
--          paused, halted
-- locks: session
SELECT c.verdict, c.next_offset, c.phase_id, c.run_no, c.is_open, c.took_shared, c.task_ids, c.tokens, c.note,
       lockstep.definitions_changes()
FROM lockstep.claim(
    p_queue_id => $1::int, p_executor_no => $2::int, p_buffer_from => $3::bigint, p_held => $17::bigint[],
    p_parking => $30::boolean, p_in_stretches => $31::boolean, p_segment => ROW(
        $4::text, $5::uuid, $6::uuid, $7::bigint, $8::bigint, -- kind, run, implicit, order, previous
        -- offsets, seqs, payloads, names, max_attempts, traceparents
        $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::int[], $14::text[],
        $15::bigint, $16::bytea, -- last_timestamp, last_digest
        -- reasons, details, raws, keys: it is one record, if any
        ARRAY[$18::text], ARRAY[$19::text], ARRAY[$20::bytea], $21::bytea[],
        $22::bigint, $23::bigint, $24::boolean, -- end_tasks, end_phases, aborted
        $25::bigint[], $26::text[], $27::bytea[], -- header_offsets, header_names, header_values
        $28::boolean, $29::boolean)::lockstep.segment) AS c; -- withheld, special
