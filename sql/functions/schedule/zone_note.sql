-- Keeps a fingerprint of the rules of a zone in which a schedule has its times, unless there is one.
CREATE OR REPLACE FUNCTION lockstep.zone_note(p_zone text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_zone <> 'UTC' AND NOT EXISTS (SELECT FROM lockstep.zone z WHERE z.zone = p_zone) THEN
        INSERT INTO lockstep.zone (zone, since, print)
        VALUES (p_zone, CURRENT_DATE, lockstep.zone_print(p_zone, CURRENT_DATE)) ON CONFLICT (zone) DO NOTHING;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.zone_note(text) FROM PUBLIC;
