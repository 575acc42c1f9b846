-- The type of the task of a message. A message without a type has one by its other fields, as in the codec. The planner
-- inlines this.
CREATE OR REPLACE FUNCTION lockstep.payload_type(p_payload text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT COALESCE(p_payload::json ->> 'type',
                    CASE WHEN p_payload::json -> 'sql' IS NOT NULL THEN 'sql'
                         WHEN p_payload::json -> 'command' IS NOT NULL THEN 'command'
                         WHEN p_payload::json -> 'url' IS NOT NULL THEN 'http' ELSE 'sql' END)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.payload_type(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.payload_type(text) TO lockstep_executor;
