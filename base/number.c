/* Numbers of options and settings, with one form of refusal: the range, and the text that was
 * given. */
#include "base/number.h"

#include "base/str.h"

#include <inttypes.h>

static bool is_number(const char *text)
{
    text += *text == '-';
    return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

static enum rc number_refuse(const char *object, const char *name, const char *text,
                             struct number_range range, struct err *err)
{
    STR_AUTO allowed = {0};
    /* A number is shown as it is; quotes show where any other text begins and ends. */
    const char *quote = is_number(text) ? "" : "\"";
    if (range.most == INT64_MAX)
        str_format(&allowed, "%" PRId64 " or more", range.least);
    else
        str_format(&allowed, "%" PRId64 " to %" PRId64, range.least, range.most);
    return err_set(err, RC_REJECT, ERR_USAGE, object, "", "%s must be %s, not %s%s%s", name,
                   allowed.data, quote, text, quote);
}

enum rc number_parse(const char *object, const char *name, const char *text,
                     struct number_range range, int64_t *ret_number, struct err *err)
{
    int64_t number;
    /* -0 is a misspelling, perhaps of another option. */
    if (!int64_parse(text, strlen(text), &number) || (number == 0 && *text == '-') ||
        number < range.least || number > range.most)
        return number_refuse(object, name, text, range, err);
    *ret_number = number;
    return RC_OK;
}
