/* What a task does outside the database, from the reader's side. Begin with action_run(): it
 * chooses command or request. action_need() lists the requirements of a task on a configuration, so
 * that executor/able.c can leave it to an executor that has it. */
#include "action/leftover.h"
#include "action/running.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

const struct action_attempt action_no_task = {.step = -1,
                                              .queue = "",
                                              .run = "",
                                              .order = "",
                                              .seq = "",
                                              .offset = "",
                                              .task = "",
                                              .attempt = "",
                                              .token = "",
                                              .traceparent = ""};

/* Each reader needs several descriptors, and the usual soft limit is meant for programs that use
 * select(2). Commands have a limit of their own (open_files). */
static void may_open_all(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

void action_start(void)
{
    may_open_all();
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    leftover_start();
}

void action_stop_init(struct action_stop *stop)
{
    stop->how = ACTION_GO_ON;
    /* Without it an attempt could not be stopped, so the process ends here. */
    stop->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop->fd < 0) {
        (void)fprintf(stderr, "lockstep: eventfd: %s\n", strerror(errno));
        abort();
    }
}

void action_stop_done(struct action_stop *stop)
{
    (void)close(stop->fd);
}

void action_stop_drain(struct action_stop *stop)
{
    uint64_t count;
    ssize_t n = read(stop->fd, &count, sizeof count);
    (void)n; /* nothing in it is fine, too */
}

/* The order to stop only rises: a TERMINATE that comes behind a KILL must not soften it. The store
 * comes before the write to the eventfd, so a thread that wakes sees it. */
void action_stop_ask(struct action_stop *stop, enum action_stop_how how)
{
    int now = stop->how;
    while (now < (int)how && !atomic_compare_exchange_strong(&stop->how, &now, (int)how)) {
    }
    uint64_t one = 1;
    ssize_t n = write(stop->fd, &one, sizeof one);
    (void)n;
}

void action_stop_late(const struct action_tie *tie)
{
    if (tie->until_us != 0 && clock_boot_us() >= tie->until_us)
        action_stop_ask(tie->stop, ACTION_TERMINATE);
}

void action_stop_clear(struct action_stop *stop)
{
    stop->how = ACTION_GO_ON;
    action_stop_drain(stop);
}

/* A name may be of any length, and goes to the database. */
static void name_need(const char *kind, const char *name, char ret_need[ACTION_NEED_SIZE])
{
    char cut[ACTION_NEED_SIZE - 20];
    utf8_copy(cut, sizeof cut, name);
    utf8_format(ret_need, ACTION_NEED_SIZE, "%s:%s", kind, cut);
}

bool action_need(const struct action_settings *settings, const struct message *msg, int i,
                 char ret_need[ACTION_NEED_SIZE], bool *ret_has)
{
    bool steps = msg->step_count > 0;
    if (i >= (steps ? msg->step_count : 1))
        return false;
    enum message_type type = steps ? msg->steps[i].type : msg->type;
    const struct message_action *action = steps ? &msg->steps[i].action : &msg->action;
    ret_need[0] = '\0';
    *ret_has = true;
    if (type == MESSAGE_COMMAND) {
        *ret_has = action_command_find(settings, action->command) != NULL;
        name_need("command", action->command, ret_need);
    } else if (type == MESSAGE_HTTP) {
        char target[ACTION_NEED_SIZE];
        struct err err;
        enum url_verdict verdict = allow_judge(settings->http.allowed, settings->http.allowed_count,
                                               action->url, target, sizeof target, &err);
        /* A URL that cannot be read needs nothing: it would fail on each executor, so the first one
         * reports it. */
        *ret_has = verdict != URL_NOT_ALLOWED;
        if (verdict != URL_BAD)
            name_need("http", target, ret_need);
    }
    return true;
}

bool action_able(const struct action_settings *settings, const struct message *msg)
{
    char need[ACTION_NEED_SIZE];
    bool has = true;
    for (int i = 0; has && action_need(settings, msg, i, need, &has); i++) {
    }
    return has;
}

void action_run(const struct action_settings *settings, const struct action_attempt *attempt,
                const struct action_tie *tie, struct action_result *ret_result)
{
    const struct message_action *action = action_of(attempt);
    *ret_result = (struct action_result){.outcome = ACTION_DONE, .retry_after_s = -1};
    const struct action_command *row = NULL;
    if (action->command != NULL)
        row = action_command_find(settings, action->command);
    if (action->url != NULL) {
        action_http_run(&settings->http, attempt, tie, ret_result);
    } else if (row != NULL) {
        action_command_run(row, attempt, tie, ret_result);
    } else { /* asked for with action_able before */
        ret_result->outcome = ACTION_FAILED;
        str_format(&ret_result->error, "command %s: not in [commands] of this executor",
                   action->command ? action->command : "");
    }
    /* Also when the work ended by itself just then: the order was given because the task may belong
     * to another executor. */
    if (tie->stop->how != ACTION_GO_ON)
        ret_result->outcome = ACTION_STOPPED; /* its own outcome no longer counts */
}

void action_result_done(struct action_result *result)
{
    str_done(&result->response);
    str_done(&result->error);
    str_done(&result->detail);
}
