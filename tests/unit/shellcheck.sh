#!/bin/bash
# No script has a warning of shellcheck; .shellcheckrc says which warnings are not asked for, and why. And this check
# itself notices one.
# ctest: long
set -euo pipefail
cd "$(dirname "$0")/../.."
! shellcheck -S warning -s bash - <<<'kill $(jobs -p)' >/dev/null || { echo 'shellcheck.sh notices nothing'; exit 1; }
mapfile -t scripts < <(
    git ls-files '*.sh' '*.bash' '*.bats'
    git grep -lE '^#!/(bin/|usr/bin/env )(bash|sh)$' -- ':!*.sh' ':!*.bash' ':!*.bats'
)
shellcheck -S warning -f gcc "${scripts[@]}"
echo "shellcheck: ${#scripts[@]} scripts"
