#!/bin/bash
# What the scripts of the console's pages reckon, in Node.js without a browser; and the size of all that a browser
# loads.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failed=0
. "$here/../support/browser.bash"
browser_needed node
browser_run logic.mjs
bytes=$(find "$here/../../console/web" -type f \( -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.svg' \) \
    -exec cat {} + | wc -c)
gzipped=$(find "$here/../../console/web" -type f \( -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.svg' \
    \) -exec gzip -9c {} \; | wc -c)
echo "$bytes bytes, $gzipped as sent"
[ "$gzipped" -lt 150000 ] || { echo 'the page is larger than 150 kB as sent'; failed=1; }
exit $failed
