/* Writes the GRANT that a login lacks into the hint of an error 42501. It only recognises the two
 * rights that the server itself checks without a hint of ours: ending a session of another login,
 * and SET ROLE to a group. All other refusals come from functions of the schema, which raise their
 * own hint. */
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
    /* The general hint of 42501 may be replaced; a hint of the database itself may not. */
    (void)sqlstate_reaction(err->code, &kind, &general);
    if (*err->hint != '\0' && (general == NULL || strcmp(err->hint, general) != 0))
        return;
    /* The server's words for a right are not those that a login is given. */
    if (strstr(err->message, "terminate") != NULL)
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_END_OTHER(login));
    else if (strstr(err->message, "permission denied to set role") != NULL)
        utf8_format(err->hint, sizeof err->hint, REMEDY_GRANT_CONSOLE(login));
}
