/**
 * What: a run as a picture to keep: an SVG, or a page that has it and its figures as tables.
 *   lockstep.run_gantt has returned `document`.
 * Invariants: no script, no link, nothing from elsewhere; colours for light and dark; every text is
 *   escaped, and a character that cannot be shown is replaced. Nothing is shown by colour alone. A
 *   band a phase, at most PICTURE_BANDS of them: the first and the last.
 * Threads: one.
 * Ownership: appends to the caller's string; borrows the document.
 * Failure: none; a member that the document does not have is left out.
 */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "base/str.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>

#define PICTURE_BANDS 200
#define PICTURE_NONE  ((double)NAN) /* no number */

/** The whole picture; as a file of its own, or as an element of a page. */
void picture_svg(struct str *out, const cJSON *document, bool file);
void picture_html(struct str *out, const cJSON *document);

/** Text for XML and HTML, at most `most` characters of it: "&lt;", and a mark for each character
 * that cannot be seen. */
void picture_text(struct str *out, const char *text, int most);

/** 0.0123 as "12.3 ms", 4000 as "1 h 6 min". */
void picture_seconds(struct str *out, double seconds);

/** A member as a number, or otherwise; as a text, or "". */
double picture_number(const cJSON *object, const char *name, double otherwise);
const char *picture_word(const cJSON *object, const char *name);

/** How long the run's axis is, in seconds. */
double picture_length(const cJSON *document);

/** The bars of one phase, in the rows below each other that the band has. */
enum picture_form { PICTURE_EMPTY, PICTURE_ROWS, PICTURE_LANES, PICTURE_DENSITY };
struct picture_band {
    const cJSON *phase;
    enum picture_form form;
    int rows; /* of rows and lanes */
    double y, row_height, height;
    double scale; /* x of a second */
};
/** The drawing of the attempts in it. */
void picture_bars(struct str *out, const struct picture_band *band);
/** How many lanes its bars need so that none covers another. */
int picture_lanes(const cJSON *phase);

#define PICTURE_LEFT  92
#define PICTURE_PLOT  740
#define PICTURE_RIGHT (PICTURE_LEFT + PICTURE_PLOT)

#endif
