-- Rules of times that no person should write, asked of this database: psql -v rounds=N -v seed=S -v corpus=FILE -f
-- tests/fuzz/rules.sql. The corpus has a rule a line, in JSON. Each line is made of one or two of it: texts lose, gain
-- and swap characters, words and parts, fields get values of any type. A batch is one statement of at most 30 s; a
-- violation is a row of the last output: the error, and the line. The same seed makes the same lines. -v loud=1
-- raises each line as a notice before it is asked. -v prove=N: the times of one line in N are proven, the
-- others are only asked (1: all are proven).
\set ON_ERROR_STOP 1
\if :{?loud} \else \set loud 0 \endif
\if :{?prove} \else \set prove 1 \endif
SET client_min_messages = warning;
SET statement_timeout = '30s';
CREATE TEMP TABLE corpus (no int GENERATED ALWAYS AS IDENTITY, line text);
\copy corpus (line) FROM pstdin
CREATE TEMP TABLE violation (what text, line text);

CREATE FUNCTION pg_temp.any(words text[])
RETURNS text LANGUAGE sql VOLATILE AS 'SELECT words[1 + floor(random() * cardinality(words))]';

-- A text that is nearly the given one.
CREATE FUNCTION pg_temp.mangled(given text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    PARTS CONSTANT text[] := ARRAY['*', '/', '-', ',', 'L', 'W', '#', '?', 'LW', '*/0', '*/1', '*/60', '59-0',
                                   '0-59/7', '1-5', '60', '-1', '00', '007', '99999999999', '2147483648', 'MON', 'sun',
        'JAN-DEC', 'FRI#5', '5#6', 'L-3', '31W', '1W,15W', '@daily', '@every 1ns', '@every 90m', '@reboot', 'H', '~',
        '%', '$', ' ', E'\t', E'\n', '+', '.', '1e9', '2d', '366d', '367d', '0s', 'P1D', '24:00',
        '23:59:60', '02:30', '2025-02-29T00:00:00Z', '9999-12-31T23:59:59Z', '0000-00-00T00:00:00Z',
        '2025-03-30T02:30:00', '+14:00', '', 'infinity', 'NaN', '\', '"', '''', E'\u00e9', E'\U0001F550',
        repeat('1,', 200)];
    at int := floor(random() * (length(given) + 1));
    size int := 1 + floor(random() * 3);
    other int := floor(random() * (length(given) + 1));
BEGIN
    RETURN CASE floor(random() * 7)
        WHEN 0 THEN left(given, at) || substr(given, at + 1 + size)
        WHEN 1 THEN left(given, at) || pg_temp.any(PARTS) || substr(given, at + 1)
        WHEN 2 THEN left(given, at) || pg_temp.any(PARTS) || substr(given, at + 1 + size)
        WHEN 3 THEN left(given, at) || substr(given, at + 1, size) || substr(given, at + 1)
        WHEN 4 THEN left(given, at) || substr(given, other + 1, size) || substr(given, at + 1 + size)
        WHEN 5 THEN left(given, at) || chr(33 + floor(random() * 94)::int) || substr(given, at + 1)
        ELSE array_to_string(ARRAY(SELECT CASE WHEN random() < 0.3 THEN pg_temp.any(PARTS) ELSE w END
                                   FROM unnest(string_to_array(given, ' ')) AS w),
                             ' ') END;
END
$$;

CREATE FUNCTION pg_temp.value(given jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    OTHERS CONSTANT jsonb[] := ARRAY['null', 'true', '{}', '[]', '[[]]', '""', '0', '-1', '1', '2', '7', '8', '32',
                                     '127', '128', '1.5', '1e300', '2147483647', '2147483648', '-2147483649',
                                     '99999999999999999999', '20250230', '99991231',
        '235960', '["MON", "mon"]', '[31, -31]', '[0]', '["25:00"]', '["06:00", null]', '{"kind": "cron"}']::jsonb[];
    made jsonb := given;
BEGIN
    CASE jsonb_typeof(given)
        WHEN 'string' THEN
            FOR i IN 1 .. 1 + floor(random() * 3)::int LOOP
                made := to_jsonb(pg_temp.mangled(made #>> '{}'));
            END LOOP;
        WHEN 'array' THEN
        made := COALESCE((SELECT jsonb_agg(CASE WHEN random() < 0.5 THEN pg_temp.value(e) ELSE e END)
                          FROM jsonb_array_elements(given) AS e WHERE random() < 0.9),
                         '[]');
        ELSE made := to_jsonb(floor(random() * 40)::int);
    END CASE;
    RETURN CASE WHEN random() < 0.1 THEN OTHERS[1 + floor(random() * cardinality(OTHERS))] ELSE made END;
END
$$;

-- A line that is nearly one or two of the corpus. A zone that is none is rare: refusing it reads the names of all.
CREATE FUNCTION pg_temp.line() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    most CONSTANT int := (SELECT count(*) FROM corpus);
    one CONSTANT jsonb := (SELECT c.line FROM corpus c WHERE c.no = (SELECT 1 + floor(random() * most)::int));
    two CONSTANT jsonb := (SELECT c.line FROM corpus c WHERE c.no = (SELECT 1 + floor(random() * most)::int));
    spec jsonb := CASE WHEN random() < 0.1 THEN two || (one - ARRAY['kind', 'n']) ELSE one END;
    key text;
BEGIN
    FOR i IN 1 .. 1 + floor(random() * 2)::int LOOP
        SELECT k INTO key FROM jsonb_object_keys(spec) AS k WHERE k NOT IN ('n', 'kind', 'zone') OR random() < 0.01
        ORDER BY random() LIMIT 1;
        CONTINUE WHEN key IS NULL;
        spec := CASE WHEN random() < 0.05 THEN spec - key
                     ELSE spec || jsonb_build_object(key, pg_temp.value(spec -> key)) END;
    END LOOP;
    RETURN CASE WHEN random() < 0.02 THEN pg_temp.mangled(spec::text) ELSE spec::text END;
EXCEPTION
    WHEN untranslatable_character OR invalid_text_representation THEN -- no line at all
        RETURN one::text;
END
$$;

-- The error in the answer to a line; NULL: nothing.
CREATE FUNCTION pg_temp.wrong(line text, is_proven boolean) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    began CONSTANT timestamptz := clock_timestamp();
    answer jsonb;
    times timestamptz[];
    rule jsonb;
    took interval;
BEGIN
    answer := lockstep.schedule_answer(line, 3);
    took := clock_timestamp() - began;
    times := ARRAY(SELECT t::timestamptz FROM jsonb_array_elements_text(answer -> 'next') AS t);
    IF took > interval '2 s' AND COALESCE((line::jsonb ->> 'n')::int, 3) <= 100 THEN
        RETURN 'it took ' || took;
    ELSIF answer ? 'error' THEN
        RETURN CASE WHEN COALESCE(answer ->> 'hint', '') = '' OR COALESCE(answer ->> 'error', '') = ''
                    OR COALESCE(answer ->> 'message', '') = ''
                        THEN 'an error without its word, its message or its hint: ' || answer::text END;
    END IF;
    IF NOT is_proven THEN
        RETURN NULL;
    END IF;
    rule := line::jsonb - 'after' - 'n';
    IF times <> ARRAY(SELECT DISTINCT t FROM unnest(times) AS t ORDER BY t) THEN
        RETURN 'times that do not ascend: ' || answer::text;
    ELSIF times[1] <= COALESCE((line::jsonb ->> 'after')::timestamptz, now()) THEN
        RETURN 'a time that is not after: ' || answer::text;
    ELSIF EXISTS (SELECT FROM unnest(times) AS t
                  WHERE lockstep.next_time(rule, t - interval '1 microsecond') IS DISTINCT FROM t) THEN
        RETURN 'a time that is not the first one after the moment before it: ' || answer::text;
    ELSIF NOT EXISTS (SELECT FROM lockstep.schedule_explain(line::jsonb, 2) AS e
                      WHERE e.kind = 'means' AND e.words <> '') THEN
        RETURN 'a rule without words';
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN OTHERS THEN
        RETURN SQLSTATE || ': ' || SQLERRM;
END
$$;

CREATE FUNCTION pg_temp.batch(seed float8, most int, is_loud boolean, prove int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    line text;
    what text;
BEGIN
    PERFORM setseed(seed);
    FOR i IN 1..most LOOP
        line := pg_temp.line();
        IF is_loud THEN
            RAISE WARNING '%', line;
        END IF;
        what := pg_temp.wrong(line, i % prove = 0);
        IF what IS NOT NULL THEN
            INSERT INTO violation VALUES (what, line);
        END IF;
    END LOOP;
END
$$;
SELECT format('SELECT pg_temp.batch(%s, %s, %L, %s)', ((:seed + b * 7919) % 1000003) / 1000003.0,
              LEAST(200, :rounds - b * 200), :loud = 1, :prove)
FROM generate_series(0, (:rounds - 1) / 200) AS b \gexec
SELECT what || ' | ' || line FROM violation;
