# tests/support/checks.bash: how the shell tests check what holds, and wait for it. Sourced by tests/e2e/ledger.bash,
# after shell.bash.
#   expect WHAT GOT WANTED   two texts are the same
#   wrong WORD...            prints it: the case has failed
#   no_locks_left            no session of the database holds an advisory lock
#   ends_well PID [WHO]      waits for a process that has got SIGTERM: its status is 0
#   told_to_end PID...       SIGTERM to all, then ends_well for each
#   abreast RACE...          the script's function race with the words of each RACE, all at the same time; the output
#                            of each is in $tmp/wrong.RACE
#   daemon ARGS...           an executor in the background: its process is $daemon, its log $tmp/daemon.log, to which
#                            the next one's is added
#   session_open [STATEMENT]...   a session of psql that begins with these and stays, to hold rows and locks; its
#                            backend's pid is $backend, its output is in $tmp/session.out. More for it:
#                            echo '...;' >&"$session". PGAPPNAME is its name
#   session_close            its input ends, and so does it
# For eventually:
#   session_gone             the backend of that session has ended, and holds nothing
#   run_is RUN STATUS        the status of a run that has ended, or of one that has not
#   stopped PID              the process stands still (SIGSTOP)
#   gone PID                 there is no such process; one that was not waited for is gone, too
#   incarnations LOG N       an executor has started at least N times, by its log

failed=0 # of the case; the script's exit status at its end

expect() {
    [ "$2" = "$3" ] && return 0
    printf '%s:\n  is     %s\n  wanted %s\n' "$1" "$2" "$3"
    failed=1
}

wrong() {
    echo "$*"
    failed=1
}

no_locks_left() { # a session lets go a moment after its client has ended
    eventually 10 is "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND $own_locks" 0 ||
        wrong "locks that are left: $sql_said"
}

ends_well() { wait "$1" || wrong "${2:-the executor} ended with $?"; }

told_to_end() {
    local pid
    kill -TERM "$@"
    for pid; do ends_well "$pid"; done
}

abreast() {
    local one
    local -A pids
    for one; do
        # shellcheck disable=SC2086
        (failed=0; race $one; exit $failed) >"$tmp/wrong.$one" &
        pids[$one]=$!
    done
    for one; do wait "${pids[$one]}" || echo "the race ended with $?" >>"$tmp/wrong.$one"; done
}

daemon() {
    "$LOCKSTEP_BIN" executor run -d "$db" -b "$LOCKSTEP_TEST_BROKERS" "$@" 2>>"$tmp/daemon.log" &
    daemon=$!
}

session_open() {
    rm -f "$tmp/session.in"
    : >"$tmp/session.out" # here, because what is begun in the background opens its files later
    mkfifo "$tmp/session.in"
    "$LOCKSTEP_TEST_PGBIN/psql" -X -q -At -d "$db" <"$tmp/session.in" >>"$tmp/session.out" 2>&1 &
    exec {session}>"$tmp/session.in"
    printf '%s;\n' "$@" "SELECT 'backend ' || pg_backend_pid()" >&"$session"
    eventually 20 grep -q '^backend ' "$tmp/session.out"
    backend=$(sed -n 's/^backend //p' "$tmp/session.out")
}

session_close() { exec {session}>&-; }
session_gone() { is "SELECT count(*) FROM pg_stat_activity WHERE pid = $backend" 0; }

run_is() { is "SELECT status FROM lockstep.run_status WHERE run_id = '$1'" "$2"; }
stopped() { [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null)" = T ]; }
gone() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
incarnations() { [ "$(grep -c 'event=executor_started' "$1")" -ge "$2" ]; }
