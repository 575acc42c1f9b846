/* Decides whether a host may be called. libcurl's own parser reads both the pattern and the URL, so
 * the host that is judged is the host that the request goes to, also with a user name before an @,
 * another spelling of an address, or a dot at the end of the name. Addresses behind a name are not
 * checked: DNS decides them at the moment of the call. */
#include "action/url.h"

#include "base/ascii.h"
#include "base/number.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = ascii_lower(*text);
}

static void curl_auto(char **text)
{
    curl_free(*text);
}
#define CURL_AUTO __attribute__((cleanup(curl_auto))) char

/* Lower case, without a dot at the end. */
static bool host_of(CURLU *url, char *ret_host, size_t size)
{
    CURL_AUTO *host = NULL;
    if (curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK || *host == '\0' ||
        strlen(host) >= size)
        return false;
    (void)snprintf(ret_host, size, "%s", host);
    lower(ret_host);
    size_t len = strlen(ret_host);
    if (len > 1 && ret_host[len - 1] == '.')
        ret_host[len - 1] = '\0';
    return true;
}

/** The host of a pattern as libcurl would spell it; characters that end a host in a URL are
 * refused. */
static bool normal_host(const char *host, char *ret_host, size_t size)
{
    STR_AUTO text = {0};
    CURLU *url = curl_url();
    str_format(&text, "http://%s/", host);
    bool good = url != NULL && host[strcspn(host, "/?#@%\\")] == '\0' &&
                curl_url_set(url, CURLUPART_URL, text.data, 0) == CURLUE_OK &&
                host_of(url, ret_host, size);
    curl_url_cleanup(url);
    return good;
}

bool allow_parse(const char *text, size_t len, struct allowed *ret_allowed)
{
    char copy[300], host[260];
    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    int port = 0;
    /* A colon within brackets belongs to an IPv6 address (RFC 3986, 3.2.2). */
    char *bracket = strrchr(copy, ']'), *colon = strrchr(bracket ? bracket : copy, ':');
    if (colon != NULL) {
        *colon = '\0';
        int64_t number = 0;
        if (strcmp(colon + 1, "*") == 0)
            port = -1;
        else if (int64_parse(colon + 1, strlen(colon + 1), &number) && number > 0 && number < 65536)
            port = (int)number;
        else
            return false;
    }
    STR_AUTO stored = {0};
    bool below = strncmp(copy, "*.", 2) == 0;
    if (strcmp(copy, "*") == 0)
        str_text(&stored, "*");
    else if (strchr(copy + (below ? 2 : 0), '*') != NULL ||
             !normal_host(copy + (below ? 2 : 0), host, sizeof host))
        return false;
    else
        str_format(&stored, "%s%s", below ? "*." : "", host);
    /* Stored in the normal form, so that the comparison is of bytes. */
    *ret_allowed = (struct allowed){.text = xstrdup(stored.data), .port = port};
    ret_allowed->host = ret_allowed->text;
    return true;
}

void allow_done(struct allowed *allowed)
{
    free(allowed->text);
}

/* *.example.com covers names below it and not example.com: the comparison includes the dot, so that
 * notexample.com is not covered either. */
bool allow_covers(const struct allowed *allowed, const char *host, int port, bool encrypted)
{
    int usual_port = encrypted ? 443 : 80;
    if (allowed->port != -1 && port != (allowed->port == 0 ? usual_port : allowed->port))
        return false;
    if (strcmp(allowed->host, "*") == 0)
        return true;
    if (strncmp(allowed->host, "*.", 2) != 0)
        return strcmp(allowed->host, host) == 0;
    size_t len = strlen(host), below = strlen(allowed->host + 1); /* with its dot */
    return len > below && strcmp(host + len - below, allowed->host + 1) == 0;
}

static enum url_verdict bad(struct err *err, const char *what, const char *detail)
{
    (void)err_set(err, RC_REJECT, ERR_FAILED, "$.url", NULL, "%s%s", what, detail);
    return URL_BAD;
}

enum url_verdict url_judge(const struct allowed *list, int count, CURLU *url, const char *text,
                           char *ret_target, size_t size, struct err *why)
{
    char host[260];
    CURL_AUTO *scheme = NULL, *port_text = NULL, *user = NULL, *password = NULL;
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, 0);
    if (code != CURLUE_OK)
        return bad(why, "the URL cannot be read: ", curl_url_strerror(code));
    if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        (!ascii_same(scheme, "http") && !ascii_same(scheme, "https")))
        return bad(why, "the URL is neither http nor https: ", scheme ? scheme : "");
    if (curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK ||
        curl_url_get(url, CURLUPART_PASSWORD, &password, 0) == CURLUE_OK)
        return bad(why, "the URL holds a user name: give an Authorization header instead", "");
    if (!host_of(url, host, sizeof host) ||
        curl_url_get(url, CURLUPART_PORT, &port_text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return bad(why, "the URL names no host", "");
    int port = (int)strtol(port_text, NULL, 10);
    (void)snprintf(ret_target, size, "%s:%d", host, port);
    for (int i = 0; i < count; i++)
        if (allow_covers(&list[i], host, port, ascii_same(scheme, "https")))
            return URL_ALLOWED;
    return URL_NOT_ALLOWED;
}

/** For a caller that only asks. http.c keeps the parsed URL (url_judge), so exactly that is called.
 */
enum url_verdict allow_judge(const struct allowed *list, int count, const char *url,
                             char *ret_target, size_t size, struct err *why)
{
    CURLU *parsed = curl_url();
    *ret_target = '\0';
    enum url_verdict verdict = url_judge(list, count, parsed, url, ret_target, size, why);
    curl_url_cleanup(parsed);
    return verdict;
}
