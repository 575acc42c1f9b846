-- replay_step :many  deals with a segment; see sql/functions/replay/replay_step.sql
-- parameters: replay_id, kind, run, implicit, order, previous, offsets, seqs, payloads, names, max_attempts,
--          traceparents, reason, detail, raw, keys, header_offsets, header_names, header_values, end_tasks, end_phases,
--          aborted, seen
-- columns: action, why, records, run_id, order
-- words of action: make, reopen, skip, wait, refused
-- words of why: missing, duplicate, failed, cancelled, done, unfinished, ahead, rejected, not_needed, differs,
--          no_beginning, retention, continued, deleted, busy, lookahead, halted, later_phase
SELECT s.action, s.why, s.records, s.run_id, s."order"
FROM lockstep.replay_step(p_replay_id => $1::int, p_seen => $23::boolean, p_segment => ROW(
    $2::text, $3::uuid, $4::uuid, $5::bigint, $6::bigint, -- kind, run, implicit, order, previous
    -- offsets, seqs, payloads, names, max_attempts, traceparents
    $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::int[], $12::text[],
    NULL, NULL, -- last_timestamp, last_digest
    -- reasons, details, raws, keys: it is one record, if any
    ARRAY[$13::text], ARRAY[$14::text], ARRAY[$15::bytea], $16::bytea[],
    $20::bigint, $21::bigint, $22::boolean, -- end_tasks, end_phases, aborted
    $17::bigint[], $18::text[], $19::bytea[], -- header_offsets, header_names, header_values
    false, true)::lockstep.segment) AS s; -- withheld, special
