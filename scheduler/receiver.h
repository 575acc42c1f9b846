/**
 * What: the sections [alert:NAME]: which alerts are sent where.
 * Invariants: a receiver is a command that [commands] registers or a URL that [http] allow permits,
 *   nothing else; jobs and kinds are lists without white space, as the database reads them.
 * Threads: read-only after receivers_load, then any.
 * Ownership: the caller's, freed with receivers_free; names belong to the configuration.
 * Failure: RC_FATAL + ERR_CONFIG with file and line; everything that is wrong goes to report.
 */
#ifndef SCHEDULER_RECEIVER_H
#define SCHEDULER_RECEIVER_H

#include "action/settings.h"
#include "base/err.h"
#include "config/config.h"

struct receiver {
    const char *name;
    const char *command, *url; /* one of them; the other is NULL */
    char *jobs;                /* names, with * for any text */
    char *kinds;               /* NULL: all */
    int64_t hold_ms;           /* a younger incident is not sent */
    int64_t remind_ms;         /* 0: no reminders */
    int64_t timeout_ms;        /* of an attempt */
    int64_t kill_after_ms;     /* how much longer a command may take to end; 0 of a URL */
};

/** Borrows config and settings. report may be NULL. */
MUST_CHECK enum rc receivers_load(const struct config *config,
                                  const struct action_settings *settings, config_report_fn *report,
                                  void *context, struct receiver **ret_receivers, int *ret_count,
                                  struct err *err);
void receivers_free(struct receiver *receivers, int count); /* NULL is fine */

#endif
