#!/bin/bash
# Every C file is as clang-format leaves it (./dev fmt); and this check itself notices one that is not.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v clang-format >/dev/null || {
    echo "format.sh: clang-format is missing; run ./dev setup test"
    exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp .clang-format "$scratch/"
printf 'int  main( void ){return 0;}\n' >"$scratch/crooked.c"
if clang-format --dry-run -Werror "$scratch/crooked.c" 2>/dev/null; then
    echo "format.sh: a crooked file passed"
    exit 1
fi

scripts/c-files >"$scratch/files"
[ -s "$scratch/files" ]
xargs -a "$scratch/files" clang-format --dry-run -Werror || {
    echo "format.sh: run ./dev fmt"
    exit 1
}
echo "format.sh: $(wc -l <"$scratch/files") files are well formatted"
