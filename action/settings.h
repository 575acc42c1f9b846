/**
 * What: the work that the configuration allows outside the database: the registered commands, the
 *   allowed hosts, and the secrets that go with them; and the shelf that holds the settings in
 *   force.
 * Invariants: both lists are empty by default. A command or a host that the configuration does not
 *   name is refused.
 * Threads: settings are read-only, for any thread, for as long as they are taken from their shelf;
 *   the shelf is for any thread.
 * Ownership: settings belong to the caller that loaded them, or to the shelf that took them.
 * Failure: action_settings_load: RC_FATAL + ERR_CONFIG with file and line; everything that is wrong
 *   goes to the report function.
 */
#ifndef ACTION_SETTINGS_H
#define ACTION_SETTINGS_H

#include "base/err.h"
#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>

struct message;

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
void action_shelf_free(struct action_shelf *shelf); /* all are returned; NULL is fine */
/** NULL behind the last. */
const struct action_command *action_command_at(const struct action_settings *settings, int i);
/** NULL: no command of this name is registered. */
const struct action_command *action_command_find(const struct action_settings *settings,
                                                 const char *name);

/** Whether this executor may do it: all that action_need names. */
bool action_able(const struct action_settings *settings, const struct message *msg);

#define ACTION_NEED_SIZE 300
/** The need of a task for an executor's configuration: for its i-th step, or for itself (i 0).
 * ret_need: "command:NAME" or "http:HOST:PORT"; "": nothing, also for work that no executor can do
 * (a URL that is none): it fails, with a clear error. *ret_has: this one has it. False: there is no
 * i-th. */
bool action_need(const struct action_settings *settings, const struct message *msg, int i,
                 char ret_need[ACTION_NEED_SIZE], bool *ret_has);

#endif
