-- The fields that a staged task may have, the JSON types of their values, and the types of the tasks that have them
-- (NULL: all). docs/reference/message.schema.json has the same fields; a test compares.
CREATE OR REPLACE FUNCTION lockstep.enqueue_fields() RETURNS TABLE (field text, types text[], tasks text[])
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('type', '{string}'::text[], NULL::text[]), ('order', '{number}', NULL),
           ('sql', '{string,array}', '{sql}'), ('params', '{array}', '{sql}'), ('transaction', '{boolean}', '{sql}'),
           ('name', '{string}', NULL), ('description', '{string}', NULL), ('max_attempts', '{number}', NULL),
           ('retry_intervals', '{array}', NULL), ('condition', '{string}', NULL),
           ('command', '{string}', '{command}'), ('args', '{array}', '{command}'),
           ('input', '{string,number,boolean,array,object,"null"}', '{command,external}'),
           ('kind', '{string}', '{external}'), ('url', '{string}', '{http}'), ('method', '{string}', '{http}'),
           ('headers', '{object}', '{http}'), ('body', '{string}', '{http}'), ('steps', '{array}', '{sql}'),
           ('key', '{string}', NULL), ('timeout', '{number}', NULL), ('not_before', '{string}', NULL),
           ('retry_on', '{array}', NULL)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_fields() FROM PUBLIC;
