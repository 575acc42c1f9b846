/* Answers with the files of the page: from the table that the build embeds, or with --assets from a
 * directory, read for each request, so that a change shows after a reload. It knows no route:
 * console/console.c decides which path is a file. */
#include "console/assets.h"

#include "base/str.h"
#include "console/answer.h"
#include "console/problem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes. It keeps a large file in a wrong directory from filling memory. */
#define FILE_MOST 4194304
/* Relative links of the page resolve against this element (HTML, section 4.2.3), so one file serves
 * every base path and every database below clusters/NAME/. */
#define BASE "<base href=\"/\">"

const char *asset_type(const char *path)
{
    /* A file of another type is never sent: editors leave such files in a directory. */
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
        {".json", "application/json"},         {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].end, dot) == 0)
            return types[i].type;
    return NULL;
}

/* Letters, digits, and . - _ / without two dots. */
static bool is_plain(const char *path)
{
    return *path != '/' && strstr(path, "..") == NULL &&
           strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
               strlen(path);
}

static bool read_file(const char *directory, const char *path, struct str *bytes)
{
    STR_AUTO name = {0};
    struct stat status;
    str_format(&name, "%s/%s", directory, path);
    /* A symbolic link at the end of the path could lead out of the directory. */
    int fd = open(name.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool fits = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_MOST;
    char block[65536];
    ssize_t n;
    while (fits && (n = read(fd, block, sizeof block)) > 0)
        str_add(bytes, block, (size_t)n);
    (void)close(fd);
    /* asset_answer_page searches it as a string. */
    str_text(bytes, "");
    return fits;
}

static bool find(const char *directory, const char *path, struct str *bytes)
{
    /* Never both: a file that is missing in the directory must show as missing. */
    if (directory != NULL)
        return read_file(directory, path, bytes);
    for (const struct asset_bytes *asset = asset_table; asset->path != NULL; asset++)
        if (strcmp(asset->path, path) == 0) {
            str_add(bytes, asset->bytes, (size_t)(asset->end - asset->bytes));
            return true;
        }
    return false;
}

enum rc asset_check(const char *directory, struct err *err)
{
    STR_AUTO bytes = {0};
    if (find(directory, "index.html", &bytes))
        return RC_OK;
    return err_set(err, RC_FATAL, ERR_CONFIG, directory,
                   "--assets names the folder console/web of the sources.",
                   "there is no index.html that can be read in it");
}

static void answer(struct http_request *request, const char *type, const struct str *bytes)
{
    http_answer_tagged(request, type, "Accept-Encoding", bytes->data, bytes->len);
}

bool asset_answer(struct http_request *request, const char *directory, const char *path)
{
    STR_AUTO bytes = {0};
    const char *type = asset_type(path);
    /* The path comes from the network and becomes part of a file's name. */
    if (type == NULL || !is_plain(path) || !find(directory, path, &bytes))
        return false;
    answer(request, type, &bytes);
    return true;
}

void asset_answer_page(struct http_request *request, const char *directory, const char *base_path)
{
    STR_AUTO bytes = {0};
    STR_AUTO page = {0};
    if (!find(directory, "index.html", &bytes)) {
        problem_answer(request,
                       &(struct problem){.status = 404,
                                         .detail = "there is no index.html",
                                         .hint = "--assets names the folder console/web."});
        return;
    }
    const char *base = strstr(bytes.data, BASE);
    if (base == NULL) {
        str_add(&page, bytes.data, bytes.len);
    } else {
        str_add(&page, bytes.data, (size_t)(base - bytes.data));
        str_format(&page, "<base href=\"%s\">", base_path);
        str_text(&page, base + strlen(BASE));
    }
    answer(request, "text/html; charset=utf-8", &page);
}
