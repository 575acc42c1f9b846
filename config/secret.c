/* Reads a secret from a file of its own: @/PATH, or @$CREDENTIALS_DIRECTORY/NAME where systemd
 * provides it (systemd.exec(5), LoadCredential=). The mode of that file is not checked. */
#include "config/key.h"
#include "config/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_SECRET 65536
#define CREDENTIALS    "$CREDENTIALS_DIRECTORY/"

/** Only for secrets, because @ is an ordinary character in other values, and not for a connection
 * string, which has passfile for it. */
bool secret_is_elsewhere(const struct config_key *row, const char *key, const char *value)
{
    bool names_file = value[0] == '@' && (value[1] == '/' || strncmp(value + 1, CREDENTIALS,
                                                                     strlen(CREDENTIALS)) == 0);
    return names_file && row->type != CONFIG_CONNINFO && row->type != CONFIG_URL &&
           value_is_secret(row, key, value);
}

static enum rc refuse(const char *where, const char *path, const char *why, struct err *err)
{
    return err_set(err, RC_FATAL, ERR_CONFIG, where,
                   "Write the secret and nothing else into the file, on one line.",
                   "the secret cannot be read from %s: %s", path, why);
}

/* Without the end of the line that editors add. */
static enum rc read_all(FILE *file, const char *where, const char *path, char **ret_text,
                        struct err *err)
{
    FREE_AUTO char *text = xcalloc(LONGEST_SECRET + 1, 1);
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || S_ISDIR(info.st_mode))
        return refuse(where, path, "it is no file", err);
    size_t len = fread(text, 1, LONGEST_SECRET, file);
    if (ferror(file))
        return refuse(where, path, strerror(errno), err);
    /* The buffer is full, so more may follow: a part of a secret would be a wrong one. */
    if (len == LONGEST_SECRET)
        return refuse(where, path, "it is too long", err);
    if (memchr(text, '\0', len) != NULL)
        return refuse(where, path, "it has a NUL byte in it", err);
    len -= len > 0 && text[len - 1] == '\n';
    len -= len > 0 && text[len - 1] == '\r';
    text[len] = '\0';
    if (len == 0)
        return refuse(where, path, "it is empty", err);
    *ret_text = xstrdup(text);
    /* The buffer of 64 kB is freed with the secret in it otherwise. */
    memset(text, 0, len);
    return RC_OK;
}

enum rc secret_read(const char *value, const char *where, char **ret_text, struct err *err)
{
    STR_AUTO path = {0};
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    if (value[1] == '/')
        str_text(&path, value + 1);
    else if (directory == NULL)
        return refuse(where, value + 1,
                      "CREDENTIALS_DIRECTORY is not set (systemd sets it for LoadCredential=)",
                      err);
    else
        str_format(&path, "%s/%s", directory, value + 1 + strlen(CREDENTIALS));
    FILE *file = fopen(path.data, "re");
    if (file == NULL)
        return refuse(where, path.data, strerror(errno), err);
    enum rc rc = read_all(file, where, path.data, ret_text, err);
    (void)fclose(file);
    return rc;
}
