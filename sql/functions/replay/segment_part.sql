-- The records p_from to p_upto of a segment, as a segment.
CREATE OR REPLACE FUNCTION lockstep.segment_part(p_segment lockstep.segment, p_from int, p_upto int)
RETURNS lockstep.segment LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    part lockstep.segment := p_segment;
BEGIN
    part.offsets := p_segment.offsets[p_from:p_upto];
    part.seqs := p_segment.seqs[p_from:p_upto];
    part.payloads := p_segment.payloads[p_from:p_upto];
    part.names := p_segment.names[p_from:p_upto];
    part.max_attempts := p_segment.max_attempts[p_from:p_upto];
    part.traceparents := p_segment.traceparents[p_from:p_upto];
    part.reasons := p_segment.reasons[p_from:p_upto];
    part.details := p_segment.details[p_from:p_upto];
    part.raws := p_segment.raws[p_from:p_upto];
    part.keys := p_segment.keys[p_from:p_upto];
    RETURN part;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.segment_part(lockstep.segment, int, int) FROM PUBLIC;
