/**
 * What: answers to requests that fail: problem documents (RFC 9457) with the hint that the command
 *   line shows.
 * Invariants: `type` is about:blank, `title` the status' standard words, `detail` one sentence,
 *   `hint` what to do, `field` the name of the parameter that is wrong, `code` an SQLSTATE, or a
 *   word that programs may compare, where there is one. No password, no payload, no SQL text of
 *   ours.
 * Threads: that of the request's handler.
 * Ownership: none.
 * Failure: none.
 */
#ifndef CONSOLE_PROBLEM_H
#define CONSOLE_PROBLEM_H

#include "base/err.h"

struct http_request;

struct problem {
    int status;
    const char *field; /* NULL: none */
    const char *detail, *hint;
    const char *code; /* NULL: none */
};

void problem_answer(struct http_request *request, const struct problem *problem);
/** A failure of a statement: the status follows from the remedy. */
void problem_answer_err(struct http_request *request, enum rc rc, const struct err *err);
/** The standard words of a status that the console answers with. */
const char *problem_title(int status);

#endif
