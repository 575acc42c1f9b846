/**
 * What: the configuration that the console runs with, as `lockstep config show --origin` prints it.
 * Invariants: secrets are masked.
 * Threads: any.
 * Ownership: appended to the caller's text.
 * Failure: none.
 */
#ifndef CONSOLE_SETTINGS_H
#define CONSOLE_SETTINGS_H

#include "console/route.h"

MUST_CHECK enum rc settings_make(const struct route_context *context, struct db *db,
                                 const char *const *params, struct str *document, struct err *err);

#endif
