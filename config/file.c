/* lockstep.conf, read with inih. Begin with file_read() and on_value(): next_line() hands inih one
 * line, inih calls on_value() for each key, and config_set() (config.c) checks and stores it. All
 * faults of a file are reported, each with its line; inih stops at none of them. A file with a
 * secret that others may read is refused at the end. */
#include "config/store.h"

#include "base/ascii.h"
#include "base/remedies.h"

#include "config/value.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_LINE   65536
#define LONGEST_SOURCE (16 * 1024 * 1024) /* a line beyond this has no end: a device */

/* inih reads lines of at most 200 bytes and sections of 49, cuts what is longer, and does not pass
 * the number of a line to its handler. So the lines come through next_line, which counts them and
 * keeps the whole of each: a longer value, and each section, is taken from there. */
struct reading {
    struct config *config;
    FILE *file;
    const char *path;
    char line[LONGEST_LINE];
    char section[300]; /* the present one; "": none so far */
    char cluster[300]; /* [cluster:NAME] without a conninfo so far; else "" */
    int cluster_at;    /* its line */
    int number, secret_at;
    bool cut, too_long;
};

static void where_of(const struct reading *reading, char *ret_where, size_t size)
{
    (void)snprintf(ret_where, size, "%s:%d", reading->path, reading->number);
}

static void refuse_line(struct reading *reading, const char *hint, const char *message)
{
    char where[160];
    struct err err;
    where_of(reading, where, sizeof where);
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, where, hint, "%s", message);
    config_fault(&reading->config->faults, &err);
}

/* As fgets, but it reports a line that is too long, of which the rest is no line of its own, and
 * one with NUL bytes, which would end it. */
static bool read_line(struct reading *reading)
{
    size_t len = 0, nuls = 0, bytes = 0;
    int c = '\0';
    while (c != '\n' && bytes < LONGEST_SOURCE && (c = getc(reading->file)) != EOF) {
        bytes++;
        nuls += c == '\0';
        if (len < sizeof reading->line - 1)
            reading->line[len++] = (char)c;
    }
    reading->line[len] = '\0';
    reading->number += bytes > 0;
    reading->too_long = nuls == 0 && bytes >= sizeof reading->line;
    if (nuls > 0) {
        reading->line[0] = '\0';
        refuse_line(reading, "Save the file as UTF-8 text.", "the line holds a NUL byte");
    }
    return bytes > 0 && bytes < LONGEST_SOURCE;
}

/* A line that begins a section: inih would end that of an IPv6 address, [http:[::1]:8080], at the
 * first bracket. False: it is refused. */
static bool take_heading(struct reading *reading, const char *start)
{
    static const char address[] = "[http:[";
    const char *end = strchr(start, ']');
    if (end != NULL && strncmp(start, address, strlen(address)) == 0)
        end = strchr(end + 1, ']');
    /* inih reports such a line only at the end, after the faults that follow from it. */
    if (end == NULL)
        refuse_line(reading, "[section]", "this line is neither a section nor key = value");
    else if (end - start > (int)sizeof reading->section)
        refuse_line(reading, "", "the name of this section is longer than any that there is");
    else {
        (void)snprintf(reading->section, sizeof reading->section, "%.*s", (int)(end - start - 1),
                       start + 1);
        return true;
    }
    return false;
}

/* inih does not report a section without a key: a database would be missing without an error. */
static void end_cluster(struct reading *reading)
{
    char where[160];
    struct err err;
    if (*reading->cluster == '\0')
        return;
    (void)snprintf(where, sizeof where, "%s:%d", reading->path, reading->cluster_at);
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, where, HINT_CLUSTER, "%s] has no conninfo",
                  reading->cluster);
    config_fault(&reading->config->faults, &err);
    reading->cluster[0] = '\0';
}

static void begin_section(struct reading *reading, const char *start)
{
    end_cluster(reading);
    if (strncmp(start, "[cluster:", 9) != 0 || start[9] == ']')
        return;
    (void)snprintf(reading->cluster, sizeof reading->cluster, "%.*s", (int)strcspn(start, "]"),
                   start);
    reading->cluster_at = reading->number;
}

static char *next_line(char *buffer, int size, void *context)
{
    struct reading *reading = context;
    if (!read_line(reading))
        return NULL;
    /* The indent is removed, because inih would take an indented line for a continuation of the
     * value before. */
    const char *start = reading->line + strspn(reading->line, " \t");
    if (*start == '[' && take_heading(reading, start))
        begin_section(reading, start);
    else if (*start == '[')
        start = "";
    int written = snprintf(buffer, (size_t)size, "%s", start);
    reading->cut = written >= size;
    return buffer;
}

/* The value of a line of which inih saw only the beginning, by inih's rules. */
static char *whole_value(struct reading *reading)
{
    char *value = reading->line + strcspn(reading->line, "=:");
    value += *value != '\0';
    value += strspn(value, " \t");
    for (char *at = value; *at != '\0'; at++)
        if (*at == ';' && at > value && ascii_space(at[-1])) {
            *at = '\0';
            break;
        }
    for (size_t n = strlen(value); n > 0 && ascii_space(value[n - 1]);)
        value[--n] = '\0';
    return value;
}

static int on_value(void *context, const char *cut_section, const char *name, const char *value)
{
    struct reading *reading = context;
    const char *section = reading->section;
    char where[160];
    where_of(reading, where, sizeof where);
    struct err err;
    enum rc rc;
    (void)cut_section;
    if (strcmp(name, "conninfo") == 0)
        reading->cluster[0] = '\0';
    if (reading->too_long)
        rc = err_set(&err, RC_FATAL, ERR_CONFIG, where, "", "the line is longer than %d bytes",
                     LONGEST_LINE);
    else if (*section == '\0')
        rc = err_set(&err, RC_FATAL, ERR_CONFIG, where, "Begin with a section, such as [postgres].",
                     "\"%s\" stands before the first section", name);
    else {
        value = reading->cut ? whole_value(reading) : value;
        rc = config_set(reading->config, section, name, value, CONFIG_BY_FILE, where, &err);
    }
    if (rc != RC_OK) {
        config_fault(&reading->config->faults, &err);
        return 1; /* it is reported; the next line follows */
    }
    /* Noted here and judged at the end of the file: the mode matters only if a secret is in it. A
     * secret in a file of its own (@/PATH) is none of this file. */
    const struct config_value *stored = config_find(reading->config, section, name);
    if (stored != NULL && value_is_secret(stored->row, name, stored->value) &&
        !secret_is_elsewhere(stored->row, name, value) && reading->secret_at == 0)
        reading->secret_at = reading->number;
    return 1;
}

/* libpq ignores a .pgpass that others can read; here it is refused, because silence would be worse.
 */
static enum rc check_mode(const struct reading *reading, struct err *err)
{
    struct stat info;
    if (reading->secret_at == 0 || fstat(fileno(reading->file), &info) != 0)
        return RC_OK;
    bool of_root = info.st_uid == 0;
    if ((info.st_mode & (of_root ? 037U : 077U)) == 0)
        return RC_OK;
    char where[160], hint[300];
    (void)snprintf(where, sizeof where, "%s:%d", reading->path, reading->secret_at);
    (void)snprintf(hint, sizeof hint, REMEDY_CHMOD, of_root ? 640U : 600U, reading->path);
    return err_set(err, RC_FATAL, ERR_CONFIG, where, hint,
                   "the file holds a password or another secret and its mode is %04o: %s to it",
                   (unsigned)(info.st_mode & 07777),
                   of_root ? "others have access, or its group may write"
                           : "group or others have access");
}

/* A directory or a pipe is refused; a character device is let through, so that /dev/null can be
 * named. */
static enum rc open_file(struct reading *reading, struct err *err)
{
    reading->file = fopen(reading->path, "re");
    struct stat info;
    if (reading->file == NULL)
        return err_set(err, RC_FATAL, ERR_CONFIG, reading->path,
                       errno == EACCES ? "Run it as a login that may read the file, or name "
                                         "another one: --config FILE, or LOCKSTEP_CONFIG. "
                                         "/dev/null is one without settings."
                                       : "",
                       "cannot read the configuration file: %s", strerror(errno));
    if (fstat(fileno(reading->file), &info) == 0 &&
        (S_ISREG(info.st_mode) || S_ISCHR(info.st_mode)))
        return RC_OK;
    (void)fclose(reading->file);
    return err_set(err, RC_FATAL, ERR_CONFIG, reading->path, "",
                   "the configuration file is no file");
}

/* Anyone may leave a file in a directory such as /tmp, and it would name programs and servers. */
static enum rc check_owner(const struct reading *reading, struct err *err)
{
    struct stat info;
    const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL; /* the user behind sudo */
    if (fstat(fileno(reading->file), &info) != 0 || info.st_uid == 0 || info.st_uid == geteuid() ||
        (sudo != NULL && (uid_t)strtoul(sudo, NULL, 10) == info.st_uid))
        return RC_OK;
    char hint[300];
    (void)snprintf(hint, sizeof hint, "If you trust it, name it: --config ./%s", reading->path);
    return err_set(err, RC_FATAL, ERR_CONFIG, reading->path, hint,
                   "the file in this directory belongs to another user (uid %u)",
                   (unsigned)info.st_uid);
}

enum rc file_read(struct config *config, const char *path, bool found_here, struct err *err)
{
    FREE_AUTO struct reading *reading = xcalloc(1, sizeof *reading);
    reading->config = config;
    reading->path = path;
    enum rc rc = open_file(reading, err);
    if (rc != RC_OK)
        return rc;
    rc = found_here ? check_owner(reading, err) : RC_OK;
    if (rc != RC_OK) {
        (void)fclose(reading->file);
        return rc;
    }
    int bad_line = ini_parse_stream(next_line, reading, on_value, reading);
    end_cluster(reading);
    if (bad_line > 0) {
        char where[160];
        (void)snprintf(where, sizeof where, "%s:%d", path, bad_line);
        rc = err_set(err, RC_FATAL, ERR_CONFIG, where,
                     "Write [section], key = value, or a comment after ; or #.",
                     "this line is neither a section nor key = value");
    } else if (ferror(reading->file)) {
        rc = err_set(err, RC_FATAL, ERR_CONFIG, path, "",
                     "the configuration file cannot be read to its end");
    } else {
        rc = check_mode(reading, err);
    }
    (void)fclose(reading->file);
    return rc;
}
