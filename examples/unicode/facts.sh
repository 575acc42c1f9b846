#!/bin/bash
# What awk finds in the files of the Unicode Character Database: one "name<TAB>value" a line, sorted.
# facts.sql gives the same lines from the views that the pipeline published.
#
#   facts.sh                the files are read from $UNICODE_DATA, by default /usr/share/unicode
set -euo pipefail
export LC_ALL=C
cd "${UNICODE_DATA:-/usr/share/unicode}"

# Shared by the programs below: numbers from hexadecimal digits, bounds of "first" or "first..last".
awk_functions='
function hex(digits,   i, n) {
    n = 0
    gsub(/ /, "", digits)
    for (i = 1; i <= length(digits); i++)
        n = n * 16 + index("0123456789ABCDEF", substr(digits, i, 1)) - 1
    return n
}
function bounds(range,   part) {
    gsub(/ /, "", range)
    if (split(range, part, /\.\./) == 1) part[2] = part[1]
    first = hex(part[1]); last = hex(part[2])
}
function trim(s) { gsub(/^ +| +$/, "", s); return s }
'
run_awk() { awk -v OFS='\t' "$awk_functions $1" "${@:2}"; }

# UnicodeData.txt: counted over lines and over the ranges between First and Last.
characters() {
    run_awk '
    BEGIN { FS = ";" }
    $2 ~ /, First>$/ { start = hex($1); ranges++; next }
    {
        n = $2 ~ /, Last>$/ ? hex($1) - start + 1 : 1
        characters += n; category[$3] += n; class[$4] += n; bidi[$5] += n; mirrored[$10] += n
        plane[int(hex($1) / 65536)] += n
        upper += $13 != ""; lower += $14 != ""; title += $15 != ""; numeric += $9 != ""
        if ($6 != "") { tag = $6 ~ /^</ ? substr($6, 2, index($6, ">") - 2) : "canonical"; decomposition[tag]++ }
        if ($2 !~ /^</) {
            if (length($2) > length(longest)) longest = $2
            words = split($2, word, " ")
            for (i = 1; i <= words; i++) arabic += word[i] == "ARABIC"
        }
    }
    END {
        print "characters", characters
        for (k in category) print "characters of category " k, category[k]
        for (k in class) print "characters of combining class " k, class[k]
        for (k in bidi) print "characters of bidi class " k, bidi[k]
        for (k in plane) print "characters in plane " k, plane[k]
        for (k in decomposition) print "decompositions " k, decomposition[k]
        print "characters mirrored", mirrored["Y"]
        print "characters with a numeric value", numeric
        print "case mappings upper", upper
        print "case mappings lower", lower
        print "case mappings title", title
        print "longest name", longest
        print "occurrences of the word ARABIC in names", arabic
    }' UnicodeData.txt
}

# Blocks.txt
blocks() {
    run_awk '
    BEGIN { FS = "; *" }
    /^[0-9A-F]/ {
        bounds($1); blocks++
        if (last - first + 1 > size) { size = last - first + 1; largest = $2 }
        if ($2 == "Basic Latin") latin = last - first + 1
    }
    END {
        print "blocks", blocks; print "largest block", largest; print "largest block, code points", size
        print "code points of Basic Latin", latin
    }' Blocks.txt
}

# Files of "range ; value": the sum of the lengths of the ranges of each value.
sums() { # FACT FILE...
    run_awk '
    BEGIN { FS = ";" }
    /^[0-9A-F]/ { sub(/#.*/, ""); bounds($1); sum[trim($2)] += last - first + 1 }
    END { for (k in sum) print fact " " k, sum[k] }' fact="$1" "${@:2}"
}

# The same, over assigned characters only: these files list unassigned code points too.
assigned_sums() { # FACT FILE
    run_awk '
    BEGIN { FS = ";" }
    FNR == NR {
        if ($2 ~ /, Last>$/) for (c = start; c < hex($1); c++) assigned[c]
        start = hex($1); assigned[start]; next
    }
    /^[0-9A-F]/ {
        sub(/#.*/, ""); bounds($1); value = trim($2)
        for (c = first; c <= last; c++) sum[value] += c in assigned
    }
    END { for (k in sum) if (sum[k]) print fact " " k, sum[k] }' fact="$1" UnicodeData.txt "$2"
}

scripts() {
    sums 'characters of script' Scripts.txt
    run_awk '
    BEGIN { FS = " *; *| *#" }
    /^[0-9A-F]/ { scripts += !seen[$2]++ }
    END { print "scripts", scripts }' Scripts.txt
}

case_folding() {
    run_awk '
    BEGIN { FS = "; *" }
    FNR == NR { name[$1] = $2; next }
    /^[0-9A-F]/ {
        status[$2]++
        if ($1 ~ /^(00DF|0130|FB03)$/) {
            parts = split($3, part, " ")
            folds_to = name[part[1]]
            for (i = 2; i <= parts; i++) folds_to = folds_to " + " name[part[i]]
            print "folding " $2 " of " name[$1], folds_to
        }
    }
    END { for (k in status) print "case foldings of status " k, status[k] }' UnicodeData.txt CaseFolding.txt
}

# Facts that have their value in a fixed field and need no arithmetic.
small_files() {
    run_awk 'BEGIN { FS = ";" } /^[0-9A-F]/ { n[$3]++ } END { for (k in n) print "name aliases " k, n[k] }' \
        NameAliases.txt
    run_awk '/^[0-9A-F]/ { n++ } END { print "mirrored pairs", n }' BidiMirroring.txt
    run_awk '/^[0-9A-F]/ { n[$3]++ } END { for (k in n) print "brackets " k, n[k] }' BidiBrackets.txt
    run_awk '
    BEGIN { FS = ";" }
    /^[0-9A-F]/ {
        sub(/#.*/, ""); bounds($1); codes = split(trim($2), code, " ")
        for (i = 1; i <= codes; i++) n[code[i]] += last - first + 1
    }
    END { for (k in n) print "script extensions " k, n[k] }' ScriptExtensions.txt
    run_awk 'BEGIN { FS = " *; " } $1 ~ /^(AC00|AC01|D7A3|1F600)$/ { print "name of U+" $1, $2 }' \
        extracted/DerivedName.txt
}

{
    characters
    blocks
    scripts
    case_folding
    small_files
    assigned_sums 'characters of age' DerivedAge.txt
    assigned_sums 'characters of line break' LineBreak.txt
    assigned_sums 'characters of width' EastAsianWidth.txt
    sums 'code points of property' PropList.txt DerivedCoreProperties.txt
} | sort
