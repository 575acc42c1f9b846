#!/bin/bash
# Columns of results are read by the names that a statement's contract gives them, never by number. And this check
# itself notices one.
set -euo pipefail
forbidden='\bdb_(text|int|bool|null|length|double|word)\(([^()]|\([^()]*\))*, [0-9]+\)'
. "$(dirname "$0")/../support/forbidden.bash"

notices 'int64_t rows = db_int(result, 0, 2);'
notices 'if (db_null(*ret_row, first + i, 0))'
passes 'int64_t rows = db_int(result, 0, RUN_LIST_TASKS); /* not db_int(result, 0, 2) */'
search 'tests/|bench/|examples/' sql/sql.h 'read columns by name'
