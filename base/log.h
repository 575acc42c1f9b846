/**
 * What: one event a line on stderr, key=value (or JSON), for operators and their tools.
 * Invariants: the leading keys are ts and level and event; a value never breaks the line
 *   (control characters are escaped); no payload and no secret is logged.
 * Threads: any thread; a line is written with one write(2).
 * Ownership: borrows every argument.
 * Failure: a line that cannot be written is dropped; logging never fails its caller.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

/** Before the first thread starts. */
void log_configure(enum log_level least, bool json);
/** Whether an error is written, and as JSON. */
bool log_errors_as_json(void);

/**
 * Logs an event with key, value pairs of strings, ended by NULL. A pair whose value is NULL or ""
 * is left out. log_event(LOG_INFO, "phase_opened", "queue", name, "phase", LOG_INT(phase_id),
 * NULL);
 */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/** Logs event with the parts of err after the given queue name (may be NULL). */
void log_err(enum log_level level, const char *event, const char *queue, const struct err *err);

/** An integer as text that lives until the end of the enclosing block. */
#define LOG_INT(value) log_int_text((char[24]){0}, (int64_t)(value))
const char *log_int_text(char buffer[24], int64_t value);

#endif
