/* Looks into the places where packages put PostgreSQL's server. On Debian, and in postgresql.org's
 * packages for Red Hat, initdb is not in PATH, and each major has a directory, whose name has its
 * number. Elsewhere there is one server, and initdb says of which major it is. */
#include "cli/dev_bin.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct place {
    const char *before, *after; /* of the number; after == NULL: one server */
};

struct major {
    char number[16]; /* "15"; up to PostgreSQL 9 "9.6" */
};

/* Of the data; "": there is none. */
static struct major made_by(const char *data)
{
    struct major major = {""};
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "%s/PG_VERSION", data);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return major;
    if (fscanf(file, "%15[0-9.]", major.number) != 1)
        major.number[0] = '\0';
    (void)fclose(file);
    return major;
}

/* initdb (PostgreSQL) 15.4 */
static struct major said_by(const char *initdb)
{
    struct major major = {""};
    char command[PATH_MAX + 16];
    (void)snprintf(command, sizeof command, "%s --version", initdb);
    FILE *output = popen(command, "re"); /* one of the places below: nothing that needs quotes */
    if (output == NULL)
        return major;
    if (fscanf(output, "%*[^)]) %15[0-9]", major.number) != 1)
        major.number[0] = '\0';
    (void)pclose(output);
    return major;
}

static struct major major_of(const struct place *place, const char *initdb)
{
    struct major major = {""};
    if (place->after == NULL)
        return said_by(initdb);
    const char *number = initdb + strlen(place->before);
    const char *end = strchr(number, '/');
    (void)snprintf(major.number, sizeof major.number, "%.*s", (int)(end - number), number);
    return major;
}

/* The initdb of the wanted major, or of the newest one where none is wanted. */
static bool find_in(const struct place *place, const struct major *wanted, char *ret_bin,
                    size_t size)
{
    char pattern[PATH_MAX];
    struct major newest = {""};
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s%s%s/initdb", place->before,
                   place->after != NULL ? "*" : "", place->after != NULL ? place->after : "");
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    bool any = false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct major major = major_of(place, found.gl_pathv[i]);
        if (wanted->number[0] != '\0' ? strcmp(major.number, wanted->number) != 0
                                      : any && strverscmp(major.number, newest.number) < 0)
            continue;
        any = true;
        newest = major;
        (void)snprintf(ret_bin, size, "%s", found.gl_pathv[i]);
        *strrchr(ret_bin, '/') = '\0';
    }
    globfree(&found);
    return any;
}

enum rc dev_bin_find(const char *data, char *ret_bin, size_t size, struct err *err)
{
    static const struct place places[] = {{"/usr/lib/postgresql/", "/bin"},
                                          {"/usr/pgsql-", "/bin"},
                                          {"/usr/bin", NULL},
                                          {"/usr/local/bin", NULL},
                                          {"/usr/local/pgsql/bin", NULL}};
    const struct major wanted = made_by(data);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (find_in(&places[i], &wanted, ret_bin, size))
            return RC_OK;
    if (wanted.number[0] == '\0')
        return err_set(err, RC_FATAL, ERR_CONFIG, "dev up",
                       "Install PostgreSQL's server, e.g. apt install postgresql.",
                       "initdb is not found");
    char hint[128];
    (void)snprintf(hint, sizeof hint,
                   "Install this server, e.g. apt install postgresql-%s, or name a new directory: "
                   "--dir DIR",
                   wanted.number);
    return err_set(err, RC_FATAL, ERR_CONFIG, data, hint,
                   "PostgreSQL %s made this data and alone can serve it, and its server is not "
                   "installed",
                   wanted.number);
}
