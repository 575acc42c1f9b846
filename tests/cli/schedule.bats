#!/usr/bin/env bats
# schedule next, schedule explain: rules of times that are not stored.
# ctest: nosan timeout=120

setup() {
    . "$BATS_TEST_DIRNAME/../support/shell.bash"
    scratch_database
    cases=$BATS_TEST_DIRNAME/schedule_cases.jsonl
}

teardown() {
    scratch_drop
}

next() { lockstep schedule next "$@"; }

# refused RULE WORDS: the command refuses the rule as bad usage and says so
refused() {
    run next "$1"
    [ "$status" -eq 2 ] || { echo "$1: $output"; return 1; }
    [[ $output == *"$2"* && $output == *hint:* ]] || { echo "$1: $output"; return 1; }
}

@test "each worked case has the times, or the error, that it says" {
    next --file "$cases" >"$BATS_TEST_TMPDIR/answers"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/answers")" -eq "$(wc -l <"$cases")" ]
    diff <(jq -c '.expected' "$cases") <(jq -c 'if .error then {error} else . end' "$BATS_TEST_TMPDIR/answers")
    [ "$(jq -s 'map(select(.error and (.hint == "" or .hint == null))) | length' "$BATS_TEST_TMPDIR/answers")" -eq 0 ]
}

@test "a cron expression, or a rule as an object, is answered with its next times" {
    [ "$(next '0 6 * * MON-FRI' --zone Europe/Warsaw --after 2025-03-28T12:00:00Z -n 2 -o json |
        jq -c 'map([.at, .local])')" = \
        '[["2025-03-31T04:00:00+00:00","Mon 2025-03-31 06:00:00"],'\
'["2025-04-01T04:00:00+00:00","Tue 2025-04-01 06:00:00"]]' ]
    times() { next "$1" --after 2025-01-01T00:00:00Z -n "${2:-2}" -o jsonl | jq -r .at | paste -sd' '; }
    [ "$(times '{"kind": "interval", "every": "1h30m", "phase": "15m"}')" = \
        "2025-01-01T00:15:00+00:00 2025-01-01T01:45:00+00:00" ]
    [ "$(times '@every 90s')" = "2025-01-01T00:01:30+00:00 2025-01-01T00:03:00+00:00" ]
    [ "$(times '{"kind": "daily", "times": ["18:30", "06:00:15", "18:30"]}' 3)" = \
        "2025-01-01T06:00:15+00:00 2025-01-01T18:30:00+00:00 2025-01-02T06:00:15+00:00" ]
    [ "$(times '{"kind": "weekly", "days": ["MON", "fri"], "times": ["06:00"], "zone": "Asia/Tokyo"}')" = \
        "2025-01-02T21:00:00+00:00 2025-01-05T21:00:00+00:00" ]
    [ "$(times '{"kind": "monthly", "days": [-1, 30], "times": ["06:00"]}' 3)" = \
        "2025-01-30T06:00:00+00:00 2025-01-31T06:00:00+00:00 2025-02-28T06:00:00+00:00" ]
    [ "$(times '{"kind": "once", "at": "2025-03-09T02:30:00", "zone": "America/New_York"}')" = \
        "2025-03-09T07:00:00+00:00" ]
    [ "$(times '{"kind": "daily", "times": ["06:00"],
                 "not_before": "2026-01-01T06:00:00Z", "not_after": "2026-01-02T06:00:00Z"}' 9)" = \
        "2026-01-01T06:00:00+00:00 2026-01-02T06:00:00+00:00" ]
    [ "$(times '*/15 * * * * MON')" = "2025-01-06T00:00:00+00:00 2025-01-06T00:00:15+00:00" ]
    run next '{"kind": "once", "at": "2020-01-01T00:00:00Z"}'
    [ "$status" -eq 0 ]
    [[ $output == *"never fires"* ]]
}

@test "7 as a day of the week is another name of Sunday, in ranges and with steps, too" {
    days() { # FIELD: the days of a week on which it fires
        next "0 3 * * $1" --after 2025-01-05T00:00:00Z -n 7 -o json |
            jq -r '[.[] | select(.at < "2025-01-12") | .local[:3]] | join(" ")'
    }
    for sunday in 7 0 7-7 0-0 7-0 SUN-SUN 7-7/1 7-7/2; do
        [ "$(days "$sunday")" = Sun ] || { echo "$sunday: $(days "$sunday")"; return 1; }
    done
    for all in 0-7 1-7 0-6 SUN-7; do
        [ "$(days "$all")" = 'Sun Mon Tue Wed Thu Fri Sat' ] || { echo "$all: $(days "$all")"; return 1; }
    done
    [ "$(days 5-7)" = 'Sun Fri Sat' ]
    [ "$(days 7-2)" = 'Sun Mon Tue' ]
    [ "$(days 7/2)" = 'Sun Tue Thu Sat' ]
    [ "$(days 5-7/2)" = 'Sun Fri' ]
}

@test "the hint for a range that runs backwards has the values of that range" {
    hinted() { # FIELDS BEFORE THE RANGE, RANGE, FIELDS BEHIND IT, VALUES: the hint, and that it is accepted
        run next "$1$2$3"
        [ "$status" -eq 2 ]
        [[ $output == *"runs backwards"*"write $4" ]] || { echo "$2: $output"; return 1; }
        next "$1$4$3" >/dev/null
    }
    hinted '0 ' 22-6 ' * * *' 22-23,0-6
    hinted '0 ' 22-6/1 ' * * *' 22-23,0-6
    hinted '0 ' 22-6/2 ' * * *' 0,2,4,6,22
    hinted '0 ' 22-6/3 ' * * *' 1,4,22
    hinted '0 ' 23-6/12 ' * * *' 23
    hinted '' 50-10/7 ' * * * *' 4,50,57
    hinted '0 0 1 ' 11-2/2 ' *' 1,11
    hinted '0 0 1 ' NOV-mar/2 ' *' JAN,MAR,NOV
    hinted '0 0 ' 25-5/3 ' * *' 3,25,28,31
    hinted '0 0 * * ' FRI-MON '' FRI-SAT,SUN-MON
    hinted '0 0 * * ' FRI-MON/2 '' SUN,FRI
    hinted '0 0 * * ' 6-1/2 '' 1,6
    [ "$(next '0 0,2,4,6,22 * * *' --after 2025-01-01T20:00:00Z -n 5 -o json | jq -r '[.[].at[11:13]] | join(" ")')" = \
        '22 00 02 04 06' ]
}

@test "what cannot be meant is refused with its field and what to write" {
    refused '0 25 * * *' 'hour: 25'
    refused '0 0 30 2 *' 'day of month: 30 never occurs in month 2'
    refused '*/90 * * * *' '@every 90m'
    refused '0 0 12 * * MON 2025' 'this one has 7'
    refused '0 12 ? * 2' 'Quartz'
    refused '0 0 * * MONDAY' 'write MON'
    refused '@reboot' '@reboot'
    refused '@Daily' 'lower case'
    refused 'H * * * *' jitter
    refused '0 0 $ * *' 'write L'
    refused 'CRON_TZ=Europe/Warsaw 0 6 * * *' zone
    refused '0 0 * * 22-2' 'day of week: 22'
    refused '0 22-2 * * *' 'write 22-23,0-2'
    refused '1,,2 * * * *' 'minute'
    refused '5-1/0 * * * *' step
    refused '0 0 L-31 * *' 'L-1 to L-30'
    refused '0 0 * * MON#6' 'MON#1 to MON#5'
    refused '' '5 fields'
    refused "$(printf '1,%.0s' {1..700})1 * * * *" '5 fields'
    refused '99999999999999999999 * * * *' 'minute: 99999999999999999999'
    refused '{"kind": "cron", "expr": "@daily", "zone": "Mars/Olympus"}' 'zone: "Mars/Olympus"'
    refused '{"kind": "cron", "expr": "@daily", "zone": "CST"}' 'zone: "CST"'
    refused '{"kind": "cron", "expr": "@daily", "zone": "europe/warsaw"}' 'write Europe/Warsaw'
    refused '{"kind": "cron", "expr": "@daily", "zone": "Foo5Bar"}' 'zone: "Foo5Bar"'
    refused '{"kind": "interval", "every": "0s"}' 'every: 0s'
    refused '{"kind": "interval", "every": "999999999d"}' 'every: 999999999d'
    refused '{"kind": "daily", "times": ["24:00"]}' 'times: "24:00"'
    refused '{"kind": "daily", "times": []}' times
    refused '{"kind": "daily", "times": [null]}' times
    refused '{"kind": "weekly", "days": [null], "times": ["06:00"]}' days
    refused '{"kind": "weekly", "days": ["MOO"], "times": ["06:00"]}' 'days: "MOO"'
    refused '{"kind": "monthly", "days": [0], "times": ["06:00"]}' 'days: 0'
    refused '{"kind": "once", "at": "2025-02-31T00:00:00Z"}' '2025-02-31'
    refused '{"kind": "hourly"}' 'kind: hourly'
    refused '{"kind": "daily", "times": ["06:00"],
              "not_before": "2026-01-02T00:00:00Z", "not_after": "2026-01-01T00:00:00Z"}' 'not_after'
    agent='"kind": "calendar", "active_start_date": 20250101'
    refused "{$agent, \"freq_type\": 64}" 'freq_type: 64'
    refused "{$agent, \"freq_type\": 8, \"freq_interval\": 0, \"freq_recurrence_factor\": 1}" 'freq_interval: 0'
    refused "{$agent, \"freq_type\": 16, \"freq_interval\": 32, \"freq_recurrence_factor\": 1}" 'freq_interval: 32'
    refused "{$agent, \"freq_type\": 4, \"freq_interval\": 1, \"active_end_date\": 20241231}" active_end_date
    refused "{$agent, \"freq_type\": 4, \"freq_interval\": 1, \"active_start_time\": 246000}" active_start_time
    refused '{"kind": "calendar", "freq_type": 4, "freq_interval": 1, "active_start_date": 20250231}' active_start_date
    refused "{$agent, \"freq_type\": 4, \"freq_interval\": 1, \"freq_subday_type\": 2, \"freq_subday_interval\": 9}" \
        freq_subday_interval
    refused '{"kind": "calendar", "freq_type": 1}' 'active_start_date: it is missing'
    refused '{x' JSON
    run next '@daily' --after tomorrow
    [ "$status" -eq 2 ]
    run next
    [ "$status" -eq 2 ]
    run next '@daily' --file "$cases"
    [ "$status" -eq 2 ]
    run next --file /nowhere
    [ "$status" -eq 2 ]
    [ "$(printf '%s\n' '{"kind": "cron", "expr": "0 25 * * *"}' 'x' '' '[1]' | next --file - | jq -r .error |
        paste -sd' ')" = "value json syntax" ]
    run bash -c 'printf "{\0}\n" | "$LOCKSTEP_BIN" schedule next --file - -d "$0"' "$db"
    [ "$status" -eq 2 ]
    [[ $output == *"stdin:1"*NUL* ]]
}

@test "a rule is explained: in words, with warnings, next times and clock changes" {
    run lockstep schedule explain '30 2 * * *' --zone America/New_York --after 2025-01-01T00:00:00Z -n 1
    [ "$status" -eq 0 ]
    [[ $output == "at 02:30 every day, by the clock of America/New_York"*"Wed 2025-01-01 02:30:00"* ]]
    [[ $output == *"02:00 to 03:00: 02:30:00 does not exist: fires once, at 03:00:00" ]]
    # Three hours and more are a new calendar.
    run lockstep schedule explain '30 2 * * *' --zone Antarctica/Casey --after 2012-02-01T00:00:00Z -n 1
    [[ $output == *"04:00 to 01:00: the times in between come twice: fires both times" ]]
    run lockstep schedule explain '30 2 * * *' --zone Antarctica/Casey --after 2011-10-01T00:00:00Z -n 1
    [[ $output == *"02:00 to 05:00: the times in between do not exist: nothing fires"* ]]
    run lockstep schedule explain '*/45 * 31 * FRI' -o json
    [ "$(jq -r '[.[] | select(.kind == "warning")] | length' <<<"$output")" -eq 3 ]
    run lockstep schedule explain '0 0 30 2 *'
    [ "$status" -eq 2 ]
    # words for every shape of rule
    while read -r rule; do
        lockstep schedule explain "$rule" -n 1 -o json | jq -e '.[0].words | length > 10' >/dev/null
    done < <(jq -c 'select(.expected.next) | del(.name, .why, .expected, .n)' "$cases")
}

@test "SQL has the same answers" {
    [ "$(sql "SELECT lockstep.next_time(
        '{\"kind\": \"cron\", \"expr\": \"30 2 * * *\", \"zone\": \"America/New_York\"}',
        '2025-03-08 12:00Z') AT TIME ZONE 'UTC'")" = "2025-03-09 07:00:00" ]
    [ "$(sql "SELECT string_agg(to_char(f AT TIME ZONE 'UTC', 'MM-DD HH24'), ' ' ORDER BY f)
        FROM lockstep.forecast_agent(8, 10, 1, 0, 0, 2, 20250101, NULL, 90000, NULL, '2025-01-01 00:00Z', 4) AS f")" = \
        "01-01 09 01-06 09 01-15 09 01-20 09" ]
}

@test "a calendar rule without a start date counts from a fixed day, and says so" {
    rule='{"kind": "calendar", "freq_type": 4, "freq_interval": 2'
    expected=$(lockstep schedule next "$rule, \"active_start_date\": 19900101}" -o json)
    [ "$(jq length <<<"$expected")" -eq 5 ]
    [ "$(lockstep schedule next "$rule}" -o json 2>"$BATS_TEST_TMPDIR/said")" = "$expected" ]
    grep -q 'counts from 1990-01-01' "$BATS_TEST_TMPDIR/said"
    [ "$(lockstep schedule next "$rule, \"active_start_date\": 0}" -o json 2>/dev/null)" = "$expected" ]
    lockstep schedule explain "$rule}" 2>"$BATS_TEST_TMPDIR/said" |
        grep -q 'warning: active_start_date is not given: it counts from 1990-01-01'
    [ ! -s "$BATS_TEST_TMPDIR/said" ]
    [ "$(echo "$rule}" | lockstep schedule next --file - | jq -r .counted_from)" = 1990-01-01 ]
    # What has no date to count from says nothing of one.
    run lockstep schedule next '{"kind": "calendar", "freq_type": 4, "freq_interval": 1}' -o csv
    [[ $output != *'counts from'* ]]
    [ "$(lockstep schedule next "$rule, \"active_start_date\": 20250101}" -o json 2>&1 | jq length)" -eq 5 ]
    # Days of the past are times of it, too.
    [ "$(lockstep schedule next "$rule}" --after 2001-01-01T12:00:00Z -n 1 -o json 2>/dev/null | jq -r '.[].at')" = \
        2001-01-03T00:00:00+00:00 ]
}
