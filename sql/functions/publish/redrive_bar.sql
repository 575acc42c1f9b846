-- The first of these messages that may not be redriven, with a run: the message was redriven before as this run, and
-- p_again is false; or the run is noted for it, and its outcome is not known (at is NULL). NULLs: all may be redriven.
-- p_settle: as redrive_begin, but nothing is changed here.
CREATE OR REPLACE FUNCTION lockstep.redrive_bar(p_ids bigint[], p_again boolean, p_settle boolean,
    OUT rejected_id bigint, OUT run uuid, OUT at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    SELECT m.rejected_id, CASE WHEN m.noted THEN m.redrive_noted ELSE m.redrive_run END,
           CASE WHEN NOT m.noted THEN m.redriven_at
                WHEN m.made THEN lockstep.redrive_at(m.queue_id, m.redrive_noted) END
    INTO rejected_id, run, at
    FROM (SELECT b.rejected_id, b.queue_id, b.redrive_noted, b.redrive_run, b.redriven_at,
                 lockstep.redrive_made(b.queue_id, b.redrive_noted) AS made,
                 b.redrive_noted IS NOT NULL
                 AND NOT (p_settle AND lockstep.redrive_unmade(b.queue_id, b.redrive_noted)) AS noted
          FROM lockstep.rejected_message b
          WHERE b.rejected_id = ANY (p_ids)
          OFFSET 0) AS m
    WHERE m.noted AND NOT m.made OR NOT p_again AND (m.made OR m.redriven_at IS NOT NULL)
    ORDER BY m.rejected_id LIMIT 1;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_bar(bigint[], boolean, boolean) FROM PUBLIC;
