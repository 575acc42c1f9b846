#include "console/right.h"

#include "base/remedies_rights.h"
#include "base/utf8.h"
#include "db/sqlstate.h"

#include <string.h>

void right_hint(struct err *err, const char *login)
{
    enum err_kind kind;
    const char *general = NULL;
    if (!sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE))
        return;
    (void)sqlstate_reaction(err->code, &kind, &general);
    if (*err->hint != '\0' && (general == NULL || strcmp(err->hint, general) != 0))
        return;
    /* The server's words for a right are not those that a login is given. */
    if (strstr(err->message, "terminate") != NULL)
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_END_OTHER, login);
    else if (strstr(err->message, "permission denied to set role") != NULL)
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_CONSOLE, login);
}
