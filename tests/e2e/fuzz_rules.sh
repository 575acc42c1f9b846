#!/bin/bash
# Made-up rules of times that no person should write: each is answered soon, either with times that are right by
# themselves, or with a word for programs and a hint, and never with an error that is not ours (tests/fuzz/rules.sql).
# The seed is printed; LOCKSTEP_TEST_SEED, LOCKSTEP_TEST_RULES, the number of rules, and LOCKSTEP_TEST_PROVE may be
# given: one in that many is proven, the others are only asked.
# ctest: nosan timeout=300
. "$(dirname "$0")/../support/e2e.bash"
seed=${LOCKSTEP_TEST_SEED:-$RANDOM}
rounds=${LOCKSTEP_TEST_RULES:-10000}

# The worked cases, and one rule of each kind that they may not have.
corpus() {
    jq -c 'del(.name, .expected, .why, .source)' "$here/../cli/schedule_cases.jsonl"
    cat <<'END'
{"kind": "interval", "every": "1h30m", "phase": "15m", "after": "2025-01-01T00:00:00Z"}
{"kind": "daily", "times": ["06:00", "18:30:15"], "zone": "Europe/Warsaw", "not_before": "2025-01-01T00:00:00Z", "not_after": "2026-01-01T00:00:00Z"}
{"kind": "weekly", "days": ["MON", "fri"], "times": ["02:30"], "zone": "America/New_York"}
{"kind": "monthly", "days": [1, -1, 31], "times": ["06:00"], "zone": "Australia/Lord_Howe"}
{"kind": "once", "at": "2041-03-09T02:30:00", "zone": "America/New_York"}
{"kind": "cron", "expr": "0 0 L-3,15W * MON#2", "zone": "Pacific/Apia"}
END
}

asked() { # ROUNDS MORE...
    local rounds=$1
    shift
    corpus | sed 's/\\/\\\\/g' | "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" -v rounds="$rounds" -v seed="$seed" \
        -v prove="${LOCKSTEP_TEST_PROVE:-1}" "$@" -f "$here/../fuzz/rules.sql"
}

case_begin "of $rounds made-up rules, seed $seed, each is answered or refused as it should be"
if ! asked "$rounds" >"$tmp/said" 2>"$tmp/errors"; then
    asked "$rounds" -v loud=1 >/dev/null 2>"$tmp/loud" || true
    wrong "the database gave up: $(tail -3 "$tmp/errors"); the last line: $(grep WARNING "$tmp/loud" | tail -1)"
fi
expect 'violations' "$(grep -v '^$' "$tmp/said" | head -20)" ''
cases_end
exit $failed
