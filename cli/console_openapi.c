/* console openapi: what api/v1/openapi.json of a console says, without one. */
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
