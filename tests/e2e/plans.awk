# tests/e2e/plans.sh: reads plans.table, then the statements and the functions of sql/, and writes what psql runs, into the directory out:
# prepare has the statements; own.body measures those of sessions that run only ours, any.body the others. psql's variable pass says
# which look it is. Fails where something has no line in the table: a statement, or a function that people may call and that neither
# a statement nor another function calls; and where the table names what is no statement.
BEGIN { FS = "|" }
FNR == 1 {
    n = split(FILENAME, part, "/"); own = substr(part[n], 1, length(part[n]) - 4)
    file = part[n - 1] "_" own; is_function = part[n - 1] == "api" || part[n - 2] == "functions"
}
FILENAME ~ /\.table$/ {
    if ($0 ~ /^(#|$)/) next
    gsub(/ /, "", $1); gsub(/ /, "", $2); gsub(/^ +| +$/, "", $3)
    named[$1] = 1
    if ($2 == "-") next
    measured[$1] = 1
    body = out ($1 ~ /^(reader_|.*[.])/ ? "/any.body" : "/own.body")
    print "BEGIN;" > body
    if ($4 ~ /[^ ]/) print $4 " \\g /dev/null" > body
    print "SELECT set_config('plans.before', public.reads()::text, true) \\g /dev/null" > body
    if ($3 ~ /^WHERE /) print "SELECT * FROM " $1 " " $3 " \\g /dev/null" > body # a view
    else if ($1 ~ /[.]/) print "SELECT * FROM " $1 "(" $3 ") \\g /dev/null" > body
    else print "EXECUTE " $1 ($3 == "" ? "" : "(" $3 ")") " \\g /dev/null" > body
    print "SELECT :'pass' || '|" $1 "|" $2 "|' || public.since();" > body
    print "ROLLBACK;\nSELECT pg_advisory_unlock_all() \\g /dev/null" > body
    next
}
/^--/ { next }
{
    rest = $0
    while (match(rest, /lockstep\.[a-z_]+/)) {
        name = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
        if (!is_function || name != "lockstep." own) called[name] = 1
    }
}
is_function {
    grant = /^GRANT EXECUTE / ? $0 : grant $0 # it may take several lines
    if (grant ~ /^GRANT EXECUTE .* TO .*lockstep_(worker|producer|operator|monitor)/) granted["lockstep." own] = 1
    if (/;$/) grant = ""
    next
}
FNR == 1 || !(file in begun) {
    begun[file] = 1
    if (!(file in named)) { print file " has no line in plans.table"; bad++ }
    if (file in measured) print "PREPARE " file " AS" > (out "/prepare")
}
file in measured { print > (out "/prepare") }
END {
    for (name in granted) if (!(name in called) && !(name in named)) { print name " has no line in plans.table"; bad++ }
    for (name in named) if (name !~ /[.]/ && !(name in begun)) { print name " is in plans.table and is no statement"; bad++ }
    exit bad > 0
}
