#include "cli/stop.h"

#include "db/db.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static int pipe_ends[2] = {-1, -1};

static void on_signal(int number)
{
    (void)number;
    caught = 1;
    ssize_t written =
        write(pipe_ends[1], "", 1); /* wakes stop_wait also when the signal came just before */
    (void)written;
}

void stop_catch(void)
{
    if (pipe(pipe_ends) != 0)
        return;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

void stop_interrupts(void)
{
    db_interrupt(pipe_ends[0]);
}

bool stop_requested(void)
{
    return caught != 0;
}

void stop_wait(int ms)
{
    struct pollfd watched[] = {{.fd = pipe_ends[0], .events = POLLIN},
                               {.fd = STDOUT_FILENO, .events = 0}};
    (void)poll(watched, 2, ms);
}
