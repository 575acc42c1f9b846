/* One event, one line, one write(2): lines of several threads are not mixed, and nothing is
 * buffered when the process is killed. Begin with log_event(). A line that does not fit is cut,
 * because a log may not allocate for a text of any length. The names of events are in
 * docs/reference/log-events.md; the process that collects standard error (journald, a shell) stores
 * and rotates them. */
#include "base/log.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int least_level = LOG_INFO;
static _Atomic bool as_json;

void log_configure(enum log_level least, bool json)
{
    least_level = (int)least;
    as_json = json;
}

bool log_errors_as_json(void)
{
    return as_json && least_level <= LOG_ERROR;
}

const char *log_int_text(char buffer[24], int64_t value)
{
    (void)snprintf(buffer, 24, "%lld", (long long)value);
    return buffer;
}

#define AROUND 5 /* of a key and the begin of its value: a comma, three quotes and a colon */
#define ENDING 3 /* bytes that are kept for the end: a quote, a brace and the newline */

struct line {
    char text[4096];
    size_t used;
};

static size_t room(const struct line *line)
{
    size_t most = sizeof line->text - ENDING;
    return line->used < most ? most - line->used : 0;
}

/* The caller knows that there is room, or that it is of the end. */
static void put(struct line *line, const char *s, size_t n)
{
    memcpy(line->text + line->used, s, n);
    line->used += n;
}

static void put_text(struct line *line, const char *s)
{
    put(line, s, strlen(s));
}

/* C1: in UTF-8 a control character of two bytes. */
static bool is_control(const char *s)
{
    unsigned char c = (unsigned char)s[0], next = c != 0 ? (unsigned char)s[1] : 0;
    return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

/* The first character of s as it is written; returns how many bytes of s it has. */
static size_t escape(const char *s, char ret_text[8])
{
    unsigned char c = (unsigned char)s[0];
    size_t n = 1;
    if (c == '"' || c == '\\') {
        (void)snprintf(ret_text, 8, "\\%c", c);
    } else if (c == '\n') {
        (void)snprintf(ret_text, 8, "\\n");
    } else if (is_control(s)) {
        n = c == 0xc2 ? 2 : 1;
        (void)snprintf(ret_text, 8, "\\u%04x", (unsigned)(unsigned char)s[n - 1]);
    } else {
        while (n < 4 && ((unsigned char)s[n] & 0xc0) == 0x80)
            n++;
        memcpy(ret_text, s, n);
        ret_text[n] = '\0';
    }
    return n;
}

/* Quotes when needed and escapes what would break the line or the terminal. */
static void put_value(struct line *line, const char *s, bool always_quote)
{
    bool quote = always_quote || s[strcspn(s, " =\"\\")] != '\0';
    /* A control character could also move the cursor of a terminal: text of a task comes from
     * others. */
    for (const char *p = s; !quote && *p; p++)
        quote = is_control(p);
    if (!quote) {
        put(line, s, utf8_fit(s, strlen(s), room(line)));
        return;
    }
    char shown[8];
    put_text(line, "\"");
    for (size_t n; *s != '\0'; s += n) {
        n = escape(s, shown);
        if (strlen(shown) > room(line))
            break;
        put_text(line, shown);
    }
    put_text(line, "\"");
}

/** An empty value is left out, so that a caller can pass all fields that an event may have; and one
 * for which there is no room. */
static void put_pair(struct line *line, const char *key, const char *value)
{
    if (value == NULL || *value == '\0' || room(line) < strlen(key) + AROUND)
        return;
    if (as_json) {
        put_text(line, line->used > 1 ? ",\"" : "\"");
        put_text(line, key);
        put_text(line, "\":");
    } else {
        put_text(line, line->used > 0 ? " " : "");
        put_text(line, key);
        put_text(line, "=");
    }
    put_value(line, value, as_json);
}

static void start_line(struct line *line, enum log_level level, const char *event)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    struct timespec now;
    struct tm tm;
    char ts[64];
    /* Wall-clock time in UTC: hosts in several time zones are compared. */
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(ts, sizeof ts, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(ts + n, sizeof ts - n, ".%03ldZ", now.tv_nsec / 1000000);
    line->used = 0;
    if (as_json)
        put_text(line, "{");
    put_pair(line, "ts", ts);
    put_pair(line, "level", names[level]);
    put_pair(line, "event", event);
}

static void end_line(struct line *line)
{
    if (as_json)
        put_text(line, "}");
    line->text[line->used++] = '\n';
    /* A log that cannot be written (a full disk, a closed pipe) is no reason to stop the work. */
    ssize_t ignored = write(STDERR_FILENO, line->text, line->used);
    (void)ignored;
}

void log_event(enum log_level level, const char *event, ...)
{
    if ((int)level < least_level)
        return;
    struct line line;
    start_line(&line, level, event);
    va_list ap;
    va_start(ap, event);
    const char *key;
    while ((key = va_arg(ap, const char *)) != NULL) {
        const char *value = va_arg(ap, const char *);
        put_pair(&line, key, value);
    }
    va_end(ap);
    end_line(&line);
}

void log_err(enum log_level level, const char *event, const char *queue, const struct err *err)
{
    log_event(level, event, "queue", queue ? queue : "", "object", err->object, "code", err->code,
              "error", err->message, "detail", err->detail, "hint", err->hint, NULL);
}
