/**
 * What: how many columns of a terminal a text takes, and text made fit for one.
 * Invariants: the locale plays no part; widths are those of Unicode (utf8proc). Text is cut between
 *   characters, a combining mark stays with its letter. The output of width_clean has no control
 *   character: text of a task or a message cannot steer the terminal.
 * Threads: any.
 * Ownership: the caller's.
 * Failure: none; bytes that are no UTF-8 are shown as \xNN.
 */
#ifndef CLI_WIDTH_H
#define CLI_WIDTH_H

#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>

/** Columns of text. */
int width_of(const char *text);

/** How many bytes of text fit into so many columns; never 0 for a text, so that a loop over it
 * ends. */
size_t width_fit(const char *text, int columns);

/** Appends text: control characters and those that turn the direction of writing as \xNN or \uNNNN;
 * blanks, tabs and newlines as one blank where there are several. lines: blanks and newlines stay
 * as they are. */
void width_clean(struct str *out, const char *text, bool lines);

/** Prints text as width_clean makes it. */
void width_print(FILE *out, const char *text, bool lines);

/** Appends as much of text as fits, and `ellipsis` if that is not all. */
void width_cut(struct str *out, const char *text, int columns, const char *ellipsis);

#endif
