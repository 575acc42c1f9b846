/* Fills struct err. Every text of a foreign library goes through utf8_copy: an error is written to
 * logs, to rows and to JSON, none of which takes broken UTF-8. */
#include "base/err.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

enum rc err_set(struct err *err, enum rc rc, enum err_kind kind, const char *object,
                const char *hint, const char *fmt, ...)
{
    if (err == NULL)
        return rc;
    /* Built apart, because object, hint or an argument may point into *err itself. */
    struct err fresh = {.kind = kind};
    va_list ap;
    va_start(ap, fmt);
    utf8_vformat(fresh.message, sizeof fresh.message, fmt, ap);
    va_end(ap);
    utf8_copy(fresh.object, sizeof fresh.object, object ? object : "");
    utf8_copy(fresh.hint, sizeof fresh.hint, hint ? hint : "");
    *err = fresh;
    return rc;
}

void err_code(struct err *err, const char *code)
{
    if (err != NULL)
        utf8_copy(err->code, sizeof err->code, code ? code : "");
}

/** A message that begins with its object is not given it twice. */
const char *err_before(const char *object, const char *message)
{
    return strncmp(message, object, strlen(object)) == 0 ? "" : object;
}
