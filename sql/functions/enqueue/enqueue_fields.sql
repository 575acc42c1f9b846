-- The fields that a staged task may have, and the JSON types of their values. docs/reference/message.schema.json has
-- the same; a test compares.
CREATE OR REPLACE FUNCTION lockstep.enqueue_fields() RETURNS TABLE (field text, types text[])
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('type', '{string}'::text[]), ('order', '{number}'), ('sql', '{string,array}'), ('params', '{array}'),
           ('transaction', '{boolean}'), ('name', '{string}'), ('description', '{string}'),
           ('max_attempts', '{number}'), ('retry_intervals', '{array}'), ('condition', '{string}'),
           ('command', '{string}'), ('args', '{array}'), ('input', '{string,number,boolean,array,object,null}'),
           ('kind', '{string}'), ('url', '{string}'), ('method', '{string}'), ('headers', '{object}'),
           ('body', '{string}'), ('steps', '{array}'), ('key', '{string}'), ('timeout', '{number}'),
           ('not_before', '{string}'), ('retry_on', '{array}')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_fields() FROM PUBLIC;
