#include "executor/signals.h"

#include "base/log.h"
#include "base/probe.h"
#include "executor/lane.h"
#include "reader/reader.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_int stop_signals, pause_signal, reload_signal; /* a signal may come to any thread */
static int wake_fd = -1;

static void on_signal(int signal)
{
    int saved = errno;
    uint64_t one = 1;
    if (signal == SIGTERM || signal == SIGINT)
        stop_signals++;
    else if (signal == SIGUSR1 || signal == SIGUSR2)
        pause_signal = signal;
    else if (signal == SIGHUP)
        reload_signal = 1;
    ssize_t ignored = write(wake_fd, &one, sizeof one);
    (void)ignored;
    errno = saved;
}

void signals_start(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    stop_signals = 0;
    pause_signal = reload_signal = 0;
    (void)sigemptyset(&action.sa_mask);
    const int wanted[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        (void)sigaction(wanted[i], &action, NULL);
}

/* What comes from now on asks for nothing that is not done already. The handler would write to whatever has the descriptor then. */
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

/* What this executor was not able to do it may do now, and the other way round. What runs goes on as it began. */
static enum rc reload(struct executor *ex, struct err *err)
{
    if (ex->options->reload == NULL || !ex->options->reload(ex->options->reload_context))
        return RC_OK;
    log_event(LOG_INFO, "reloaded", "executor", ex->id, NULL);
    event_tell_all(ex, EVENT_ABILITIES_CHANGED);
    return db_run(ex->control, &sql_executor_able, (const char *const[]){DB_INT(ex->executor_no)},
                  NULL, err);
}

/* SIGTERM: no new claims, what runs may finish; the second one, or the time-out: cancel it. */
enum rc signals_take(struct executor *ex, struct err *err)
{
    enum rc rc = RC_OK;
    int pause = atomic_exchange(&pause_signal, 0);
    if (pause != 0) {
        ex->claims_paused = pause == SIGUSR1;
        log_event(LOG_INFO, ex->claims_paused ? "claims_paused" : "claims_resumed", NULL);
    }
    if (atomic_exchange(&reload_signal, 0) != 0)
        rc = reload(ex, err);
    if (rc == RC_OK && stop_signals > 0 && !ex->draining) {
        ex->draining = true;
        ex->drain_until_us = ex->now_us + (int64_t)ex->options->drain_timeout_ms * 1000;
        log_event(LOG_INFO, "draining", NULL);
        probe("drain.begin");
        for (int i = 0; rc == RC_OK && i < ex->lane_count; i++)
            rc = give_back(&ex->lanes[i], -1, err);
        probe("drain.given");
    }
    if (ex->draining && !ex->cancelled && (stop_signals > 1 || ex->now_us >= ex->drain_until_us)) {
        ex->cancelled = true;
        log_event(LOG_WARN, "cancelling_tasks", NULL);
        for (int i = 0; i < ex->reader_count; i++)
            if (ex->readers[i].count > 0)
                reader_cancel(ex->readers[i].thread);
    }
    return rc;
}

int64_t signals_due_us(const struct executor *ex)
{
    return ex->draining && !ex->cancelled ? ex->drain_until_us : 0;
}
