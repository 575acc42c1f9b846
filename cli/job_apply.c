/* job apply: files that declare jobs, in JSON: an object with the field jobs, a list, or one job.
 * This file only checks that the text is JSON and that SQL of users can run, or says that nothing
 * has tried it; lockstep.job_apply compares, changes and prunes, in one transaction for each file.
 *
 * All files are read before the first one is applied, because --prune spares the jobs that any of
 * them declares: a job may move from one to another. Several files are several transactions, in the
 * order of the arguments: a file that is refused leaves those before it applied. */
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/job_sql.h"

#include "base/memory.h"
#include "base/remedies.h"
#include "base/str.h"
#include "base/utf8.h"
#include "db/parameter.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (64 * 1024 * 1024)

enum rc job_read_file(const char *path, struct str *text, struct err *err)
{
    char part[4096];
    size_t len;
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (in == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, path, "", "it cannot be opened: %s",
                       strerror(errno));
    while (text->len <= MOST_BYTES && (len = fread(part, 1, sizeof part, in)) > 0)
        str_add(text, part, len);
    int why = ferror(in) ? errno : 0;
    if (in != stdin)
        (void)fclose(in);
    if (why != 0)
        return err_set(err, RC_REJECT, ERR_USAGE, path, "", "it cannot be read: %s", strerror(why));
    /* PostgreSQL's text cannot hold a NUL, and a C string would end there silently. */
    if (text->len > MOST_BYTES || (text->len > 0 && memchr(text->data, '\0', text->len) != NULL))
        return err_set(err, RC_REJECT, ERR_USAGE, path, "",
                       text->len > MOST_BYTES ? "it is larger than 64 MiB"
                                              : "it contains a NUL byte");
    return RC_OK;
}

/* A job without a name is refused by the database. */
static void add_names(const cJSON *file, struct str *names)
{
    const cJSON *jobs = cJSON_GetObjectItemCaseSensitive(file, "jobs");
    const cJSON *one = jobs != NULL ? jobs->child : cJSON_IsArray(file) ? file->child : file;
    for (; one != NULL; one = one->next) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "job"));
        if (name != NULL)
            db_array_text(names, name, strlen(name));
    }
}

/* *ret_jobs: the text of the file, which is JSON; the caller frees it. names: of its jobs. */
static enum rc read_jobs(const char *path, char **ret_jobs, struct str *names, struct err *err)
{
    STR_AUTO content = {0};
    enum rc rc = job_read_file(path, &content, err);
    if (rc != RC_OK)
        return rc;
    const char *text = content.data != NULL ? content.data : "", *end = text;
    cJSON *file = cJSON_ParseWithOpts(text, &end, true);
    if (file == NULL) {
        /* cJSON reports a byte; people look for a line. */
        int line = 1;
        for (const char *at = text; at < end; at++)
            line += *at == '\n';
        return err_set(err, RC_REJECT, ERR_USAGE, path,
                       "Write {\"jobs\": [{\"job\": \"nightly\", \"queue\": \"sales\", "
                       "\"tasks\": [...]}]}.",
                       "it is not JSON from line %d on", line);
    }
    *ret_jobs = xstrdup(text);
    add_names(file, names);
    cJSON_Delete(file);
    return RC_OK;
}

/* The name by which the jobs of a file are known: ./jobs.json and jobs.json are one file, and all
 * pipes are one: /dev/stdin, or /dev/fd/63 for the shell's <(...). */
static const char *file_name(const char *path)
{
    if (strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
        strncmp(path, "/proc/", 6) == 0)
        return "-";
    while (strncmp(path, "./", 2) == 0 && path[2] != '\0')
        path += 2;
    return path;
}

/* The jobs of all files that differ from their file and are kept. */
struct kept {
    int jobs;
    const char *file; /* the first one */
};

static void count_kept(const char *path, const struct db_result *rows, struct kept *kept)
{
    for (int i = 0; i < db_rows(rows); i++)
        if (db_word(rows, i, JOB_APPLY_ACTION) == JOB_APPLY_IS_KEPT && kept->jobs++ == 0)
            kept->file = path;
}

/* A job that is kept makes the command fail, so that a deployment does not pass for done. */
static enum rc judge(const struct kept *kept, struct err *err)
{
    if (kept->jobs == 0)
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_FAILED, kept->file,
                   "See the detail of each; --force makes them what the file declares.",
                   "%d job%s kept, and not as the file declares", kept->jobs,
                   kept->jobs == 1 ? " is" : "s are");
}

/* Only executors know the login of the tasks then. The file is applied already: an error here is
 * no failure of the command. */
static void say_untried(struct cli *cli, const char *path, const char *jobs)
{
    struct err ignored;
    DB_RESULT_AUTO *rows = NULL;
    if (*config_get_text(cli->config, "postgres", "task_conninfo") != '\0')
        return;
    enum rc rc = db_run(cli->db, &sql_job_statements, (const char *const[]){jobs}, &rows, &ignored);
    if (rc == RC_OK && db_rows(rows) > 0)
        cli_say(cli,
                "lockstep: %s: SQL of jobs (query, mark, pending) was not tried: set [postgres] "
                "task_conninfo to a login of lockstep_task, and apply the file again\n",
                path);
}

static enum rc apply(struct cli *cli, const char *path, const char *jobs, const char *names,
                     struct kept *kept, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    const char *params[] = {jobs,
                            file_name(path),
                            cli_has(cli, "dry-run") ? "true" : "false",
                            cli_has(cli, "prune") ? "true" : "false",
                            cli_has(cli, "force") ? "true" : "false",
                            names};
    enum rc rc = job_sql_check(cli, jobs, err);
    if (rc == RC_OK)
        rc = job_refused(db_run(cli->db, &sql_job_apply, params, &rows, err), err);
    if (rc == RC_REJECT && err != NULL && err->object[0] == '\0')
        utf8_copy(err->object, sizeof err->object, path);
    if (rc != RC_OK)
        return rc;
    say_untried(cli, path, jobs);
    if (cli->argument_count > 1)
        cli_say(cli, "lockstep: %s\n", path);
    count_kept(path, rows, kept);
    return cli_print(cli, rows, err);
}

static enum rc apply_all(struct cli *cli, char **jobs, struct err *err)
{
    STR_AUTO names = {0};
    struct kept kept = {0};
    enum rc rc = RC_OK;
    int at = 0, applied = 0, count = cli->argument_count;
    db_array_start(&names);
    for (int i = 0; rc == RC_OK && i < count; i++)
        rc = read_jobs(cli->arguments[at = i], &jobs[i], &names, err);
    db_array_end(&names);
    while (rc == RC_OK && applied < count) {
        at = applied;
        rc = apply(cli, cli->arguments[at], jobs[at], names.data, &kept, err);
        if (rc == RC_OK)
            applied++;
    }
    for (int i = applied; rc != RC_OK && i < count; i++)
        if (i != at)
            cli_say(cli, "lockstep: %s: not applied, because of the error below\n",
                    cli->arguments[i]);
    return rc == RC_OK ? judge(&kept, err) : rc;
}

enum rc command_job_apply(struct cli *cli, struct err *err)
{
    int count = cli->argument_count;
    if (count == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "job apply", REMEDY_JOB_APPLY,
                       "no file is named");
    /* Before a file is applied: one that takes a job over from a pipe would have done so. */
    for (int i = 0; i < count && cli_has(cli, "prune"); i++)
        if (strcmp(file_name(cli->arguments[i]), "-") == 0)
            return err_set(err, RC_REJECT, ERR_USAGE, "--prune",
                           "Write the jobs to a file, and apply it with --prune.",
                           "all pipes have one name, so it would delete the jobs of others");
    char **jobs = xcalloc((size_t)count, sizeof *jobs); /* the text of each file */
    enum rc rc = apply_all(cli, jobs, err);
    for (int i = 0; i < count; i++)
        free(jobs[i]);
    free(jobs);
    return rc;
}
