/* A rejected message as a staged task: its tags are removed, because it is published in a run of
 * its own, and the result goes through the codec, so that a message that is still wrong is refused
 * here and not rejected once more. */
#include "control/redrive.h"

#include "base/ascii.h"
#include "task/message.h"
#include "task/message_text.h"

void redrive_bytes(const char *hex, struct str *bytes)
{
    /* Behind the \x of PostgreSQL's hex format for bytea. */
    for (hex += 2; hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
        char byte = ascii_byte(hex);
        str_add(bytes, &byte, 1);
    }
}

enum rc redrive_line(const char *text, size_t len, const char *order, struct str *line,
                     struct err *err)
{
    MESSAGE_AUTO *msg = NULL;
    enum rc rc =
        message_without(line, text, len,
                        (const char *const[]){"run", "seq", "previous_order", "run_name",
                                              "run_on_failure", order ? "order" : NULL, NULL},
                        err);
    if (rc == RC_OK && order != NULL) {
        STR_AUTO rest = {0};
        str_add(&rest, line->data + 1, line->len - 1);
        str_clear(line);
        str_format(line, "{\"order\": %s%s%s", order, rest.len > 1 ? ", " : "", rest.data);
    }
    return rc == RC_OK ? message_parse(line->data, line->len, MESSAGE_STAGED, &msg, err) : rc;
}
