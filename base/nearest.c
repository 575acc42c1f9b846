/* Finds the known word that is nearest to a misspelt one. Distances are doubled, so that a swap of
 * neighbours can count half. For commands, options, settings and fields of messages; a suggestion
 * is only text in an error, and nothing acts on it. */
#include "base/nearest.h"

#include "base/ascii.h"

#include <stddef.h>
#include <string.h>

#define LONGEST 80

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int lower(char c)
{
    return ascii_lower(c);
}

/* Damerau's distance with swaps of neighbours (optimal string alignment), three rows at a time. */
int nearest_distance(const char *from, const char *to)
{
    int n = (int)strnlen(from, LONGEST), m = (int)strnlen(to, LONGEST);
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= m; j++)
        rows[0][j] = 2 * j;
    for (int i = 1; i <= n; i++) {
        /* A swap reaches two rows back, so three rows are enough. */
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = 2 * i;
        for (int j = 1; j <= m; j++) {
            int differs = lower(from[i - 1]) != lower(to[j - 1]) ? 2 : 0;
            row[j] = least(least(above[j] + 2, row[j - 1] + 2), above[j - 1] + differs);
            if (i > 1 && j > 1 && lower(from[i - 1]) == lower(to[j - 2]) &&
                lower(from[i - 2]) == lower(to[j - 1]))
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *nearest_of(const char *word, const char *best, const char *candidate)
{
    int distance = nearest_distance(word, candidate);
    int shorter = least((int)strnlen(word, LONGEST), (int)strnlen(candidate, LONGEST));
    /* One mistake in a word of two to four letters, two in one of five to seven, and so on; a word
     * of one letter has no neighbour. */
    int allowed = 2 * ((shorter + 1) / 3);
    if (distance > allowed || (best != NULL && nearest_distance(word, best) <= distance))
        return best;
    return candidate;
}
