/* A finding of `lockstep check`: printed, or kept for the table, and counted. */
#include "cli/check.h"

#include "cli/width.h"

#include <stdarg.h>
#include <stdio.h>

/* A line at once, because some answers take seconds to come. */
static void tell_person(const struct check *check, const char *word, enum topic_grade grade,
                        const char *subject, const char *text, const char *hint)
{
    static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};
    bool color = check->cli->color;
    (void)printf("%s%-4s%s  %-16s  ", color ? colors[grade] : "", word, color ? "\033[0m" : "",
                 subject);
    width_print(stdout, text, true);
    (void)printf("\n");
    if (hint != NULL && *hint != '\0') {
        (void)printf("%24s", "");
        width_print(stdout, hint, true);
        (void)printf("\n");
    }
    (void)fflush(stdout);
}

void check_tell(struct check *check, enum topic_grade grade, const char *subject, const char *hint,
                const char *fmt, ...)
{
    static const char *const words[] = {"ok", "warn", "FAIL"};
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    check->counts[grade]++;
    if (check->table != NULL)
        table_row(check->table, (const char *const[]){words[grade], subject, text,
                                                      hint != NULL && *hint != '\0' ? hint : NULL});
    else
        tell_person(check, words[grade], grade, subject, text, hint);
}

void check_failed(struct check *check, const char *subject, const struct err *err)
{
    check_tell(check, TOPIC_FAIL, subject, err->hint, "%s%s%s%s%s", err->object,
               *err->object ? ": " : "", err->message, *err->detail ? ": " : "", err->detail);
}
