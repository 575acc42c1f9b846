/**
 * What: what a task does outside the database: a command that the configuration registers, or a
 *   request to a host that it allows. Such an attempt can be fenced, but not undone: at least once.
 * Invariants: nothing runs but registered programs, without a shell, and nothing is called but
 *   allowed hosts; both lists are empty by default. When action_run returns, no process of the
 *   command is left and the transfer is over. What it keeps of an answer is bounded and is text
 *   that PostgreSQL can store.
 * Threads: settings are read-only, for any thread, for as long as they are taken from their shelf.
 *   action_run blocks its caller, a thread that lives until it returns (the command's runner is
 *   bound to it); action_stop_ask from any thread.
 * Ownership: settings belong to whoever loaded them; a result to its caller (action_result_done).
 * Failure: action_settings_load: RC_FATAL + ERR_CONFIG with file and line, all of it to the report
 *   function. action_run tells in the result.
 */
#ifndef ACTION_ACTION_H
#define ACTION_ACTION_H

#include "base/err.h"
#include "base/str.h"
#include "config/config.h"
#include "task/message.h"

/** What the configuration keeps secret (secrets.h): headers or variables. */
struct secrets {
    struct secret {
        const char *name, *value;
    } * items;
    int count;
};

/** A registered command. */
struct action_command {
    const char *name, *where; /* of the configuration, as the texts below */
    char **argv;              /* owned; ended by NULL */
    int argc;
    const char *user, *directory, *path; /* user "": the executor's */
    int64_t kill_after_ms, output_limit;
    int64_t cpu_s, memory, open_files, processes, file_limit; /* -1: no limit of ours */
    struct secrets environment;
};

struct action_settings;
/** Borrows config. Everything that is wrong goes to report (may be NULL), err holds the first. */
MUST_CHECK enum rc action_settings_load(const struct config *config, config_report_fn *report,
                                        void *context, struct action_settings **ret_settings,
                                        struct err *err);
void action_settings_free(struct action_settings *settings); /* NULL is fine */

/** The settings in force. They may be replaced while others still use the ones before. Any
 * thread. */
struct action_shelf;
/** Takes both, config NULL: the settings' is not ours to free. */
struct action_shelf *action_shelf_new(struct action_settings *settings, struct config *config);
void action_shelf_put(struct action_shelf *shelf, struct action_settings *settings,
                      struct config *config);
const struct action_settings *action_shelf_take(struct action_shelf *shelf);
void action_shelf_give_back(struct action_shelf *shelf, const struct action_settings *settings);
void action_shelf_free(struct action_shelf *shelf); /* all are given back; NULL is fine */
/** NULL behind the last. */
const struct action_command *action_command_at(const struct action_settings *settings, int i);

/** Whether this executor may do it: all that action_need names. */
bool action_able(const struct action_settings *settings, const struct message *msg);

#define ACTION_NEED_SIZE 300
/**
 * What a task needs of an executor's configuration: for its i-th step, or for itself (i 0).
 * ret_need: "command:NAME" or "http:HOST:PORT"; "": nothing, also for what can be done nowhere (a
 * URL that is none): that fails, with a clear error. *ret_has: this one has it. False: there is no
 * i-th.
 */
bool action_need(const struct action_settings *settings, const struct message *msg, int i,
                 char ret_need[ACTION_NEED_SIZE], bool *ret_has);

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

/** The attempt, as the command or the server is told of it. */
struct action_attempt {
    const struct message *msg;
    int step; /* of the message, which has steps; -1: it has none */
    const char *queue, *run, *order, *seq, *offset, *task, *attempt, *token,
        *traceparent; /* "": none */
};

/** How it is tied to this executor. */
struct action_tie {
    struct action_stop *stop;
    int silence_ms; /* a command is killed when this process was not heard for so long */
    /* clock_boot_us when the attempt was last known to be ours: nothing starts silence_ms later */
    int64_t alive_us;
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
    struct str detail;   /* failed: what it said, the end of it; may be empty */
    int retry_after_s;   /* -1: not told */
};

void action_run(const struct action_settings *settings, const struct action_attempt *attempt,
                const struct action_tie *tie, struct action_result *ret_result);
void action_result_done(struct action_result *result);

/** Before the first thread. */
void action_start(void);

/** Such a call of this program is the runner of a command (runner.h): main hands over to it. */
bool action_is_runner(int argc, char **argv);
int action_runner_main(void);

#endif
