/**
 * What: secrets of web sessions and tokens: how one is made, and how one that was given is
 *   compared.
 * Invariants: 256 random bits of the system. A comparison of two secrets of one length takes as
 *   long wherever they differ; an empty one is the same as none.
 * Threads: any.
 * Ownership: none.
 * Failure: none.
 */
#ifndef CONSOLE_SECRET_H
#define CONSOLE_SECRET_H

#include <stdbool.h>

#define SECRET_SIZE 65 /* in hexadecimal, with its end */

void secret_new(char secret[SECRET_SIZE]);
/** Whether it may be a secret, of the database's making, too. */
bool secret_fits(const char *text);
bool secret_same(const char *secret, const char *given);

#endif
