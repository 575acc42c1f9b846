/**
 * What: the common part of the two kinds of actions, inside this folder.
 * Invariants: as action.h.
 * Threads: as action_run.
 * Ownership: everything is borrowed.
 * Failure: reported in the result.
 */
#ifndef ACTION_RUNNING_H
#define ACTION_RUNNING_H

#include "action/action.h"
#include "action/allow.h"
#include "action/settings.h"

/** [http:HOST]: the headers of requests to it. */
struct secret_host {
    struct allowed host;
    const char *section;
    bool plain; /* also over http */
    struct secrets headers;
};

struct action_http {
    const char *ca_file, *proxy; /* "": none */
    int64_t connect_timeout_ms, timeout_ms, response_limit;
    struct allowed *allowed;
    int allowed_count;
    struct secret_host *hosts;
    int host_count;
};

struct action_settings {
    struct action_command *commands;
    int command_count;
    struct action_http http;
};

static inline const struct message_action *action_of(const struct action_attempt *attempt)
{
    return attempt->step < 0 ? &attempt->msg->action : &attempt->msg->steps[attempt->step].action;
}

/* command.c */
void action_command_run(const struct action_command *row, const struct action_attempt *attempt,
                        const struct action_tie *tie, struct action_result *result);

/* http.c */
void action_http_run(const struct action_http *http, const struct action_attempt *attempt,
                     const struct action_tie *tie, struct action_result *result);

/* action.c */
void action_stop_drain(struct action_stop *stop); /* makes its descriptor unreadable */
/* Asks it to end when its time is over. To be called every second. */
void action_stop_late(const struct action_tie *tie);

#endif
