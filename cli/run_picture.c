/* run show --svg FILE --html FILE: one statement makes the document, cli/picture_svg.c and
 * picture_html.c draw it, and this file writes the text so that a reader of FILE sees the old
 * picture or the new one.
 *
 * Both options may be given: the statement runs once, so both files show the same moment. */
#include "cli/run_picture.h"

#include "cli/picture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* FILE is -: a pipe has no old picture that could be kept. */
static enum rc write_output(const struct str *text, struct err *err)
{
    if (fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
        return RC_OK;
    /* A reader that goes away is no error. */
    if (errno == EPIPE)
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_USAGE, "standard output", "", "cannot be written: %s",
                   strerror(errno));
}

/* Under another name first: a disk that is full leaves no half of a picture. */
static enum rc write_file(const char *path, const struct str *text, struct err *err)
{
    STR_AUTO next = {0};
    str_format(&next, "%s.%ld", path, (long)getpid());
    FILE *out = fopen(next.data, "we");
    bool good = out != NULL && fwrite(text->data, 1, text->len, out) == text->len;
    if (out != NULL && fclose(out) != 0)
        good = false;
    if (good && rename(next.data, path) == 0)
        return RC_OK;
    int why = errno;
    if (out != NULL)
        (void)unlink(next.data);
    return err_set(err, RC_REJECT, ERR_USAGE, path, "", "cannot be written: %s", strerror(why));
}

/* path NULL: this form is not asked for. */
static enum rc write_picture(struct cli *cli, const char *option, const cJSON *document,
                             struct err *err)
{
    const char *path = cli_text(cli, option);
    STR_AUTO text = {0};
    if (path == NULL)
        return RC_OK;
    if (strcmp(option, "svg") == 0)
        picture_svg(&text, document, true);
    else
        picture_html(&text, document);
    if (str_same(path, "-"))
        return write_output(&text, err);
    enum rc rc = write_file(path, &text, err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s is written\n", path);
    return rc;
}

enum rc run_picture(struct cli *cli, int64_t run_no, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc =
        db_run(cli->db, &sql_run_picture, (const char *const[]){DB_INT(run_no)}, &rows, err);
    if (rc != RC_OK)
        return rc;
    cJSON *document = cJSON_Parse(db_text(rows, 0, RUN_PICTURE_DOCUMENT));
    if (document == NULL)
        return err_set(err, RC_FATAL, ERR_INTERNAL, "run_gantt", "", "the answer is no JSON");
    rc = write_picture(cli, "svg", document, err);
    if (rc == RC_OK)
        rc = write_picture(cli, "html", document, err);
    cJSON_Delete(document);
    return rc;
}
