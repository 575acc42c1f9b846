#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

enum rc err_set(struct err *err, enum rc rc, enum err_kind kind, const char *object,
                const char *hint, const char *fmt, ...)
{
    if (err == NULL)
        return rc;
    struct err fresh = {.kind = kind};
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(fresh.message, sizeof fresh.message, fmt, ap);
    va_end(ap);
    (void)snprintf(fresh.object, sizeof fresh.object, "%s", object ? object : "");
    (void)snprintf(fresh.hint, sizeof fresh.hint, "%s", hint ? hint : "");
    *err = fresh;
    return rc;
}

void err_code(struct err *err, const char *code)
{
    if (err != NULL)
        (void)snprintf(err->code, sizeof err->code, "%s", code ? code : "");
}

const char *rc_name(enum rc rc)
{
    static const char *const names[] = {"OK", "NONE", "RETRY", "LOST", "REJECT", "FATAL"};
    return names[rc];
}
