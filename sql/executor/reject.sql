-- executor_reject :one  rejects records that name no run; see sql/functions/claim/reject.sql for parameters and result
-- parameters: queue_id, executor_no, buffer_from, offsets, seqs, reasons, details, raws, keys, header_offsets,
--          header_names, header_values, last_timestamp, last_digest
-- columns: verdict, next_offset, first_offset
-- words of verdict: rejected, moved, behind, paused, halted
SELECT r.verdict, r.next_offset, r.first_offset
FROM lockstep.reject(p_queue_id => $1::int, p_executor_no => $2::int, p_buffer_from => $3::bigint, p_segment => ROW(
    'reject', NULL, NULL, NULL, NULL, -- kind, run, implicit, order, previous
    $4::bigint[], $5::bigint[], NULL, NULL, NULL, NULL, -- offsets, seqs, payloads, names, max_attempts, traceparents
    $13::bigint, $14::bytea, -- last_timestamp, last_digest
    $6::text[], $7::text[], $8::bytea[], $9::bytea[], -- reasons, details, raws, keys
    NULL, NULL, false, -- end_tasks, end_phases, aborted
    $10::bigint[], $11::text[], $12::bytea[], -- header_offsets, header_names, header_values
    false, false)::lockstep.segment) AS r; -- withheld, special
