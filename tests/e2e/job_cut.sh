#!/bin/bash
# The line between a dispatcher and the database is cut without a word: another dispatcher takes over, and when the line
# is whole again there is still one occurrence, one run and one effect of each time.
# ctest: nosan timeout=180
. "$(dirname "$0")/../support/e2e.bash"
sql 'CREATE TABLE effect (at timestamptz, run uuid)'
q=$(scratch_name)
lockstep queue create "$q" -q --create-topic --max-readers 4
lockstep job apply - -q >/dev/null <<END
{"jobs": [{"job": "tick", "queue": "$q", "overlap": "allow",
           "tasks": [{"order": 1, "sql": "INSERT INTO effect VALUES (\$1, \$2)",
                      "params": ["\${scheduled_at}", "\${run}"]}],
           "schedules": [{"name": "second", "kind": "interval", "every": "1s", "misfire": "all"}]}]}
END
mkfifo "$tmp/network"
touch "$tmp/links"
"$here/../torture/proxy.py" "$tmp/network" \
    "one=0:127.0.0.1:$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' <<<"$LOCKSTEP_TEST_PG")" >"$tmp/links" &
exec {network}<>"$tmp/network"
eventually 20 grep -q '^one ' "$tmp/links"
far="$db host=127.0.0.1 port=$(sed -n 's/^one //p' "$tmp/links")"
executor() { # LOG CONNINFO FROZEN_AFTER: $pid
    "$LOCKSTEP_BIN" executor run -d "$2" -b "$LOCKSTEP_TEST_BROKERS" --queue "$q" --readers 2 \
        --set executor.frozen_after="$3" --set executor.heartbeat=200ms 2>"$tmp/$1.log" &
    pid=$!
}
fired() { sql "SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired' AND dispatcher LIKE '%pid $1'"; }
fires() { [ "$(fired "$1")" -gt "$2" ]; }

case_begin 'another dispatcher takes over from one whose line is cut'
executor far "$far" 2s
one=$pid
eventually 40 fires "$one" 1 || wrong 'the first one does not fire'
executor near "$db" 20s # it is not to be lost
other=$pid
eventually 40 grep -q event=executor_started "$tmp/near.log"
expect 'who dispatches' "$(fired "$other")" 0
echo 'one cut' >&"$network"
eventually 60 fires "$other" 2 || wrong 'nobody takes over'

case_begin 'when the line is whole again one of them dispatches'
echo 'one heal' >&"$network"
before=$(fired "$other")
eventually 60 incarnations "$tmp/far.log" 2 || wrong 'the first one does not begin again'
eventually 60 fires "$other" "$((before + 2))" || wrong 'nothing fires after the line was whole again'
caught_up() { is 'SELECT bool_and(next_at > clock_timestamp()) FROM lockstep.schedule' t; }
eventually 60 caught_up || wrong 'times that have passed are not decided'
lockstep job disable tick -q
all_ended() { is 'SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL' 0; }
eventually 60 all_ended || wrong 'a run does not end'

case_begin 'each second has one occurrence, one run on the topic and one effect'
expect 'seconds without a firing' "$(sql "SELECT count(*)
    FROM (SELECT generate_series(min(scheduled_for), max(scheduled_for), '1 s') FROM lockstep.occurrence
          WHERE outcome = 'fired'
    EXCEPT SELECT scheduled_for FROM lockstep.occurrence WHERE outcome = 'fired') AS missing")" 0
expect 'occurrences without one effect' "$(sql "SELECT count(*)
    FROM (SELECT o.run_id FROM lockstep.occurrence o LEFT JOIN effect e ON e.run = o.run_id AND e.at = o.scheduled_for
    WHERE o.outcome = 'fired' GROUP BY 1 HAVING count(e.run) <> 1) AS bad")" 0
kcat -C -q -b "$LOCKSTEP_TEST_BROKERS" -t "$q" -p 0 -o beginning -e -X isolation.level=read_committed -f '%s\n' |
    jq -r '.params[0]? // empty' >"$tmp/times"
expect 'times on the topic' "$(sort -u "$tmp/times" | wc -l)" \
    "$(sql "SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'fired'")"
expect 'times that are there twice' "$(sort "$tmp/times" | uniq -d | wc -l)" 0
told_to_end "$one" "$other"
cases_end
[ $failed = 0 ] || tail -n 20 "$tmp"/*.log
exit $failed
