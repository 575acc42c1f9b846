/* A request: one, to an allowed host, no redirects, and of the answer as much as the configuration
 * keeps. Begin with call(): secrets, options, request, headers, then perform() and judge().
 * libcurl's multi interface is used for one request, because only its poll can wait for the request
 * and for an order to stop together. allow.c decides before whether the host may be called. */
#include "action/secrets.h"
#include "action/text.h"
#include "action/url.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/probe.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_AGAIN_MS    1000
#define LONGEST_WAIT_S    86400 /* what a server may ask for with Retry-After */
#define LOCATION_SHOWN    200
#define MOST_HEADER_BYTES (256 * 1024) /* of an answer */
#define LONGEST_STEP      200          /* in an Idempotency-Key */

struct transfer {
    CURL *easy;
    CURLU *url;
    struct curl_slist *headers;
    const struct secrets *secrets; /* of the host; NULL: none */
    struct str body;
    uint64_t limit, header_bytes;
    bool cut;
    char target[ACTION_NEED_SIZE], why[CURL_ERROR_SIZE];
};

/* To return less than was given ends the transfer (CURLOPT_WRITEFUNCTION): libcurl has no other way
 * to refuse the rest of an answer. */
static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t len = size * count, room = transfer->limit - transfer->body.len;
    str_add(&transfer->body, bytes, len < room ? len : room);
    transfer->cut = len > room;
    return transfer->cut ? 0 : len; /* the rest is not waited for */
}

/* libcurl keeps every header, so a server could fill the memory with them. */
static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t len = size * count;
    (void)bytes;
    transfer->header_bytes += len;
    return transfer->header_bytes > MOST_HEADER_BYTES ? 0 : len;
}

static bool has_header(const struct message_action *action, const char *name)
{
    for (int i = 0; i < action->header_count; i++)
        if (ascii_same(action->headers[i].name, name))
            return true;
    return false;
}

static void add_header(struct transfer *transfer, const char *name, const char *value)
{
    STR_AUTO line = {0};
    /* libcurl takes a semicolon for a header without a value (CURLOPT_HTTPHEADER); a colon would
     * remove the header. */
    if (*value == '\0')
        str_format(&line, "%s;", name);
    else
        str_format(&line, "%s: %s", name, value);
    transfer->headers = curl_slist_append(transfer->headers, line.data);
}

/* A step by its name, as in a URL; one whose name is long by its number. */
static void add_step(struct str *key, const struct action_attempt *attempt)
{
    STR_AUTO name = {0};
    for (const char *c = attempt->msg->steps[attempt->step].name; *c != '\0'; c++)
        if (ascii_alnum(*c) || strchr("-._~", *c) != NULL)
            str_add(&name, c, 1);
        else
            str_format(&name, "%%%02X", (unsigned char)*c);
    if (name.len <= LONGEST_STEP)
        str_format(key, "-%s", name.data);
    else
        str_format(key, "-#%d", attempt->step + 1);
}

/* The same for every attempt of the task, and after a replay: a server that knows it does nothing
 * twice. */
static void add_idempotency_key(struct transfer *transfer, const struct action_attempt *attempt)
{
    STR_AUTO key = {0};
    /* Without a seq (an implicit run) the offset of the record is as unique. */
    if (*attempt->seq != '\0')
        str_format(&key, "%s-%s", attempt->run, attempt->seq);
    else
        str_format(&key, "%s-o%s", attempt->run, attempt->offset);
    if (attempt->step >= 0)
        add_step(&key, attempt);
    add_header(transfer, "Idempotency-Key", key.data);
}

static void set_headers(struct transfer *transfer, const struct action_attempt *attempt)
{
    const struct message_action *action = action_of(attempt);
    const struct secrets *secrets = transfer->secrets;
    for (int i = 0; i < action->header_count; i++)
        if (!secrets_have(secrets, action->headers[i].name))
            add_header(transfer, action->headers[i].name, action->headers[i].value);
    for (int i = 0; secrets != NULL && i < secrets->count; i++)
        add_header(transfer, secrets->items[i].name, secrets->items[i].value);
    if (!has_header(action, "Idempotency-Key"))
        add_idempotency_key(transfer, attempt);
    if (!has_header(action, "traceparent") && *attempt->traceparent != '\0')
        add_header(transfer, "traceparent", attempt->traceparent);
    if (action->body != NULL && !has_header(action, "Content-Type") &&
        !secrets_have(secrets, "Content-Type"))
        add_header(transfer, "Content-Type", "application/json");
    if (!has_header(action, "User-Agent") && !secrets_have(secrets, "User-Agent"))
        add_header(transfer, "User-Agent", "lockstep/" LOCKSTEP_VERSION);
    /* not asked before whether the body is welcome: nothing behind the colon, and libcurl leaves
     * the header out */
    transfer->headers = curl_slist_append(transfer->headers, "Expect:");
    (void)curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
    /* Separate: the headers of the task are not sent to a proxy. */
    (void)curl_easy_setopt(transfer->easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
}

static void set_request(struct transfer *transfer, const struct message_action *action)
{
    CURL *easy = transfer->easy;
    const char *method = action->method ? action->method : action->body ? "POST" : "GET";
    if (action->body != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(action->body));
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, action->body);
    } else if (strcmp(method, "POST") == 0) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
    }
    /* CUSTOMREQUEST changes only the word: with HEAD libcurl would wait for a body. */
    if (strcmp(method, "HEAD") == 0)
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

/* CURLOPT_NOSIGNAL: libcurl must not use signals for its time-outs in a program with threads
 * (libcurl-thread(3)). The protocols are named, so that a URL can never mean a file. */
static void set_options(struct transfer *transfer, const struct action_http *http,
                        int64_t timeout_us)
{
    CURL *easy = transfer->easy;
    (void)curl_easy_setopt(easy, CURLOPT_CURLU, transfer->url);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    /* A redirect could lead to a host that is not allowed. */
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY,
                           /* "": none, and variables of the environment do not count */
                           http->proxy);
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, ""); /* nor does NO_PROXY */
    /* Credentials of the executor's user must not go out with a task's request. */
    (void)curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (*http->ca_file != '\0')
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca_file);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)http->connect_timeout_ms);
    /* A time-out of the task's own is enforced as for every task: by the executor, or the tie. */
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_us ? 0L : (long)http->timeout_ms);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->why);
}

/* Until it is over or ended. */
static CURLcode perform(struct transfer *transfer, const struct action_tie *tie)
{
    CURLM *multi = curl_multi_init();
    CURLcode code = CURLE_OUT_OF_MEMORY;
    int running = 1;
    if (multi == NULL || curl_multi_add_handle(multi, transfer->easy) != CURLM_OK)
        running = 0;
    while (running > 0 && tie->stop->how == ACTION_GO_ON) {
        struct curl_waitfd waits = {.fd = tie->stop->fd, .events = CURL_WAIT_POLLIN};
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            break;
        if (running > 0) {
            (void)curl_multi_poll(multi, &waits, 1, CHECK_AGAIN_MS, NULL);
            action_stop_late(tie);
        }
        if (waits.revents != 0)
            action_stop_drain(tie->stop);
    }
    int left;
    for (CURLMsg *done; multi != NULL && (done = curl_multi_info_read(multi, &left)) != NULL;)
        if (done->msg == CURLMSG_DONE)
            code = done->data.result;
    if (multi != NULL)
        (void)curl_multi_remove_handle(multi, transfer->easy);
    (void)curl_multi_cleanup(multi);
    return code;
}

static const char *header_of(const struct transfer *transfer, const char *name)
{
    struct curl_header *header;
    return curl_easy_header(transfer->easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
               ? header->value
               : NULL;
}

/* Seconds or a date (RFC 9110). -1: none that can be read. */
static int retry_after(const char *value)
{
    if (value == NULL || *value == '\0')
        return -1;
    int64_t seconds = strtoll(value, NULL, 10); /* the largest, if there are too many digits */
    /* A date is compared with this host's wall clock; one in the past means at once. */
    if (value[strspn(value, "0123456789")] != '\0') {
        time_t at = curl_getdate(value, NULL);
        if (at == (time_t)-1)
            return -1;
        seconds = (int64_t)at - clock_wall_us() / 1000000;
    }
    return seconds < 0 ? 0 : seconds < LONGEST_WAIT_S ? (int)seconds : LONGEST_WAIT_S;
}

/* A server's word that the request itself is wrong; the others may be better the next time. 409:
 * another one with the same key is under way. */
static bool is_permanent(long status)
{
    return status < 500 && status != 408 && status != 409 && status != 423 && status != 425 &&
           status != 429;
}

/* libcurl's words about a proxy may quote its URL, which may hold a password. */
static const char *why(const struct transfer *transfer, CURLcode code)
{
    return transfer->header_bytes > MOST_HEADER_BYTES
               ? "the headers of its answer are larger than 256 kB"
           : transfer->why[0] && code != CURLE_COULDNT_RESOLVE_PROXY ? transfer->why
                                                                     : curl_easy_strerror(code);
}

static void judge(const struct transfer *transfer, CURLcode code, struct action_result *result)
{
    long status = 0;
    secrets_hide(transfer->secrets, transfer->body.data, transfer->body.len);
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    action_text(&result->response, transfer->body.data ? transfer->body.data : "",
                transfer->body.len, transfer->cut ? ACTION_MORE : transfer->body.len);
    if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && transfer->cut)) {
        result->outcome = ACTION_FAILED;
        str_format(&result->error, "http %s: %s", transfer->target, why(transfer, code));
        return;
    }
    if (status >= 200 && status < 300)
        return;
    const char *location = header_of(transfer, "Location");
    result->outcome = ACTION_FAILED;
    result->permanent = is_permanent(status);
    result->retry_after_s = retry_after(header_of(transfer, "Retry-After"));
    str_format(&result->error, "http %s: status %ld", transfer->target, status);
    if (status >= 300 && status < 400) {
        STR_AUTO shown = {0};
        action_text(&shown, location ? location : "", location ? strlen(location) : 0, 0);
        secrets_hide(transfer->secrets, shown.data, shown.len);
        str_text(&result->error, ", a redirect, which is not followed, to ");
        utf8_add(&result->error, shown.data, shown.len, LOCATION_SHOWN);
    }
}

/* This process stood still before the request. Another executor may have adopted the task by now.
 */
static bool too_late(const struct action_tie *tie)
{
    return clock_boot_us() >= tie->alive_us + tie->silence_ms * 1000LL;
}

/* Chooses the headers of the configuration. False: they must not go over this connection. */
static bool take_secrets(struct transfer *transfer, const struct action_http *http,
                         struct action_result *result)
{
    char *scheme = NULL;
    bool encrypted = curl_url_get(transfer->url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                     ascii_same(scheme, "https");
    curl_free(scheme);
    const struct secret_host *host = secrets_of(http, transfer->target, encrypted);
    if (host == NULL)
        return true;
    transfer->secrets = &host->headers;
    if (encrypted || host->plain || host->headers.count == 0)
        return true;
    result->outcome = ACTION_FAILED;
    result->permanent = true;
    str_format(&result->error,
               "http %s: the headers of [%s] are not sent without encryption: use https, or set "
               "plain = on there",
               transfer->target, host->section);
    return false;
}

static void call(struct transfer *transfer, const struct action_http *http,
                 const struct action_attempt *attempt, const struct action_tie *tie,
                 struct action_result *result)
{
    if (!take_secrets(transfer, http, result))
        return;
    set_options(transfer, http, attempt->msg->timeout_us);
    set_request(transfer, action_of(attempt));
    set_headers(transfer, attempt);
    probe("http.send");
    if (too_late(tie)) {
        result->outcome = ACTION_STOPPED;
        return;
    }
    CURLcode code = perform(transfer, tie);
    probe("http.ended");
    judge(transfer, code, result);
}

void action_http_run(const struct action_http *http, const struct action_attempt *attempt,
                     const struct action_tie *tie, struct action_result *result)
{
    const struct message_action *action = action_of(attempt);
    struct transfer transfer = {
        .easy = curl_easy_init(), .url = curl_url(), .limit = (uint64_t)http->response_limit};
    struct err why = {0};
    enum url_verdict verdict =
        url_judge(http->allowed, http->allowed_count, transfer.url, action->url, transfer.target,
                  sizeof transfer.target, &why);
    if (verdict == URL_ALLOWED) {
        call(&transfer, http, attempt, tie, result);
    } else {
        result->outcome = ACTION_FAILED;
        result->permanent = verdict == URL_BAD;
        if (verdict == URL_BAD)
            str_format(&result->error, "http: %s", why.message);
        else /* asked for with action_able before */
            str_format(&result->error, "http %s: not in [http] allow of this executor",
                       transfer.target);
    }
    curl_slist_free_all(transfer.headers);
    curl_url_cleanup(transfer.url);
    curl_easy_cleanup(transfer.easy);
    str_done(&transfer.body);
}
