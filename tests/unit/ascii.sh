#!/bin/bash
# The locale plays no part: letters are looked at with base/ascii.h. And this check itself notices a call that it
# forbids.
set -euo pipefail
forbidden='\b(toupper|tolower|is(alpha|digit|alnum|space|xdigit|upper|lower|punct|print|graph|cntrl|blank)|str(n?casecmp|casestr|coll|xfrm))\('
. "$(dirname "$0")/../support/forbidden.bash"

notices 'return toupper((unsigned char)c);'
passes 'return ascii_upper(c); /* not toupper() */'
search 'tests/|bench/|examples/' base/ascii.h 'ask no locale'
