-- Bytes as the text that they are, in UTF-8; NULL: they are no text.
CREATE OR REPLACE FUNCTION lockstep.bytes_text(bytes bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN pg_catalog.convert_from(bytes_text.bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.bytes_text(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.bytes_text(bytea) TO lockstep_operator, lockstep_monitor;
