/* SIGINT and SIGTERM as a flag and a readable pipe. The handler only sets the flag and writes a
 * byte: both are async-signal-safe (signal-safety(7)).
 *
 * One pipe for the process, made by stop_catch: stop_wait and libpq's waits (stop_interrupts) poll
 * its end. It is never read, so one signal wakes every later wait, too. */
#include "cli/stop.h"

#include "base/log.h"
#include "db/db.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t caught, hung_up;
static bool is_daemon;
static int pipe_ends[2] = {-1, -1};

static void on_signal(int number)
{
    (void)number;
    caught = 1;
    ssize_t written =
        write(pipe_ends[1], "", 1); /* wakes stop_wait even if the signal came just before it */
    (void)written;
}

void stop_catch(void)
{
    if (pipe_ends[0] < 0 && pipe(pipe_ends) != 0)
        return;
    /* SA_RESETHAND: the second signal has its default effect and ends a process that does not
     * react. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static void on_hang_up(int number)
{
    (void)number;
    hung_up = 1; /* stop_wait reports it, at the latest after its time */
}

void stop_outlives_hang_up(void)
{
    struct sigaction action = {.sa_handler = on_hang_up, .sa_flags = SA_RESTART};
    (void)sigaction(SIGHUP, &action, NULL);
    is_daemon = true;
}

void stop_interrupts(void)
{
    db_interrupt(pipe_ends[0]);
}

bool stop_requested(void)
{
    return caught != 0;
}

bool stop_asked(void *unused)
{
    (void)unused;
    return stop_requested();
}

/* The terminal of a process that was started by hand. A pipe hangs up, too; /dev/null does not. */
static bool terminal_is_gone(void)
{
    struct stat status;
    struct pollfd fd = {.fd = STDIN_FILENO};
    return fstat(STDIN_FILENO, &status) == 0 && S_ISCHR(status.st_mode) && poll(&fd, 1, 0) == 1 &&
           (fd.revents & POLLHUP) != 0;
}

static void hang_up(void)
{
    hung_up = 0;
    if (terminal_is_gone()) {
        caught = 1;
        return;
    }
    log_event(LOG_WARN, "reload_ignored", "hint",
              "Restart this process: only executors read their configuration again at SIGHUP.",
              NULL);
}

/* events 0 for stdout: poll reports POLLERR when the reader of a pipe has gone. A daemon prints
 * nothing there and does not end with its reader: poll would return at once for ever. */
void stop_wait(int ms)
{
    struct pollfd watched[] = {{.fd = pipe_ends[0], .events = POLLIN},
                               {.fd = is_daemon ? -1 : STDOUT_FILENO, .events = 0}};
    (void)poll(watched, 2, ms);
    if (hung_up != 0)
        hang_up();
}
