-- One page of a list of the API: its items, where the next one begins (NULL: there is none), and how many there are in
-- all, counted to 10,000.
CREATE OR REPLACE FUNCTION lockstep.page(items json, next text, count bigint) RETURNS json
LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.json_build_object('items', COALESCE(page.items, '[]'::json), 'next', page.next,
                                        'count', LEAST(page.count, 10000), 'capped', page.count > 10000)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.page(json, text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.page(json, text, bigint) TO lockstep_operator, lockstep_monitor;
