#!/bin/bash
# Lands the files of the Unicode Character Database, raw, in the schema unicode_staging of a database:
# one table a file, one row a line, nothing interpreted. Everything or nothing: it is one transaction,
# and each table is compared with its file, byte for byte, before it commits.
#
#   land.sh CONNINFO        the files are read from $UNICODE_DATA, by default /usr/share/unicode
set -euo pipefail

conninfo=${1:?usage: land.sh CONNINFO}
data=${UNICODE_DATA:-/usr/share/unicode}

# table and file
files='
unicode_data            UnicodeData.txt
blocks                  Blocks.txt
scripts                 Scripts.txt
script_extensions       ScriptExtensions.txt
case_folding            CaseFolding.txt
prop_list               PropList.txt
derived_core_properties DerivedCoreProperties.txt
derived_age             DerivedAge.txt
derived_name            extracted/DerivedName.txt
east_asian_width        EastAsianWidth.txt
line_break              LineBreak.txt
name_aliases            NameAliases.txt
jamo                    Jamo.txt
bidi_mirroring          BidiMirroring.txt
bidi_brackets           BidiBrackets.txt
property_value_aliases  PropertyValueAliases.txt
'

# \copy reads each line as one CSV field whose delimiter, quote and null marker are control characters
# that are not in the files; so backslashes, quotes, commas, tabs and empty lines arrive as they are.
land() {
    echo 'CREATE SCHEMA unicode_staging;'
    while read -r table file; do
        [ -n "$table" ] || continue
        if LC_ALL=C grep -q $'[\x01\x02\x03]' "$data/$file"; then
            echo "land.sh: $data/$file holds a control character that serves as a delimiter here" >&2
            return 1
        fi
        digest=$(awk 1 "$data/$file" | md5sum | cut -d' ' -f1)
        cat <<SQL
CREATE TABLE unicode_staging.$table (
    line_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    line text NOT NULL
);
\copy unicode_staging.$table (line) FROM '$data/$file' WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02', NULL E'\x03', ENCODING 'UTF8')
DO \$\$
BEGIN
    IF (SELECT md5(convert_to(string_agg(line || E'\n', '' ORDER BY line_no), 'UTF8'))
        FROM unicode_staging.$table) IS DISTINCT FROM '$digest' THEN
        RAISE EXCEPTION 'unicode_staging.$table is not the same as $file';
    END IF;
END \$\$;
ANALYZE unicode_staging.$table;
SQL
    done <<<"$files"
}

script=$(land)
psql -X -q --single-transaction -v ON_ERROR_STOP=1 -d "$conninfo" <<<"$script"
