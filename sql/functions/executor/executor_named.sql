-- The number of the executor with this id, for an operator's command to it: it must live.
CREATE OR REPLACE FUNCTION lockstep.executor_named(p_executor_id uuid) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    e record;
BEGIN
    SELECT x.executor_no, x.ended_at, x.ended_why INTO e FROM lockstep.executor x WHERE x.executor_id = p_executor_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no executor %', COALESCE(p_executor_id::text, 'without an id')
            USING ERRCODE = 'LS003', HINT = 'lockstep executor list';
    ELSIF e.ended_at IS NOT NULL OR NOT lockstep.executor_lives(e.executor_no) THEN
        RAISE EXCEPTION 'executor % has ended%', p_executor_id, COALESCE(': ' || e.ended_why, '')
            USING ERRCODE = 'LS002', HINT = 'lockstep executor list';
    END IF;
    RETURN e.executor_no;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_named(uuid) FROM PUBLIC;
