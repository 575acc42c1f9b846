#include "action/running.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void action_start(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

void action_stop_init(struct action_stop *stop)
{
    stop->how = ACTION_GO_ON;
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

void action_stop_heard(struct action_stop *stop)
{
    uint64_t count;
    ssize_t n = read(stop->fd, &count, sizeof count);
    (void)n; /* nothing in it is fine, too */
}

void action_stop_ask(struct action_stop *stop, enum action_stop_how how)
{
    int now = stop->how;
    while (now < (int)how && !atomic_compare_exchange_strong(&stop->how, &now, (int)how)) {
    }
    uint64_t one = 1;
    ssize_t n = write(stop->fd, &one, sizeof one);
    (void)n;
}

void action_stop_clear(struct action_stop *stop)
{
    stop->how = ACTION_GO_ON;
    action_stop_heard(stop);
}

bool action_able(const struct action_settings *settings, const struct message *msg,
                 char ret_need[ACTION_NEED_SIZE])
{
    char target[ACTION_NEED_SIZE];
    struct err err;
    ret_need[0] = '\0';
    if (msg->type == MESSAGE_COMMAND) {
        if (action_command_find(settings, msg->action.command) != NULL)
            return true;
        (void)snprintf(ret_need, ACTION_NEED_SIZE, "command:%.250s", msg->action.command);
        return false;
    }
    if (msg->type != MESSAGE_HTTP ||
        allow_judge(settings->http.allowed, settings->http.allowed_count, msg->action.url, target,
                    sizeof target, &err) != URL_NOT_ALLOWED)
        return true;
    (void)snprintf(ret_need, ACTION_NEED_SIZE, "http:%.250s", target);
    return false;
}

void action_run(const struct action_settings *settings, const struct action_attempt *attempt,
                const struct action_tie *tie, struct action_result *ret_result)
{
    const struct message *msg = attempt->msg;
    *ret_result = (struct action_result){.outcome = ACTION_DONE, .retry_after_s = -1};
    const struct action_command *row = NULL;
    if (msg->type == MESSAGE_COMMAND)
        row = action_command_find(settings, msg->action.command);
    if (msg->type == MESSAGE_HTTP) {
        action_http_run(&settings->http, attempt, tie, ret_result);
    } else if (row != NULL) {
        action_command_run(row, attempt, tie, ret_result);
    } else { /* asked for with action_able before */
        ret_result->outcome = ACTION_FAILED;
        str_format(&ret_result->error, "command %s: not in [commands] of this executor",
                   msg->action.command ? msg->action.command : "");
    }
    if (tie->stop->how != ACTION_GO_ON)
        ret_result->outcome = ACTION_STOPPED; /* whatever it made of it */
}

void action_result_done(struct action_result *result)
{
    str_done(&result->response);
    str_done(&result->error);
    str_done(&result->detail);
}
