# tests/support/e2e.bash: how a script of tests/e2e begins that uses the servers of the suite: begin.bash, and
#   $db   a database with today's schema
. "$(dirname "${BASH_SOURCE[0]}")/begin.bash"
scratch_database
