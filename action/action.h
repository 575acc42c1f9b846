/**
 * What: the work of a task outside the database: a command that the configuration registers, or a
 *   request to a host that it allows. Such an attempt can be fenced, but not undone: at least once.
 * Invariants: nothing runs but registered programs, without a shell, and nothing is called but
 *   allowed hosts (action/settings.h). When action_run returns, no process of the command is left
 *   and the transfer is over. The kept part of an answer is bounded and is text that PostgreSQL can
 *   store.
 * Threads: action_run blocks its caller, a thread that lives until it returns (the command's runner
 *   is bound to it); action_stop_ask from any thread.
 * Ownership: settings are borrowed; a result belongs to its caller (action_result_done).
 * Failure: reported in the result.
 */
#ifndef ACTION_ACTION_H
#define ACTION_ACTION_H

#include "base/err.h"
#include "base/str.h"
#include "task/message.h"

struct action_settings;

enum action_stop_how { ACTION_GO_ON, ACTION_TERMINATE, ACTION_KILL };

/** By which other threads end what runs. */
struct action_stop {
    _Atomic int how; /* enum action_stop_how; only ever rises */
    int fd;          /* readable when asked */
};
void action_stop_init(struct action_stop *stop);
void action_stop_done(struct action_stop *stop);
void action_stop_ask(struct action_stop *stop, enum action_stop_how how);
void action_stop_clear(struct action_stop *stop); /* before the next one */

/** The attempt, in the words that the command or the server gets. */
struct action_attempt {
    const struct message *msg;
    int step; /* of the message, which has steps; -1: it has none */
    const char *queue, *run, *order, *seq, *offset, *task, *attempt, *token,
        *traceparent; /* "": none */
};

/** Of no task: each word is empty. */
extern const struct action_attempt action_no_task;

/** How it is tied to this executor. */
struct action_tie {
    struct action_stop *stop;
    int silence_ms; /* a command is killed after so long without a word of this process */
    /* clock_boot_us when the attempt was last known to be ours: nothing starts silence_ms later */
    int64_t alive_us;
    int64_t until_us; /* clock_boot_us when it is asked to end; 0: other threads keep the time */
    int held
        /* sockets whose other end must not see this process go before the command has; -1: none */
        [2];
};

enum action_outcome { ACTION_DONE, ACTION_FAILED, ACTION_STOPPED };

struct action_result {
    enum action_outcome outcome;
    bool permanent;      /* another attempt would fail in the same way */
    struct str response; /* standard output or body */
    struct str error;    /* failed: one line */
    struct str detail;   /* failed: the end of its output; may be empty */
    int retry_after_s;   /* -1: not given */
};

void action_run(const struct action_settings *settings, const struct action_attempt *attempt,
                const struct action_tie *tie, struct action_result *ret_result);
void action_result_done(struct action_result *result);

/** Once, before the process starts its first thread: prepares libcurl, raises the soft limit of
 * open files to the hard one, and makes the process the parent of all that its commands detach
 * (leftover.c). */
void action_start(void);

/** Such a call of this program is the runner of a command (runner.h): main hands over to it. */
bool action_is_runner(int argc, char **argv);
int action_runner_main(void);

#endif
