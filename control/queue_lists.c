/* Checks the two settings of a queue that are lists, written with commas, before the statement that
 * stores them: the table refuses a wrong list, too, but its error does not name the entry. */
#include "control/queue_lists.h"

#include "base/str.h"
#include "base/utf8.h"
#include "task/message.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ENTRIES 100
#define MOST_SECONDS 1e9
#define MOST_SHOWN   100

/** The character set comes first, because strtod() also takes nan, inf, hexadecimal numbers and
 * leading blanks. */
static bool seconds_valid(const char *entry, size_t len)
{
    char copy[32], *end = copy;
    if (len == 0 || len >= sizeof copy || strspn(entry, "0123456789.eE+-") < len)
        return false;
    memcpy(copy, entry, len);
    copy[len] = '\0';
    double seconds = strtod(copy, &end);
    return *end == '\0' && seconds >= 0 && seconds <= MOST_SECONDS;
}

static enum rc check(const char *name, const char *text, bool (*valid)(const char *, size_t),
                     const char *hint, struct err *err)
{
    int count = 0;
    for (const char *at = text; at != NULL && *text != '\0'; count++) {
        size_t len = strcspn(at, ",");
        if (!valid(at, len) || count == MOST_ENTRIES) {
            STR_AUTO entry = {0};
            str_text(&entry, "");
            utf8_add(&entry, at, len, MOST_SHOWN);
            return err_set(err, RC_REJECT, ERR_USAGE, name, hint,
                           count == MOST_ENTRIES ? "there are more than 100 entries"
                                                 : "\"%s\" is no entry of this list",
                           entry.data);
        }
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    if (count == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, name, hint, "the list is empty");
    return RC_OK;
}

enum rc queue_check_lists(const char *retry_intervals, const char *retry_on, struct err *err)
{
    enum rc rc = RC_OK;
    if (retry_intervals != NULL)
        rc = check("--retry-intervals", retry_intervals, seconds_valid,
                   "Seconds, 0 to 1000000000, with commas; the last repeats: 1,10,60", err);
    if (rc == RC_OK && retry_on != NULL)
        rc = check("--retry-on", retry_on, retry_on_valid,
                   "SQLSTATE classes and codes, or all, with commas; - before what is not to be "
                   "tried again: all,-42,-23505",
                   err);
    return rc;
}
