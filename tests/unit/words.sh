#!/bin/bash
# The words that filters take (cli/words.h) are the words that the SQL writes.
set -euo pipefail
cd "$(dirname "$0")/../.."
failed=0

words() { # MACRO: its words, one a line
    sed -n "/define $1\$\|define $1 /,/\"\$/p" cli/words.h | grep -o '"[^"]*"' | tr -d '"\n' | tr '|' '\n' | sort
}

# Events that are written to the log. These two are no events: the word of a notification, and a reason.
written=$(find sql -name '*.sql' -not -path '*/migrations/*' -exec cat {} + | tr '\n' ' ' |
    grep -oE 'INSERT INTO lockstep\.event_log[^;]*' | grep -oE "'[a-z]+_[a-z_]+'" | tr -d "'" | sort -u |
    grep -vxE 'lockstep_|replay_|blocked_by_transaction|transaction_ended' || true)
while read -r event; do
    words EVENTS | grep -qx "$event" || { echo "the event $event is missing in cli/words.h"; failed=1; }
done <<<"$written"
while read -r event; do
    grep -rqE "'$event'|'${event%%_*}_' \|\|" --include='*.sql' --exclude-dir=migrations sql/*/ ||
        { echo "no SQL writes the event $event"; failed=1; }
done < <(words EVENTS)

statuses=$(sed -nE 's/^ *X\(TASK_[A-Z_]+, "([A-Za-z]+)".*/\1/p' tests/support/status.h | sort)
[ "$(words TASK_STATUS_WORDS)" = "$statuses" ] || { echo "task statuses: $(words TASK_STATUS_WORDS)"; failed=1; }
exit $failed
