#!/bin/bash
# Text that may reach the database is cut by base/utf8.h alone: no precision of a %s (it counts bytes), and no snprintf
# into a struct err. And this check itself notices both. The folders left out write for people only, through err_set.
set -euo pipefail
forbidden='%[-0-9]*\.([0-9]+|\*)s|snprintf\((\*?[a-z_]+(->|\.))*(err|why)(->|\.)(message|object|detail|context|hint|code)'
. "$(dirname "$0")/../support/forbidden.bash"

notices 'str_format(&s, "%.200s", name);'
notices 'str_format(&s, "%.*s", n, at);'
notices '(void)snprintf(err->hint, 9, "%s", x);'
notices '(void)snprintf(source->why.context, 9, "x");'
notices '(void)snprintf(err.message, 9, "x");'
passes 'utf8_format(err->hint, 9, "%s %.3f", x, y); /* not %.9s */'
# base/remedies.h: names of queues, which are letters of ASCII
search 'tests/|bench/|examples/|cli/|config/|producer/|base/remedies\.h$' base/utf8.h 'cut text between characters'
