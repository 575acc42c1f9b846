#include "cli/fit.h"

#include <stddef.h>
#include <string.h>

#define LEAST_REST 24 /* of a last column that has the rest of the line */

/* Heads are cut when nothing else helps. Times come last: a part of a time says nothing. */
static const struct {
    const char *types;
    int least;
    bool heads;
} rounds[] = {{"tj", 10, true}, {"i", 6, true},   {"tj", 5, true},       {"tj", 10, false},
              {"i", 6, false},  {"tj", 5, false}, {"tjisbud", 3, false}, {"tjisbudz", 3, false}};

static struct column *widest_of(const struct fit *fit, int giving, size_t round)
{
    struct column *widest = NULL;
    for (int i = 0; i < giving; i++) {
        struct column *column = &fit->columns[fit->order[i]];
        int least = rounds[round].least;
        if (rounds[round].heads && column->head_width > least)
            least = column->head_width;
        if (strchr(rounds[round].types, column->type) != NULL && column->width > least &&
            (widest == NULL || column->width > widest->width))
            widest = column;
    }
    return widest;
}

bool fit_columns(const struct fit *fit, enum fit_limit limit)
{
    size_t end = limit == FIT_TEXTS ? 1 : sizeof rounds / sizeof *rounds;
    struct column *last = &fit->columns[fit->order[fit->count - 1]];
    int total = -1;
    for (int i = 0; i < fit->count; i++) {
        struct column *column = &fit->columns[fit->order[i]];
        bool bounded = fit->rest && column == last && column->whole > LEAST_REST;
        column->width = bounded ? LEAST_REST : column->whole;
        total += column->width + 1;
    }
    for (size_t round = 0; round < end && total > fit->screen;) {
        struct column *widest = widest_of(fit, fit->count - (fit->rest ? 1 : 0), round);
        if (widest == NULL) {
            round++;
        } else {
            widest->width--;
            total--;
        }
    }
    if (fit->rest && total < fit->screen)
        last->width += fit->screen - total;
    return total <= fit->screen;
}
