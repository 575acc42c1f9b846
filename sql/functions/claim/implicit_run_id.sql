-- The id of the implicit run that begins at an offset: p_first, which is a UUIDv5 of queue and offset, as long as the
-- topic is read for the first time. In a later epoch of the queue it is made from that and the epoch, or it would be
-- the run of the first reading.
CREATE OR REPLACE FUNCTION lockstep.implicit_run_id(p_first uuid, p_epoch int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_epoch WHEN 0 THEN p_first
                ELSE pg_catalog.overlay(
                    pg_catalog.overlay(
                        pg_catalog.encode(pg_catalog.substr(
                                              pg_catalog.sha256(pg_catalog.convert_to(
                                                                    pg_catalog.concat(p_first, '/', p_epoch), 'UTF8')),
                                              1, 16),
                                          'hex'),
                        '8', 13, 1),
                    'a', 17, 1)::uuid END -- version 8: an id of our own making
$$;
REVOKE EXECUTE ON FUNCTION lockstep.implicit_run_id(uuid, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.implicit_run_id(uuid, int) TO lockstep_executor;
