/* Short forms for tables: of a time only the part that differs from now and not its zone, of a
 * number fewer digits or a unit, of an id the first characters. cli/drawing.c decides when they are
 * needed.
 *
 * Only text is handled: PostgreSQL has formatted the value, in the zone of the session, so neither
 * a locale nor zone data is needed here. */
#include "cli/short.h"

#include "base/ascii.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *short_zone(const char *cell)
{
    if (strlen(cell) < 20 || cell[4] != '-' || cell[10] != ' ')
        return NULL;
    return strpbrk(cell + 19, "+-");
}

/* Of "+02", "-03:30", "+05:53:28", as PostgreSQL writes them. */
static int64_t seconds_of(const char *zone)
{
    int hours = 0, minutes = 0, seconds = 0;
    (void)sscanf(zone + 1, "%2d:%2d:%2d", &hours, &minutes, &seconds);
    return (*zone == '-' ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds);
}

void short_time(struct str *out, const char *cell, int64_t now_s, bool days)
{
    const char *zone = short_zone(cell);
    struct tm today;
    char date[32];
    if (zone == NULL) {
        str_text(out, cell);
        return;
    }
    /* The cell has the offset of the session's zone, and with it "today" there: no zone data is
     * needed. */
    int64_t offset_s = seconds_of(zone);
    time_t local = (time_t)(now_s + offset_s);
    (void)gmtime_r(&local, &today);
    (void)strftime(date, sizeof date, "%Y-%m-%d", &today);
    if (strncmp(cell, date, 10) == 0)
        str_add(out, cell + 11, 8);
    else if (strncmp(cell, date, 5) == 0)
        str_add(out, cell + 5, 11);
    else
        str_add(out, cell, days ? 10 : 16);
}

void short_day(char *shown)
{
    if (strlen(shown) >= 16 && shown[4] == '-' && shown[10] == ' ')
        memmove(shown + 10, shown + 16, strlen(shown + 16) + 1);
}

void short_interval(struct str *out, const char *cell)
{
    str_add(out, cell, strcspn(cell, "."));
}

void short_number(struct str *out, const char *cell, int columns)
{
    static const char units[] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E', '\0'};
    char text[400], *end;
    double value = strtod(cell, &end);
    if ((int)strlen(cell) <= columns || *end != '\0' || end == cell) {
        str_text(out, cell);
        return;
    }
    for (int unit = 0; unit < 7; unit++, value /= 1000)
        for (int digits = unit == 0 && strchr(cell, '.') == NULL ? -1 : 2; digits >= 0; digits--) {
            int len = snprintf(text, sizeof text, "%.*f%c", digits, value, units[unit]);
            if ((unit > 0 ? len : (int)strlen(text)) <= columns) {
                str_text(out, text);
                return;
            }
        }
    str_text(out, value < 0 ? "-" : "+"); /* there is no room for any number */
}

static int same(const char *a, const char *b)
{
    int len = 0;
    while (a[len] != '\0' && a[len] == b[len])
        len++;
    return len;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int short_id(const char *const *ids, int count)
{
    FREE_AUTO const char **sorted = xcalloc((size_t)count + 1, sizeof *sorted);
    int known = 0, least = SHORT_ID;
    for (int i = 0; i < count; i++)
        if (ids[i] != NULL)
            sorted[known++] = ids[i];
    qsort(sorted, (size_t)known, sizeof *sorted, by_text);
    for (int i = 1; i < known; i++)
        if (strcmp(sorted[i - 1], sorted[i]) != 0) {
            /* In a sorted list the nearest ids are neighbours, so no other pair shares more
             * characters. */
            int needed = same(sorted[i - 1], sorted[i]) + 1;
            least = needed > least ? needed : least;
        }
    return least;
}
