/* One window of bytes over a file, a pipe or a terminal. source_more() moves the unread rest to the
 * front and reads behind it; poll() comes before each read, so that a source without input can be
 * left after a time. A regular file is always ready (POSIX, poll). The file knows nothing of lines
 * and tasks: staged_jsonl.c and staged_csv.c find those. Every byte goes into the digest when it is
 * read. */
#include "producer/source.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define CHUNK 65536

struct source {
    char *name;
    int fd;
    /* regular: it can be read again, so it has a digest. started: a byte order mark is dropped. */
    bool regular, started, ended;
    size_t from, to; /* window[from..to) is read and not taken */
    XXH3_state_t *hash;
    int64_t hashed; /* bytes that went into hash */
    char window[SOURCE_WINDOW];
};

static enum rc system_error(enum rc rc, const char *name, const char *what, const char *hint,
                            struct err *err)
{
    int code = errno;
    (void)err_set(err, rc, ERR_USAGE, name, hint, "%s: %s", what, strerror(code));
    err_code(err, strerrorname_np(code));
    return rc;
}

enum rc source_open(const char *path, struct source **ret_source, struct err *err)
{
    /* "-" is standard input, as in POSIX utilities (XBD 12.2, guideline 13); a file of that name is
     * ./-. */
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return system_error(RC_REJECT, path, "cannot open the file",
                            "check the path and its permissions", err);
    struct stat stat;
    if (fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode)) {
        if (!standard)
            (void)close(fd);
        return err_set(err, RC_REJECT, ERR_USAGE, path, "Name a file, or - for standard input.",
                       "this is a directory");
    }
    struct source *source = xmalloc(sizeof *source);
    source->name = xstrdup(standard ? "stdin" : path);
    source->fd = fd;
    source->regular = !standard && S_ISREG(stat.st_mode);
    source->started = source->ended = false;
    source->from = source->to = 0;
    source->hash = XXH3_createState();
    source->hashed = 0;
    if (source->hash == NULL)
        abort();
    (void)XXH3_128bits_reset(source->hash);
    *ret_source = source;
    return RC_OK;
}

void source_close(struct source *source)
{
    if (source == NULL)
        return;
    if (source->fd != STDIN_FILENO)
        (void)close(source->fd);
    (void)XXH3_freeState(source->hash);
    free(source->name);
    free(source);
}

const char *source_name(const struct source *source)
{
    return source->name;
}

const char *source_bytes(const struct source *source, size_t *ret_len)
{
    *ret_len = source->to - source->from;
    return source->window + source->from;
}

void source_take(struct source *source, size_t len)
{
    source->from += len;
}

/** A signal ends the wait with RC_RETRY, too: the caller then checks at once whether it was
 * interrupted. */
static enum rc await_input(const struct source *source, int timeout_ms, struct err *err)
{
    struct pollfd input = {.fd = source->fd, .events = POLLIN};
    int n = poll(&input, 1, timeout_ms);
    if (n > 0)
        return RC_OK;
    if (n < 0 && errno != EINTR)
        return system_error(RC_FATAL, source->name, "cannot wait for input", NULL, err);
    return err_set(err, RC_RETRY, ERR_TIMEOUT, source->name, NULL, "no input within %d ms",
                   timeout_ms);
}

/** A pipe may hand over the byte order mark in pieces, so the start is compared only once it is
 * whole. */
static void drop_mark(struct source *source)
{
    if (source->started || (source->to < 3 && !source->ended))
        return;
    source->started = true;
    if (source->to >= 3 && memcmp(source->window, "\xef\xbb\xbf", 3) == 0)
        source->from = 3;
}

enum rc source_more(struct source *source, int timeout_ms, struct err *err)
{
    /* The window has no wrap-around: a line must be one piece of memory for the parser. */
    if (source->from > 0) {
        memmove(source->window, source->window + source->from, source->to - source->from);
        source->to -= source->from;
        source->from = 0;
    }
    do {
        enum rc rc = source->ended ? RC_NONE : await_input(source, timeout_ms, err);
        if (rc != RC_OK)
            return rc;
        ssize_t n;
        do
            /* A hang-up or an error of the descriptor also ends poll(); read() then reports it. */
            n = read(source->fd, source->window + source->to, SOURCE_WINDOW - source->to);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return system_error(RC_FATAL, source->name, "cannot read the source", NULL, err);
        /* The digest covers the bytes as they are read, the byte order mark included, so it can be
         * compared with that of the file. */
        (void)XXH3_128bits_update(source->hash, source->window + source->to, (size_t)n);
        source->hashed += n;
        source->to += (size_t)n;
        source->ended = n == 0;
        /* As long as it waits for a whole byte order mark the loop reads on, and shows nothing. */
        drop_mark(source);
    } while (!source->started);
    return source->ended ? RC_NONE : RC_OK;
}

/** In the canonical form of XXH3, which is big-endian, so that the same file has the same digest on
 * every machine. */
static void digest_text(const XXH3_state_t *hash, char ret_digest[33])
{
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(hash));
    for (int i = 0; i < 16; i++)
        (void)snprintf(ret_digest + (ptrdiff_t)2 * i, 3, "%02x", bytes.digest[i]);
}

bool source_digest(const struct source *source, char ret_digest[33], int64_t *ret_bytes)
{
    if (!source->regular)
        return false;
    digest_text(source->hash, ret_digest);
    *ret_bytes = source->hashed;
    return true;
}

/* By its descriptor: the path may lead to another file by now. */
enum rc source_file_digest(const struct source *source, int64_t most, char ret_digest[33],
                           int64_t *ret_bytes, struct err *err)
{
    if (!source->regular)
        return RC_NONE;
    XXH3_state_t *hash = XXH3_createState();
    FREE_AUTO char *chunk = xmalloc(CHUNK);
    if (hash == NULL)
        abort();
    (void)XXH3_128bits_reset(hash);
    int64_t at = 0;
    ssize_t n = 1;
    while (n > 0 && (most < 0 || at < most)) {
        size_t want = most >= 0 && most - at < CHUNK ? (size_t)(most - at) : CHUNK;
        do
            n = pread(source->fd, chunk, want, at);
        while (n < 0 && errno == EINTR);
        if (n > 0)
            (void)XXH3_128bits_update(hash, chunk, (size_t)n);
        at += n > 0 ? n : 0;
    }
    enum rc rc =
        n < 0 ? system_error(RC_FATAL, source->name, "cannot read the source", NULL, err) : RC_OK;
    if (rc == RC_OK) {
        digest_text(hash, ret_digest);
        *ret_bytes = at;
    }
    (void)XXH3_freeState(hash);
    return rc;
}
