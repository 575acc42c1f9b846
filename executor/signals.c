/* A handler does only what signal-safety(7) allows: it counts, and it writes to an eventfd. control
 * polls this descriptor together with its mailbox and its session, so no signal is lost between a
 * check and a sleep. */
#include "executor/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_int stop_signals, hold, reload_signal; /* a signal may come to any thread */
static int wake_fd = -1;

static void on_signal(int signal)
{
    int saved = errno;
    uint64_t one = 1;
    if (signal == SIGTERM || signal == SIGINT)
        stop_signals++;
    else if (signal == SIGUSR1 || signal == SIGUSR2)
        hold = signal == SIGUSR1;
    else if (signal == SIGHUP)
        reload_signal = 1;
    ssize_t ignored = write(wake_fd, &one, sizeof one);
    (void)ignored;
    errno = saved;
}

void signals_start(void)
{
    /* SA_RESTART: libpq and librdkafka are not asked to survive EINTR; poll() returns it all the
     * same. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    stop_signals = 0;
    hold = reload_signal = 0;
    (void)sigemptyset(&action.sa_mask);
    const int wanted[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        (void)sigaction(wanted[i], &action, NULL);
}

/* A signal that arrives from now on asks for nothing that is not done already. The handler would
 * write to a descriptor that may be another file by then. */
void signals_end(void)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        (void)signal(ours[i], SIG_IGN);
    (void)close(wake_fd);
    wake_fd = -1;
}

int signals_fd(void)
{
    return wake_fd;
}

void signals_clear(void)
{
    uint64_t count;
    ssize_t ignored = read(wake_fd, &count, sizeof count);
    (void)ignored;
}

int signals_stop(void)
{
    return stop_signals;
}

bool signals_hold(void)
{
    return hold != 0;
}

bool signals_reload(void)
{
    return atomic_exchange(&reload_signal, 0) != 0;
}
