/**
 * What: librdkafka's errors as enum rc and struct err. Internal to this folder.
 * Invariants: the table in error.c is the only place where an error code gets its meaning. A code
 *   without a row is RC_RETRY: librdkafka continues by itself after an error that it does not call
 *   fatal.
 * Threads: any.
 * Ownership: kafka_err_take takes the error.
 * Failure: none.
 */
#ifndef KAFKA_ERROR_H
#define KAFKA_ERROR_H

#include "base/err.h"
#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/** Fills err from the table's row of code. text: librdkafka's own words, NULL for its standard text
 * of code. */
enum rc kafka_err(struct err *err, rd_kafka_resp_err_t code, const char *object, const char *text);

/** As kafka_err, from an error object, which is destroyed. */
enum rc kafka_err_take(struct err *err, rd_kafka_error_t *error, const char *object);

/** The reaction alone. */
enum rc kafka_err_rc(rd_kafka_resp_err_t code);

/** True for the codes that say no more than "no answer in time". */
bool kafka_err_no_answer(rd_kafka_resp_err_t code);

#endif
