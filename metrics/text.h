/**
 * What: the text format of Prometheus (version 0.0.4): families and their samples.
 * Invariants: a family's head comes from the table (metrics/names.h) and is followed by its
 *   samples. Characters that a label may not have as they are, are escaped.
 * Threads: any, one at a time for a text.
 * Ownership: appends to the caller's text.
 * Failure: none: a name that is not in the table ends the process, it is a defect.
 */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include "base/str.h"

/** "# HELP" and "# TYPE". */
void text_family(struct str *text, const char *name);
/** Values of the labels that the table names, in their order; fewer: the last ones have none. */
struct text_labels {
    const char *values[3];
};
/** One sample; suffix: "", or "_bucket" with its bound le, "_sum", "_count" of a histogram. */
void text_sample(struct str *text, const char *name, const char *suffix,
                 const struct text_labels *labels, const char *le, const char *value);
/** A sample without a suffix. */
void text_number(struct str *text, const char *name, const struct text_labels *labels,
                 double value);

#endif
