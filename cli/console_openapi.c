/* console openapi: the document that a console serves at api/v1/openapi.json, without a console.
 * The base path and the cookie's name are those of a console with one database and without a port
 * in it. */
#include "cli/commands.h"

#include "console/openapi.h"

#include <stdio.h>

enum rc command_console_openapi(struct cli *cli, struct err *err)
{
    STR_AUTO document = {0};
    (void)cli, (void)err;
    openapi_text(&document, "/", "lockstep_session");
    (void)puts(document.data);
    return RC_OK;
}
