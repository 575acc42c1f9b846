/* Which columns of a table get narrower so that it fits the terminal. The table `rounds` is the
 * whole policy: round by round, the widest column of the named types loses one character until the
 * table fits, no column of a round gets narrower than `least`, and with HEADS not narrower than its
 * head. Texts go first and times last; the leftmost column is spared as long as that is possible. A
 * new rule is a row of that table, not a condition in the loop. */
#include "cli/fit.h"

#include <stddef.h>
#include <string.h>

#define LEAST_REST 24 /* of a last column that has the rest of the line */

#define FIRST 1 /* the leftmost column gives, too: its text says which thing the line is about */
#define HEADS 2 /* not even one is cut: that comes when nothing else helps */
#define TEXTS 2 /* the rounds of FIT_TEXTS */

/* Times come last: a part of a time says nothing. */
static const struct {
    const char *types;
    int least;
    unsigned how;
} rounds[] = {{"tj", 10, HEADS},        {"tj", 10, FIRST | HEADS}, {"i", 6, FIRST | HEADS},
              {"tj", 5, FIRST | HEADS}, {"tj", 10, FIRST},         {"i", 6, FIRST},
              {"tj", 5, FIRST},         {"tjisbud", 3, FIRST},     {"tjisbudz", 3, FIRST}};

static struct column *widest_of(const struct fit *fit, int giving, size_t round)
{
    struct column *widest = NULL;
    for (int i = (rounds[round].how & FIRST) != 0 ? 0 : 1; i < giving; i++) {
        struct column *column = &fit->columns[fit->order[i]];
        int least = rounds[round].least;
        if ((rounds[round].how & HEADS) != 0 && column->head_width > least)
            least = column->head_width;
        if (strchr(rounds[round].types, column->type) != NULL && column->width > least &&
            (widest == NULL || column->width > widest->width))
            widest = column;
    }
    return widest;
}

bool fit_columns(const struct fit *fit, enum fit_limit limit)
{
    size_t end = limit == FIT_TEXTS ? TEXTS : sizeof rounds / sizeof *rounds;
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
