/**
 * What: the faults of a configuration that is being loaded: each is reported when it is found, so
 *   that a person reads all of them at once.
 * Invariants: loading continues after a fault; the first one is the error of the whole.
 * Threads: one at a time.
 * Ownership: plain data; {report, context} begins it.
 * Failure: none.
 */
#ifndef CONFIG_FAULTS_H
#define CONFIG_FAULTS_H

#include "config/config.h"

struct config_faults {
    config_report_fn *report; /* may be NULL */
    void *context;
    int count;
    struct err first;
};

void config_fault(struct config_faults *faults, const struct err *err);
/** RC_OK: there was none. Otherwise RC_FATAL, and err (may be NULL) has the first. */
MUST_CHECK enum rc config_faults_end(const struct config_faults *faults, struct err *err);

#endif
