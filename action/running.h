/**
 * What: what the two kinds of actions share inside this folder.
 * Invariants: as action.h.
 * Threads: as action_run.
 * Ownership: everything is borrowed.
 * Failure: told in the result.
 */
#ifndef ACTION_RUNNING_H
#define ACTION_RUNNING_H

#include "action/action.h"

#include <stdarg.h>
#include <sys/types.h>

/** A host and a port of [http] allow. */
struct allowed {
    const char *host; /* into text; lower case; "*.": any host below it; "*": any */
    char *text;       /* owned */
    int port;         /* 0: that of http or https, -1: any */
};

/** [http:HOST]: what requests to it have with them. */
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

const struct action_command *action_command_find(const struct action_settings *settings,
                                                 const char *name);

static inline const struct message_action *action_of(const struct action_attempt *attempt)
{
    return attempt->step < 0 ? &attempt->msg->action : &attempt->msg->steps[attempt->step].action;
}

/* command.c */
void action_command_run(const struct action_command *row, const struct action_attempt *attempt,
                        const struct action_tie *tie, struct action_result *result);

/* leftover.c: runners are started between lock and unlock (pid 0: it was not), forgotten when they
 * are reaped. end: a runner was killed; returns when nothing of its command is left. Whoever else
 * gives this process children has to tell, too. */
void leftover_start(void);
void leftover_lock(void);
void leftover_unlock(pid_t runner);
void leftover_forget(pid_t runner);
void leftover_end(void);

/* http.c */
void action_http_run(const struct action_http *http, const struct action_attempt *attempt,
                     const struct action_tie *tie, struct action_result *result);

/* action.c */
void action_stop_heard(struct action_stop *stop); /* makes its descriptor unreadable */

/* text.c: bytes as text that PostgreSQL can store: what is not UTF-8, and each NUL, becomes
 * U+FFFD. */
/** The beginning of what were `total` bytes, ACTION_MORE: nobody knows how many; says so at its end
 * if there were more. */
#define ACTION_MORE UINT64_MAX
void action_text(struct str *out, const char *bytes, size_t len, uint64_t total);
/** The end of what were `total` bytes; says so at its beginning. */
void action_text_tail(struct str *out, const char *bytes, size_t len, uint64_t total);

/* allow.c */
enum url_verdict { URL_ALLOWED, URL_NOT_ALLOWED, URL_BAD };
/** False: it is no such pattern. */
bool allow_parse(const char *text, size_t len, struct allowed *ret_allowed);
void allow_done(struct allowed *allowed);
/** host: in lower case, without a dot at the end. */
bool allow_covers(const struct allowed *allowed, const char *host, int port, bool encrypted);
/**
 * Whom the URL calls, by the same reading of it as libcurl's own: ret_target "host:port". URL_BAD:
 * why says what is wrong with it.
 */
enum url_verdict allow_judge(const struct allowed *list, int count, const char *url,
                             char *ret_target, size_t size, struct err *why);

#endif
