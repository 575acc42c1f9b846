-- The staged work of the example: this query returns one row a task, for
--   lockstep publish --queue unicode --query "$(cat pipeline.sql)"
-- It looks at the landed files only to cut them into slices; nothing is parsed before the tasks run.
-- All tasks insert plainly, without ON CONFLICT or IF NOT EXISTS: one that ran twice, or before its
-- phase, would break a primary key, a foreign key or a cross-check.
WITH
-- The files, into how many slices each is cut, and how its fields f[] are typed.
file (name, slices, columns, fields) AS (
    VALUES
    ('unicode_data', 32,
     'code_point integer NOT NULL, name text NOT NULL, category text NOT NULL, combining_class smallint NOT NULL,
      bidi_class text NOT NULL, decomposition text, numeric_value text, mirrored boolean NOT NULL,
      upper_case integer, lower_case integer, title_case integer',
     $$unicode_typed.hex(f[1]), f[2], f[3], f[4]::smallint, f[5], nullif(f[6], ''), nullif(f[9], ''), f[10] = 'Y',
       unicode_typed.hex(f[13]), unicode_typed.hex(f[14]), unicode_typed.hex(f[15])$$),
    ('case_folding', 4,
     'code_point integer NOT NULL, status text NOT NULL, mapping text NOT NULL',
     'unicode_typed.hex(f[1]), btrim(f[2]), btrim(f[3])'),
    ('name_aliases', 2,
     'code_point integer NOT NULL, alias text NOT NULL, type text NOT NULL',
     'unicode_typed.hex(f[1]), f[2], f[3]'),
    ('bidi_mirroring', 2,
     'code_point integer NOT NULL, mirror integer NOT NULL',
     'unicode_typed.hex(f[1]), unicode_typed.hex(f[2])'),
    ('bidi_brackets', 1,
     'code_point integer NOT NULL, pair integer NOT NULL, type text NOT NULL',
     'unicode_typed.hex(f[1]), unicode_typed.hex(f[2]), btrim(f[3])'),
    ('property_value_aliases', 4,
     'property text NOT NULL, code text NOT NULL, name text NOT NULL, long_name text',
     'btrim(f[1]), btrim(f[2]), btrim(f[3]), btrim(f[4])')
    UNION ALL
    -- a range of code points and one value
    SELECT name, slices, 'first integer NOT NULL, last integer NOT NULL, value text NOT NULL',
           $$unicode_typed.hex(split_part(f[1], '..', 1)),
             coalesce(unicode_typed.hex(split_part(f[1], '..', 2)), unicode_typed.hex(f[1])), btrim(f[2])$$
    FROM (VALUES ('blocks', 1), ('scripts', 4), ('script_extensions', 2), ('prop_list', 4), ('derived_age', 4),
                 ('derived_core_properties', 8), ('derived_name', 16), ('east_asian_width', 4), ('line_break', 4),
                 ('jamo', 1)) AS ranges (name, slices)
),
raw (name, lines) AS (
              SELECT 'unicode_data', max(line_no) FROM unicode_staging.unicode_data
    UNION ALL SELECT 'case_folding', max(line_no) FROM unicode_staging.case_folding
    UNION ALL SELECT 'name_aliases', max(line_no) FROM unicode_staging.name_aliases
    UNION ALL SELECT 'bidi_mirroring', max(line_no) FROM unicode_staging.bidi_mirroring
    UNION ALL SELECT 'bidi_brackets', max(line_no) FROM unicode_staging.bidi_brackets
    UNION ALL SELECT 'property_value_aliases', max(line_no) FROM unicode_staging.property_value_aliases
    UNION ALL SELECT 'blocks', max(line_no) FROM unicode_staging.blocks
    UNION ALL SELECT 'scripts', max(line_no) FROM unicode_staging.scripts
    UNION ALL SELECT 'script_extensions', max(line_no) FROM unicode_staging.script_extensions
    UNION ALL SELECT 'prop_list', max(line_no) FROM unicode_staging.prop_list
    UNION ALL SELECT 'derived_age', max(line_no) FROM unicode_staging.derived_age
    UNION ALL SELECT 'derived_core_properties', max(line_no) FROM unicode_staging.derived_core_properties
    UNION ALL SELECT 'derived_name', max(line_no) FROM unicode_staging.derived_name
    UNION ALL SELECT 'east_asian_width', max(line_no) FROM unicode_staging.east_asian_width
    UNION ALL SELECT 'line_break', max(line_no) FROM unicode_staging.line_break
    UNION ALL SELECT 'jamo', max(line_no) FROM unicode_staging.jamo
),
line_slice (name, number, first_line, last_line) AS (
    SELECT name, n, (n - 1) * lines / slices + 1, n * lines / slices
    FROM file JOIN raw USING (name), generate_series(1, slices) AS n
),
-- The code space in eighths of a plane, as far as Blocks.txt has blocks there.
block (first, last) AS (
    SELECT ('x' || lpad(bounds[1], 8, '0'))::bit(32)::integer, ('x' || lpad(bounds[2], 8, '0'))::bit(32)::integer
    FROM unicode_staging.blocks, regexp_match(line, '^([0-9A-F]+)\.\.([0-9A-F]+);') AS bounds
    WHERE bounds IS NOT NULL
),
code_slice (first, last) AS (
    SELECT start, start + 8191
    FROM generate_series(0, x'10FFFF'::integer, 8192) AS start
    WHERE EXISTS (SELECT FROM block WHERE block.first <= start + 8191 AND block.last >= start)
),
-- Order 10: the schemas, each with the functions that the later orders call.
schema_task ("order", name, sql) AS (
    VALUES
    (10, 'schema unicode_typed', $sql$
        CREATE SCHEMA unicode_typed;
        CREATE FUNCTION unicode_typed.hex(digits text) RETURNS integer
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            AS $$ SELECT ('x' || lpad(nullif(btrim(digits), ''), 8, '0'))::bit(32)::integer $$
    $sql$),
    (10, 'schema unicode', $sql$
        CREATE SCHEMA unicode;
        CREATE FUNCTION unicode.digits(code_point integer) RETURNS text
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            AS $$ SELECT lpad(upper(to_hex(code_point)), greatest(4, length(to_hex(code_point))), '0') $$;
        CREATE FUNCTION unicode.expect(what text, actual bigint, expected bigint) RETURNS bigint
            LANGUAGE plpgsql
            AS $$
            BEGIN
                IF actual IS DISTINCT FROM expected THEN
                    RAISE EXCEPTION 'check failed: %: found %, expected %', what, actual, expected;
                END IF;
                RETURN actual;
            END $$
    $sql$)
),
-- Order 20: a typed table a file, and the star: dimensions, facts that refer to them, aggregates.
table_task ("order", name, sql) AS (
    SELECT 20, format('table unicode_typed.%s', name),
           format('CREATE TABLE unicode_typed.%I (line_no integer PRIMARY KEY, %s)', name, columns)
    FROM file
    UNION ALL
    SELECT 20, 'tables of schema unicode', $sql$
        CREATE TABLE unicode.general_category (code text PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE unicode.bidi_class (code text PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE unicode.east_asian_width (code text PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE unicode.line_break (code text PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE unicode.combining_class (value smallint PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE unicode.script (code text PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE TABLE unicode.age (version text PRIMARY KEY, major integer NOT NULL, minor integer NOT NULL);
        CREATE TABLE unicode.block (
            block_id smallint PRIMARY KEY, name text NOT NULL UNIQUE,
            first integer NOT NULL UNIQUE, last integer NOT NULL UNIQUE, CHECK (last > first));
        CREATE TABLE unicode.property (name text PRIMARY KEY, file text NOT NULL);
        CREATE TABLE unicode.code_point (
            code_point integer PRIMARY KEY CHECK (code_point BETWEEN 0 AND 1114111),
            name text,
            category text NOT NULL REFERENCES unicode.general_category,
            combining_class smallint NOT NULL,
            bidi_class text NOT NULL,
            block_id smallint NOT NULL REFERENCES unicode.block,
            script text NOT NULL REFERENCES unicode.script,
            age text NOT NULL REFERENCES unicode.age,
            east_asian_width text NOT NULL,
            line_break text NOT NULL,
            mirrored boolean NOT NULL,
            numeric_value text);
        CREATE TABLE unicode.case_mapping (
            code_point integer REFERENCES unicode.code_point, kind text CHECK (kind IN ('lower', 'title', 'upper')),
            target integer NOT NULL REFERENCES unicode.code_point, PRIMARY KEY (code_point, kind));
        CREATE TABLE unicode.case_folding (
            code_point integer REFERENCES unicode.code_point, status text CHECK (status IN ('C', 'F', 'S', 'T')),
            position integer, target integer NOT NULL REFERENCES unicode.code_point,
            PRIMARY KEY (code_point, status, position));
        CREATE TABLE unicode.decomposition (
            code_point integer REFERENCES unicode.code_point, position integer, tag text,
            part integer NOT NULL REFERENCES unicode.code_point, PRIMARY KEY (code_point, position));
        CREATE TABLE unicode.name_alias (
            alias text, type text, code_point integer NOT NULL REFERENCES unicode.code_point,
            PRIMARY KEY (alias, type));
        CREATE TABLE unicode.mirror (
            code_point integer PRIMARY KEY REFERENCES unicode.code_point,
            mirror integer NOT NULL UNIQUE REFERENCES unicode.code_point);
        CREATE TABLE unicode.bracket (
            code_point integer PRIMARY KEY REFERENCES unicode.code_point,
            pair integer NOT NULL UNIQUE REFERENCES unicode.code_point,
            type text NOT NULL CHECK (type IN ('o', 'c')));
        CREATE TABLE unicode.script_extension (
            code_point integer REFERENCES unicode.code_point, script text REFERENCES unicode.script,
            PRIMARY KEY (code_point, script));
        CREATE TABLE unicode.property_range (
            property text REFERENCES unicode.property, first integer, last integer NOT NULL CHECK (last >= first),
            PRIMARY KEY (property, first));
        CREATE TABLE unicode.total (
            kind text, key text, characters bigint NOT NULL, PRIMARY KEY (kind, key));
        CREATE TABLE unicode.check_passed (name text PRIMARY KEY, value bigint NOT NULL)
    $sql$
),
-- Order 30: parse and type, in slices of lines. Comments begin with '#'.
parse_task ("order", name, sql) AS (
    SELECT 30, format('parse %s %s/%s', name, number, slices), format($sql$
        INSERT INTO unicode_typed.%1$I
        SELECT line_no, %2$s
        FROM unicode_staging.%1$I, string_to_array(split_part(line, '#', 1), ';') AS f
        WHERE line_no BETWEEN %3$s AND %4$s AND line !~ '^\s*(#|$)'
    $sql$, name, fields, first_line, last_line)
    FROM line_slice JOIN file USING (name)
),
-- Order 40: dimensions.
dimension_task ("order", name, sql) AS (
    SELECT 40, 'dimension ' || dimension, format($sql$
        INSERT INTO unicode.%1$I (code, name)
        SELECT code, name FROM unicode_typed.property_value_aliases WHERE property = %2$L AND %3$s
    $sql$, dimension, property, condition)
    FROM (VALUES ('general_category', 'gc', $$length(code) = 2 AND code <> 'LC'$$), ('bidi_class', 'bc', 'true'),
                 ('east_asian_width', 'ea', 'true'), ('line_break', 'lb', 'true'),
                 ('script', 'sc', 'true')) AS aliases (dimension, property, condition)
    UNION ALL
    SELECT 40, 'dimension combining_class', $sql$
        INSERT INTO unicode.combining_class
        SELECT code::smallint, long_name FROM unicode_typed.property_value_aliases WHERE property = 'ccc'
    $sql$
    UNION ALL
    SELECT 40, 'dimension age', $sql$
        INSERT INTO unicode.age
        SELECT code, split_part(code, '.', 1)::integer, split_part(code, '.', 2)::integer
        FROM unicode_typed.property_value_aliases WHERE property = 'age' AND code <> 'NA'
    $sql$
    UNION ALL
    SELECT 40, 'dimension block', $sql$
        INSERT INTO unicode.block
        SELECT row_number() OVER (ORDER BY first), value, first, last FROM unicode_typed.blocks
    $sql$
    UNION ALL
    SELECT 40, 'dimension property', $sql$
        INSERT INTO unicode.property
        SELECT DISTINCT value, 'PropList.txt' FROM unicode_typed.prop_list
        UNION ALL
        SELECT DISTINCT value, 'DerivedCoreProperties.txt' FROM unicode_typed.derived_core_properties
    $sql$
),
-- Order 50: the characters, in slices of the code space. A range of UnicodeData.txt is two lines,
-- "<..., First>" and "<..., Last>"; the names of its characters follow from rules of the standard.
-- A code point that another file does not list has the value of that file's @missing line.
-- The planner takes each generate_series for 1000 rows and would compile the query, at thrice its cost.
code_point_task ("order", name, sql) AS (
    SELECT 50, format('code points %s..%s', upper(to_hex(first)), upper(to_hex(last))), format($sql$
        SET LOCAL jit = off;
        WITH assigned AS (
            SELECT point AS code_point, unicode.digits(point) AS digits, a.name, a.category,
                   a.combining_class, a.bidi_class, a.mirrored, a.numeric_value
            FROM unicode_typed.unicode_data AS a
            LEFT JOIN unicode_typed.unicode_data AS z ON a.name LIKE '<%%, First>' AND z.line_no = a.line_no + 1,
            generate_series(greatest(a.code_point, %1$s), least(coalesce(z.code_point, a.code_point), %2$s)) AS point
            WHERE a.name NOT LIKE '<%%, Last>'
              AND a.code_point <= %2$s AND coalesce(z.code_point, a.code_point) >= %1$s
        )
        INSERT INTO unicode.code_point
        SELECT code_point,
               CASE WHEN a.name LIKE '<CJK Ideograph%%' THEN 'CJK UNIFIED IDEOGRAPH-' || digits
                    WHEN a.name LIKE '<Tangut Ideograph%%' THEN 'TANGUT IDEOGRAPH-' || digits
                    WHEN a.name LIKE '<Hangul Syllable%%' THEN
                        'HANGUL SYLLABLE ' || initial.value || medial.value || coalesce(final.value, '')
                    WHEN a.name NOT LIKE '<%%' THEN a.name END,
               category, combining_class, bidi_class, block.block_id, script.code, age.value,
               coalesce(width.value, 'N'), coalesce(break.value, 'XX'), mirrored, numeric_value
        FROM assigned AS a
        LEFT JOIN %3$s AS in_block USING (code_point)
        LEFT JOIN unicode.block ON block.name = in_block.value
        LEFT JOIN %4$s AS in_script USING (code_point)
        LEFT JOIN unicode.script ON script.name = coalesce(in_script.value, 'Unknown')
        LEFT JOIN %5$s AS age USING (code_point)
        LEFT JOIN %6$s AS width USING (code_point)
        LEFT JOIN %7$s AS break USING (code_point)
        LEFT JOIN unicode_typed.jamo AS initial
            ON a.name LIKE '<Hangul Syllable%%' AND initial.first = x'1100'::integer + (code_point - 44032) / 588
        LEFT JOIN unicode_typed.jamo AS medial
            ON a.name LIKE '<Hangul Syllable%%' AND medial.first = x'1161'::integer + (code_point - 44032) %% 588 / 28
        LEFT JOIN unicode_typed.jamo AS final
            ON a.name LIKE '<Hangul Syllable%%' AND (code_point - 44032) %% 28 > 0
               AND final.first = x'11A7'::integer + (code_point - 44032) %% 28
    $sql$, first, last, expand[1], expand[2], expand[3], expand[4], expand[5])
    FROM code_slice, LATERAL (
        SELECT array_agg(format(
            '(SELECT code_point, value FROM unicode_typed.%I, generate_series(greatest(first, %s), least(last, %s))'
            ' AS code_point WHERE first <= %3$s AND last >= %2$s)', name, code_slice.first, code_slice.last) ORDER BY n)
        FROM unnest(ARRAY['blocks', 'scripts', 'derived_age', 'east_asian_width', 'line_break'])
            WITH ORDINALITY AS looked_up (name, n)
    ) AS lookup (expand)
),
-- Order 60: facts about characters, in the slices of the files that they come from. Half of the foreign keys of the
-- characters were checked row by row as these were inserted, the other half is checked here, all rows at once.
fact_task ("order", name, sql) AS (
    SELECT 60, 'more foreign keys of code_point', $sql$
        ALTER TABLE unicode.code_point
            ADD CONSTRAINT code_point_combining_class_fkey
                FOREIGN KEY (combining_class) REFERENCES unicode.combining_class,
            ADD CONSTRAINT code_point_bidi_class_fkey FOREIGN KEY (bidi_class) REFERENCES unicode.bidi_class,
            ADD CONSTRAINT code_point_east_asian_width_fkey
                FOREIGN KEY (east_asian_width) REFERENCES unicode.east_asian_width,
            ADD CONSTRAINT code_point_line_break_fkey FOREIGN KEY (line_break) REFERENCES unicode.line_break
    $sql$
    UNION ALL
    SELECT 60, format('%s %s/%s', fact, number, slices), format(statement, first_line, last_line)
    FROM (VALUES
        ('case_mapping', 'unicode_data', $sql$
            INSERT INTO unicode.case_mapping
            SELECT code_point, kind, target
            FROM unicode_typed.unicode_data CROSS JOIN LATERAL
                 (VALUES ('lower', lower_case), ('title', title_case), ('upper', upper_case)) AS mapping (kind, target)
            WHERE line_no BETWEEN %s AND %s AND target IS NOT NULL $sql$),
        ('decomposition', 'unicode_data', $sql$
            INSERT INTO unicode.decomposition
            SELECT code_point, position, substring(decomposition FROM '<(.*)>'), unicode_typed.hex(part)
            FROM unicode_typed.unicode_data,
                 string_to_table(regexp_replace(decomposition, '<.*> ', ''), ' ')
                     WITH ORDINALITY AS parts (part, position)
            WHERE line_no BETWEEN %s AND %s AND decomposition IS NOT NULL $sql$),
        ('case_folding', 'case_folding', $sql$
            INSERT INTO unicode.case_folding
            SELECT code_point, status, position, unicode_typed.hex(target)
            FROM unicode_typed.case_folding, string_to_table(mapping, ' ') WITH ORDINALITY AS parts (target, position)
            WHERE line_no BETWEEN %s AND %s $sql$),
        ('name_alias', 'name_aliases', $sql$
            INSERT INTO unicode.name_alias
            SELECT alias, type, code_point FROM unicode_typed.name_aliases WHERE line_no BETWEEN %s AND %s $sql$),
        ('mirror', 'bidi_mirroring', $sql$
            INSERT INTO unicode.mirror
            SELECT code_point, mirror FROM unicode_typed.bidi_mirroring WHERE line_no BETWEEN %s AND %s $sql$),
        ('bracket', 'bidi_brackets', $sql$
            INSERT INTO unicode.bracket
            SELECT code_point, pair, type FROM unicode_typed.bidi_brackets WHERE line_no BETWEEN %s AND %s $sql$),
        ('script_extension', 'script_extensions', $sql$
            INSERT INTO unicode.script_extension
            SELECT code_point, script
            FROM unicode_typed.script_extensions, generate_series(first, last) AS code_point,
                 string_to_table(value, ' ') AS script
            WHERE line_no BETWEEN %s AND %s $sql$),
        ('property_range of PropList', 'prop_list', $sql$
            INSERT INTO unicode.property_range
            SELECT value, first, last FROM unicode_typed.prop_list WHERE line_no BETWEEN %s AND %s $sql$),
        ('property_range of DerivedCoreProperties', 'derived_core_properties', $sql$
            INSERT INTO unicode.property_range
            SELECT value, first, last FROM unicode_typed.derived_core_properties
            WHERE line_no BETWEEN %s AND %s $sql$)
    ) AS facts (fact, source, statement)
    JOIN line_slice ON line_slice.name = source
    JOIN file ON file.name = source
),
-- Order 70: indexes, several at once on the same table (a plain CREATE INDEX lets its like through).
index_task ("order", name, sql) AS (
    SELECT 70, format('index %s', index),
           format('CREATE %s INDEX %I ON unicode.%I (%s)', CASE WHEN "unique" THEN 'UNIQUE' END, index, "table",
                  columns)
    FROM (VALUES
        ('code_point_name', true, 'code_point', 'name'),
        ('code_point_category', false, 'code_point', 'category, code_point'),
        ('code_point_block', false, 'code_point', 'block_id, code_point'),
        ('code_point_script', false, 'code_point', 'script, code_point'),
        ('code_point_age', false, 'code_point', 'age, code_point'),
        ('code_point_bidi_class', false, 'code_point', 'bidi_class, code_point'),
        ('code_point_width', false, 'code_point', 'east_asian_width, code_point'),
        ('code_point_line_break', false, 'code_point', 'line_break, code_point'),
        ('case_mapping_target', false, 'case_mapping', 'target, kind'),
        ('case_folding_target', false, 'case_folding', 'target, status'),
        ('decomposition_part', false, 'decomposition', 'part'),
        ('name_alias_code_point', false, 'name_alias', 'code_point'),
        ('property_range_first', true, 'property_range', 'first, last, property')
    ) AS indexes (index, "unique", "table", columns)
),
-- Order 80: cross-checks between the files; each raises an exception when it finds something else than expected.
check_task ("order", name, sql) AS (
    SELECT 80, 'check ' || name,
           format('INSERT INTO unicode.check_passed SELECT %1$L, unicode.expect(%1$L, (%2$s), (%3$s))',
                  name, found, expected)
    FROM (
        SELECT format('all data lines of %s are typed', name),
               format('SELECT count(*) FROM unicode_typed.%I', name),
               format('SELECT count(*) FROM unicode_staging.%I WHERE line ~ ''^[0-9A-Za-z]''', name)
        FROM file
        UNION ALL
        VALUES
        ('every First has its Last',
         $$SELECT 2 * count(*) FROM unicode_typed.unicode_data AS a
           JOIN unicode_typed.unicode_data AS z ON z.line_no = a.line_no + 1
           WHERE a.name LIKE '<%, First>' AND z.name = replace(a.name, 'First>', 'Last>')$$,
         $$SELECT count(*) FROM unicode_staging.unicode_data WHERE line ~ '(First|Last)>;'$$),
        ('ranges are expanded',
         'SELECT count(*) FROM unicode.code_point',
         $$SELECT sum(CASE WHEN name LIKE '<%, Last>' THEN code_point
                           WHEN name LIKE '<%, First>' THEN 1 - code_point ELSE 1 END)
           FROM unicode_typed.unicode_data$$),
        ('names are those of DerivedName.txt',
         $$SELECT count(*) FROM unicode.code_point
           FULL JOIN (SELECT code_point, replace(value, '*', unicode.digits(code_point)) AS name
                      FROM unicode_typed.derived_name, generate_series(first, last) AS code_point) AS derived
               USING (code_point)
           WHERE code_point.name IS DISTINCT FROM derived.name$$, '0'),
        ('Hangul syllables', $$SELECT count(*) FROM unicode.code_point WHERE name LIKE 'HANGUL SYLLABLE %'$$,
         '19 * 21 * 28'),
        ('blocks do not overlap',
         'SELECT count(*) FROM unicode.block AS a JOIN unicode.block AS b ON a.first < b.first AND a.last >= b.first',
         '0'),
        ('characters lie in their blocks',
         'SELECT count(*) FROM unicode.code_point JOIN unicode.block USING (block_id) '
         'WHERE code_point BETWEEN first AND last',
         'SELECT count(*) FROM unicode.code_point'),
        ('Scripts.txt lists characters only',
         'SELECT sum(last - first + 1) FROM unicode_typed.scripts',
         $$SELECT count(*) FROM unicode.code_point WHERE script <> 'Zzzz'$$),
        ('only private use and surrogates have no script',
         $$SELECT count(*) FROM unicode.code_point WHERE script = 'Zzzz'$$,
         $$SELECT count(*) FROM unicode.code_point WHERE category IN ('Co', 'Cs')$$),
        ('DerivedAge.txt lists characters and noncharacters',
         'SELECT sum(last - first + 1) FROM unicode_typed.derived_age',
         $$SELECT (SELECT count(*) FROM unicode.code_point) + sum(last - first + 1)
           FROM unicode.property_range WHERE property = 'Noncharacter_Code_Point'$$),
        ('no noncharacter is a character',
         $$SELECT count(*) FROM unicode.code_point JOIN unicode.property_range ON code_point BETWEEN first AND last
           WHERE property = 'Noncharacter_Code_Point'$$, '0'),
        ('Uppercase is Lu and Other_Uppercase',
         $$SELECT sum(last - first + 1) FROM unicode.property_range WHERE property = 'Uppercase'$$,
         $$SELECT (SELECT count(*) FROM unicode.code_point WHERE category = 'Lu') + sum(last - first + 1)
           FROM unicode.property_range WHERE property = 'Other_Uppercase'$$),
        ('Lowercase is Ll and Other_Lowercase',
         $$SELECT sum(last - first + 1) FROM unicode.property_range WHERE property = 'Lowercase'$$,
         $$SELECT (SELECT count(*) FROM unicode.code_point WHERE category = 'Ll') + sum(last - first + 1)
           FROM unicode.property_range WHERE property = 'Other_Lowercase'$$),
        ('Math is Sm and Other_Math',
         $$SELECT sum(last - first + 1) FROM unicode.property_range WHERE property = 'Math'$$,
         $$SELECT (SELECT count(*) FROM unicode.code_point WHERE category = 'Sm') + sum(last - first + 1)
           FROM unicode.property_range WHERE property = 'Other_Math'$$),
        ('every folding has its targets in order',
         $$SELECT count(*) FROM (SELECT FROM unicode.case_folding GROUP BY code_point, status
                                 HAVING max(position) = count(*)) AS folding$$,
         'SELECT count(*) FROM unicode_typed.case_folding'),
        ('a full folding is longer, the others are not',
         $$SELECT count(*) FROM unicode.case_folding WHERE position > 1 AND status <> 'F'$$, '0'),
        ('mirrors mirror each other',
         'SELECT count(*) FROM unicode.mirror AS a JOIN unicode.mirror AS b ON a.mirror = b.code_point '
         'AND b.mirror = a.code_point',
         'SELECT count(*) FROM unicode_typed.bidi_mirroring'),
        ('mirrored characters are marked so in UnicodeData.txt',
         'SELECT count(*) FROM unicode.mirror JOIN unicode.code_point USING (code_point) WHERE NOT mirrored', '0'),
        ('an opening bracket closes and the reverse',
         $$SELECT count(*) FROM unicode.bracket AS a JOIN unicode.bracket AS b
           ON a.pair = b.code_point AND b.pair = a.code_point AND a.type <> b.type$$,
         'SELECT count(*) FROM unicode_typed.bidi_brackets'),
        ('script extensions extend',
         $$SELECT count(*) FROM unicode.code_point WHERE script NOT IN ('Zyyy', 'Zinh')
             AND code_point IN (SELECT code_point FROM unicode.script_extension)
             AND (code_point, script) NOT IN (SELECT code_point, script FROM unicode.script_extension)$$, '0'),
        ('no alias is a character''s name',
         'SELECT count(*) FROM unicode.name_alias JOIN unicode.code_point ON name = alias', '0')
    ) AS checks (name, found, expected)
),
-- Order 90: aggregates.
aggregate_task ("order", name, sql) AS (
    SELECT 90, 'total by ' || kind, format($sql$
        INSERT INTO unicode.total SELECT %L, %s, %s FROM %s GROUP BY 2
    $sql$, kind, key, value, source)
    FROM (VALUES
        ('category', 'category', 'count(*)', 'unicode.code_point'),
        ('combining_class', 'combining_class::text', 'count(*)', 'unicode.code_point'),
        ('bidi_class', 'bidi_class', 'count(*)', 'unicode.code_point'),
        ('block', 'block_id::text', 'count(*)', 'unicode.code_point'),
        ('script', 'script', 'count(*)', 'unicode.code_point'),
        ('age', 'age', 'count(*)', 'unicode.code_point'),
        ('east_asian_width', 'east_asian_width', 'count(*)', 'unicode.code_point'),
        ('line_break', 'line_break', 'count(*)', 'unicode.code_point'),
        ('plane', '(code_point / 65536)::text', 'count(*)', 'unicode.code_point'),
        ('mirrored', 'mirrored::text', 'count(*)', 'unicode.code_point'),
        ('case_mapping', 'kind', 'count(*)', 'unicode.case_mapping'),
        ('case_folding', 'status', 'count(DISTINCT code_point)', 'unicode.case_folding'),
        ('decomposition', $$coalesce(tag, 'canonical')$$, 'count(DISTINCT code_point)', 'unicode.decomposition'),
        ('alias', 'type', 'count(*)', 'unicode.name_alias'),
        ('bracket', 'type', 'count(*)', 'unicode.bracket'),
        ('script_extension', 'script', 'count(*)', 'unicode.script_extension'),
        ('property', 'property', 'sum(last - first + 1)', 'unicode.property_range'),
        ('word', 'word', 'count(*)', $$unicode.code_point, string_to_table(name, ' ') AS word$$)
    ) AS aggregates (kind, key, value, source)
),
-- Order 100: the views that are published.
view_task ("order", name, sql) AS (
    SELECT 100, 'view ' || name, format('CREATE VIEW unicode.%I AS %s', name, query)
    FROM (
        SELECT dimension || '_summary', format(
            $$SELECT dimension.*, coalesce(total.characters, 0) AS characters
              FROM unicode.%I AS dimension LEFT JOIN unicode.total ON kind = %L AND key = dimension.%I::text$$,
            dimension, kind, key)
        FROM (VALUES ('general_category', 'category', 'code'), ('bidi_class', 'bidi_class', 'code'),
                     ('east_asian_width', 'east_asian_width', 'code'), ('line_break', 'line_break', 'code'),
                     ('combining_class', 'combining_class', 'value'), ('script', 'script', 'code'),
                     ('age', 'age', 'version'), ('block', 'block', 'block_id'),
                     ('property', 'property', 'name')) AS dimensions (dimension, kind, key)
        UNION ALL
        SELECT kind || '_total', format('SELECT key AS %I, characters FROM unicode.total WHERE kind = %L', kind, kind)
        FROM unnest(ARRAY['plane', 'mirrored', 'case_mapping', 'case_folding', 'decomposition', 'alias', 'bracket',
                          'script_extension', 'word']) AS kind
        UNION ALL
        VALUES
        ('character',
         $$SELECT code_point, 'U+' || unicode.digits(code_point) AS notation, code_point.name,
                  category.name AS category, script.name AS script, block.name AS block, age, numeric_value
           FROM unicode.code_point
           JOIN unicode.general_category AS category ON category.code = code_point.category
           JOIN unicode.script ON script.code = code_point.script
           JOIN unicode.block USING (block_id)$$),
        ('folding',
         $$SELECT a.code_point, a.name, status, string_agg(z.name, ' + ' ORDER BY position) AS folds_to
           FROM unicode.case_folding AS folding
           JOIN unicode.code_point AS a USING (code_point)
           JOIN unicode.code_point AS z ON z.code_point = target
           GROUP BY a.code_point, status$$),
        ('mirrored_pair',
         $$SELECT a.name, z.name AS mirror, bracket.type AS bracket
           FROM unicode.mirror
           JOIN unicode.code_point AS a USING (code_point)
           JOIN unicode.code_point AS z ON z.code_point = mirror
           LEFT JOIN unicode.bracket ON bracket.code_point = a.code_point$$)
    ) AS views (name, query)
)
SELECT "order", name, sql FROM schema_task
UNION ALL SELECT "order", name, sql FROM table_task
UNION ALL SELECT "order", name, sql FROM parse_task
UNION ALL SELECT "order", name, sql FROM dimension_task
UNION ALL SELECT "order", name, sql FROM code_point_task
UNION ALL SELECT "order", name, sql FROM fact_task
UNION ALL SELECT "order", name, sql FROM index_task
UNION ALL SELECT "order", name, sql FROM check_task
UNION ALL SELECT "order", name, sql FROM aggregate_task
UNION ALL SELECT "order", name, sql FROM view_task
ORDER BY "order", name
