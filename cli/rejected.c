/* rejected list, show: messages that could not become tasks. --raw writes the bytes as they came
 * from the topic; every other form escapes them, because a message may contain anything.
 *
 * Nothing is changed here; rejected redrive (cli/rejected_redrive.c) publishes them again. */
#include "base/ascii.h"
#include "base/remedies.h"
#include "cli/commands.h"
#include "cli/find.h"

#include <stdio.h>

enum rc command_rejected_list(struct cli *cli, struct err *err)
{
    const char *queue;
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_view_rejected_list, (const char *const[]){queue, limit_of(cli)},
                    &result, err);
    return rc == RC_OK
               ? cli_print_list(cli, result,
                                "id,queue,offset,run_id,reason,detail,rejected_at,redriven_at", err)
               : rc;
}

/* The statement sends hexadecimal, because libpq's text form of bytea depends on bytea_output. */
static void write_hex(const char *hex)
{
    for (; hex[0] != '\0' && hex[1] != '\0'; hex += 2)
        (void)fputc((unsigned char)ascii_byte(hex), stdout);
}

enum rc command_rejected_show(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *message = NULL;
    enum rc rc = number_argument(cli, "rejected", err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_view_rejected_show, (const char *const[]){cli->arguments[0]},
                    &message, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, cli->arguments[0], REMEDY_REJECTED_LIST,
                       "there is no rejected message of this number");
    if (rc != RC_OK)
        return rc;
    /* The escaped form is the default, because a terminal carries out control bytes. */
    if (!cli_has(cli, "raw"))
        return table_result(stdout, cli_style(cli), message, true, err);
    write_hex(db_text(message, 0, VIEW_REJECTED_SHOW_HEX));
    return table_check(stdout, err);
}
