-- What kind of task this message is. Where none is written, what there is to do tells it, as in the codec. The planner
-- inlines it.
CREATE OR REPLACE FUNCTION lockstep.payload_type(p_payload text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT COALESCE(p_payload::json ->> 'type',
                    CASE WHEN p_payload::json -> 'sql' IS NOT NULL THEN 'sql'
                         WHEN p_payload::json -> 'command' IS NOT NULL THEN 'command'
                         WHEN p_payload::json -> 'url' IS NOT NULL THEN 'http' ELSE 'sql' END)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.payload_type(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.payload_type(text) TO lockstep_executor;
