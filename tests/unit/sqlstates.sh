#!/bin/bash
# SQLSTATEs stand in db/ alone: the rest of the code asks by name (db/sqlstate.h). And this check itself notices one.
set -euo pipefail
forbidden='(->|\.)code, "[0-9A-Z]{5}"|"(LS0[0-9]{2}|[0-9]{2}P0[0-9]|57014|42501|53[23]00|25006)"'
. "$(dirname "$0")/../support/forbidden.bash"

notices 'if (strcmp(err->code, "57014") == 0)'
notices 'return same(err.code, "0A000");'
notices '#define STALE "LS001"'
passes 'if (sqlstate_is(err, SQLSTATE_QUERY_CANCELED)) /* not strcmp(err->code, "57014") */'
search 'tests/|bench/|examples/|db/|kafka/' db/sqlstate.h 'ask for SQLSTATEs by name'
