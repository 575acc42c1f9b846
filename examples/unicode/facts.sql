-- The facts of facts.sh, from the published views: psql -At -F "$(printf '\t')" -f facts.sql
SELECT name, value
FROM (
              SELECT 'characters', sum(characters)::text FROM unicode.plane_total
    UNION ALL SELECT 'characters in plane ' || plane, characters::text FROM unicode.plane_total
    UNION ALL SELECT 'characters of category ' || code, characters::text
              FROM unicode.general_category_summary WHERE characters > 0
    UNION ALL SELECT 'characters of combining class ' || value, characters::text
              FROM unicode.combining_class_summary WHERE characters > 0
    UNION ALL SELECT 'characters of bidi class ' || code, characters::text
              FROM unicode.bidi_class_summary WHERE characters > 0
    UNION ALL SELECT 'characters of width ' || code, characters::text
              FROM unicode.east_asian_width_summary WHERE characters > 0
    UNION ALL SELECT 'characters of line break ' || code, characters::text
              FROM unicode.line_break_summary WHERE characters > 0
    UNION ALL SELECT 'characters of age ' || version, characters::text FROM unicode.age_summary WHERE characters > 0
    UNION ALL SELECT 'characters of script ' || name, characters::text
              FROM unicode.script_summary WHERE characters > 0 AND code <> 'Zzzz'
    UNION ALL SELECT 'scripts', count(*)::text FROM unicode.script_summary WHERE characters > 0 AND code <> 'Zzzz'
    UNION ALL SELECT 'script extensions ' || script_extension, characters::text FROM unicode.script_extension_total
    UNION ALL SELECT 'characters mirrored', characters::text FROM unicode.mirrored_total WHERE mirrored = 'true'
    UNION ALL SELECT 'characters with a numeric value', count(numeric_value)::text FROM unicode.character
    UNION ALL SELECT 'decompositions ' || decomposition, characters::text FROM unicode.decomposition_total
    UNION ALL SELECT 'case mappings ' || case_mapping, characters::text FROM unicode.case_mapping_total
    UNION ALL SELECT 'case foldings of status ' || case_folding, characters::text FROM unicode.case_folding_total
    UNION ALL SELECT 'name aliases ' || alias, characters::text FROM unicode.alias_total
    UNION ALL SELECT 'brackets ' || bracket, characters::text FROM unicode.bracket_total
    UNION ALL SELECT 'mirrored pairs', count(*)::text FROM unicode.mirrored_pair
    UNION ALL SELECT 'code points of property ' || name, characters::text FROM unicode.property_summary
    UNION ALL SELECT 'blocks', count(*)::text FROM unicode.block_summary
    UNION ALL SELECT 'code points of Basic Latin', (last - first + 1)::text
              FROM unicode.block_summary WHERE name = 'Basic Latin'
    UNION ALL SELECT fact, value
              FROM (SELECT name, last - first + 1 AS size
                    FROM unicode.block_summary ORDER BY size DESC, first LIMIT 1) AS largest,
                   LATERAL (VALUES ('largest block', name), ('largest block, code points', size::text))
                       AS facts (fact, value)
    UNION ALL (SELECT 'longest name', name FROM unicode.character WHERE name IS NOT NULL
               ORDER BY length(name) DESC, code_point LIMIT 1)
    UNION ALL SELECT 'occurrences of the word ARABIC in names', characters::text
              FROM unicode.word_total WHERE word = 'ARABIC'
    UNION ALL SELECT 'folding ' || status || ' of ' || name, folds_to
              FROM unicode.folding WHERE code_point IN (x'DF'::integer, x'130'::integer, x'FB03'::integer)
    UNION ALL SELECT 'name of ' || notation, name
              FROM unicode.character WHERE notation IN ('U+AC00', 'U+AC01', 'U+D7A3', 'U+1F600')
) AS facts (name, value)
ORDER BY name COLLATE "C", value COLLATE "C"
