-- Makes the rows of the records p_making (indexes into the segment, ascending). Records without a gap between them are
-- claimed together. p_own: their run, NULL: not known yet. replay_step calls this.
--
-- fresh    the number of rows that were made
-- own      their run
-- unknown  indexes of records that were not claimed, because the beginning of their run is not in the range
-- is_busy  a gate has the phase: the remaining records were not claimed
CREATE OR REPLACE FUNCTION lockstep.replay_make(
    p_replay_id int, p_segment lockstep.segment, p_making int[], p_own bigint, p_reason text,
    OUT fresh bigint, OUT own bigint, OUT unknown int[], OUT is_busy boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    claims record;
    at int := 1;
    upto int;
BEGIN
    fresh := 0;
    own := p_own;
    unknown := '{}';
    is_busy := false;
    WHILE at <= pg_catalog.cardinality(p_making) LOOP
        upto := at;
        WHILE upto < pg_catalog.cardinality(p_making) AND p_making[upto + 1] = p_making[upto] + 1 LOOP
            upto := upto + 1;
        END LOOP;
        IF p_segment.kind = 'task' AND own IS NOT NULL
           AND EXISTS (SELECT FROM lockstep.run b
                       WHERE b.run_no = own AND b.ended_at IS NOT NULL
                         AND b.run_no = (SELECT y.implicit_run_no
                                         FROM lockstep.replay y WHERE y.replay_id = p_replay_id)) THEN
            -- An implicit run that a replay before closed where its range ended.
            PERFORM lockstep.reopen(b.last_phase_id, '{}', pg_catalog.format('replay %s: %s', p_replay_id, p_reason))
            FROM lockstep.run b WHERE b.run_no = own;
        END IF;
        SELECT * INTO STRICT claims
        FROM lockstep.replay_claim(p_replay_id, lockstep.segment_part(p_segment, p_making[at], p_making[upto]));
        IF claims.verdict = 'busy' THEN
            is_busy := true;
            RETURN;
        ELSIF claims.verdict = 'unknown' THEN
            unknown := unknown || p_making[at:upto];
            at := upto + 1;
        ELSE
            fresh := fresh + claims.claimed;
            own := COALESCE(claims.run_no, own);
            at := at + claims.claimed;
            IF claims.run_no IS NOT NULL AND p_segment.kind <> 'reject' THEN
                PERFORM lockstep.replay_hold(p_replay_id, claims.run_no);
            END IF;
        END IF;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_make(int, lockstep.segment, int[], bigint, text) FROM PUBLIC;
