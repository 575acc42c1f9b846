/* check: one finding: printed as a line, or kept as a row of the table, and counted. "skip" is
 * counted nowhere: nothing is known.
 *
 * Every finding of check passes here, so its form is decided in one place: grade, subject,
 * sentence, hint. */
#include "cli/check.h"

#include "cli/width.h"

#include <stdarg.h>
#include <stdio.h>

/* Printed at once and flushed: some checks take seconds, and the line before them must not wait. */
static void print_line(const struct check *check, const char *word, const char *color,
                       const char *subject, const char *text, const char *hint)
{
    bool colored = check->cli->color;
    (void)printf("%s%-4s%s  %-16s  ", colored ? color : "", word, colored ? "\033[0m" : "",
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

static void report(struct check *check, const char *word, const char *color, const char *subject,
                   const char *text, const char *hint)
{
    if (check->table != NULL)
        table_row(check->table, (const char *const[]){word, subject, text,
                                                      hint != NULL && *hint != '\0' ? hint : NULL});
    else
        print_line(check, word, color, subject, text, hint);
}

void check_report(struct check *check, enum topic_grade grade, const char *subject,
                  const char *hint, const char *fmt, ...)
{
    /* In the order of enum topic_grade; the capitals make FAIL visible without colour. */
    static const char *const words[] = {"ok", "warn", "FAIL"};
    static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    check->counts[grade]++;
    report(check, words[grade], colors[grade], subject, text, hint);
}

void check_skipped(struct check *check, const char *subject, const char *hint, const char *fmt, ...)
{
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    report(check, "skip", "\033[36m", subject, text, hint);
}

/* An error as a finding: its hint becomes the hint, the rest one line. */
void check_failed(struct check *check, const char *subject, const struct err *err)
{
    check_report(check, TOPIC_FAIL, subject, err->hint, "%s%s%s%s%s", err->object,
                 *err->object ? ": " : "", err->message, *err->detail ? ": " : "", err->detail);
}
