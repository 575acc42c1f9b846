/* Answers /api/v1 of one database, in this order: the route, the visitor, the visitor's level, the
 * CSRF token of a change, the parameters, the answer. A GET goes through the cache; a change goes
 * through console/change.c and clears it. The checks of Host and Origin came before
 * (console/guard.c, called by console/console.c). The routes themselves are a table,
 * console/routes.c. */
#include "console/api.h"

#include "base/ascii.h"
#include "base/remedies.h"
#include "base/remedies_rights.h"
#include "base/utf8.h"
#include "console/answer.h"
#include "console/call.h"
#include "console/change.h"
#include "console/document.h"
#include "console/guard.h"
#include "console/openapi.h"
#include "console/patience.h"
#include "console/problem.h"
#include "console/request.h"
#include "metrics/page.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* As long as the pattern in console/openapi.c allows; a UUID has 36. */
#define KEY_MOST  200
#define BODY_HINT "Send one JSON object with the members that GET api/v1/openapi.json names."

static void refuse(struct http_request *request, int status, const char *detail, const char *hint)
{
    problem_answer(request, &(struct problem){.status = status, .detail = detail, .hint = hint});
}

static void refuse_call(struct http_request *request, const struct err *err)
{
    problem_answer(request, &(struct problem){.status = 400,
                                              .field = err->object,
                                              .detail = err->message,
                                              .hint = *err->hint != '\0' ? err->hint : BODY_HINT});
}

/* A cookie has no port (RFC 6265, section 8.5): a browser sends it to each console on a host, and
 * to each database of one console. The names keep the sessions of one from being taken for
 * another's. */
void api_name_cookie(struct api *api, int port, const char *cluster)
{
    (void)snprintf(api->cookie, sizeof api->cookie, "lockstep_session_%d%s%s", port,
                   cluster != NULL ? "_" : "", cluster != NULL ? cluster : "");
}

enum rc api_visitor(const struct api *api, const struct http_request *request,
                    struct visitor **ret_visitor, struct err *err)
{
    static const char bearer[] = "Bearer ";
    const char *given = http_header(request, "Authorization");
    const char *cookie = http_cookie(request, api->cookie);
    /* A request with a token that is not valid is refused, even if a valid cookie came along: a
     * program must notice that its token has expired. The name of the scheme has no case (RFC 9110,
     * 11.1). */
    if (given != NULL && ascii_same_start(given, bearer, sizeof bearer - 1))
        return sessions_of_token(api->sessions, given + sizeof bearer - 1, ret_visitor, err);
    *ret_visitor = cookie != NULL ? sessions_of_cookie(api->sessions, cookie) : NULL;
    if (*ret_visitor == NULL)
        *ret_visitor = sessions_anonymous(api->sessions);
    return *ret_visitor != NULL ? RC_OK : RC_NONE;
}

static void answer_unknown(const struct api *api, struct http_request *request, enum rc rc,
                           const struct err *err)
{
    if (rc != RC_NONE) {
        problem_answer_err(request, rc, err);
        return;
    }
    /* A 401 must name a scheme (RFC 9110, section 15.5.2). Basic is not offered: the browser would
     * open a dialog of its own and keep the password. */
    http_add_header(request, "WWW-Authenticate", "Bearer realm=\"lockstep\"");
    refuse(request, 401, "there is no sign-in, or the session or token has expired",
           api->sign_in ? REMEDY_SIGN_IN : REMEDY_TOKEN_NEW);
}

static void set_cookie(const struct api *api, struct http_request *request, const char *id)
{
    STR_AUTO cookie = {0};
    const char *origin = http_header(request, "Origin");
    /* Behind a proxy with TLS the console itself speaks plain HTTP, and only Origin shows https.
     * Secure on a connection without TLS would make the browser drop the cookie. */
    bool secure = api->encrypted || (origin != NULL && ascii_same_start(origin, "https://", 8));
    /* HttpOnly: no script reads it. SameSite=Strict: no other site's page sends it. An empty value
     * with Max-Age=0 deletes it (RFC 6265, section 5.2.2). It has no age of its own: the server
     * ends a session. */
    str_format(&cookie, "%s=%s; Path=%s; HttpOnly; SameSite=Strict%s%s", api->cookie, id,
               api->cookie_path, secure ? "; Secure" : "", *id == '\0' ? "; Max-Age=0" : "");
    http_add_header(request, "Set-Cookie", cookie.data);
}

static void answer_session(const struct api *api, struct http_request *request,
                           const struct visitor *visitor)
{
    cJSON *document = cJSON_CreateObject();
    bool operator= visitor_level(visitor) == LEVEL_OPERATOR;
    (void)cJSON_AddStringToObject(document, "login", visitor_login(visitor));
    (void)cJSON_AddBoolToObject(document, "monitor", true);
    (void)cJSON_AddBoolToObject(document, "operator", operator);
    (void)cJSON_AddBoolToObject(document, "signed_in", *visitor_csrf(visitor) != '\0');
    (void)cJSON_AddStringToObject(document, "csrf", visitor_csrf(visitor));
    (void)cJSON_AddBoolToObject(document, "show_payloads", operator|| api->show_payloads);
    (void)cJSON_AddStringToObject(document, "version", LOCKSTEP_VERSION);
    (void)cJSON_AddNumberToObject(document, "idle_seconds", api->idle_s);
    (void)cJSON_AddNumberToObject(document, "limit_seconds", api->limit_s);
    char *text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    /* The CSRF token is in it. */
    http_add_header(request, "Cache-Control", "no-store");
    http_answer(request, 200, "application/json", text, strlen(text));
    cJSON_free(text);
}

static void refuse_sign_in(struct http_request *request, const struct sign_in *refused, enum rc rc,
                           const struct err *err)
{
    /* 0: the database could not be asked, so the status follows from its error. */
    static const int statuses[] = {
        [SIGN_IN_WRONG] = 401, [SIGN_IN_WAIT] = 429,    [SIGN_IN_FULL] = 503,
        [SIGN_IN_RIGHT] = 403, [SIGN_IN_TRUSTED] = 403, [SIGN_IN_FAILED] = 0};
    int status = statuses[refused->outcome];
    char wait[16];
    (void)snprintf(wait, sizeof wait, "%d", refused->wait_s > 1 ? refused->wait_s : 1);
    if (status == 429)
        http_add_header(request, "Retry-After", wait);
    if (status == 0)
        problem_answer_err(request, rc == RC_FATAL ? RC_LOST : rc, err);
    else
        refuse(request, status, err->message, err->hint);
}

/* The new session has an id of its own, and the session of the cookie that came along ends: an id
 * that an attacker has planted in the browser before the sign-in is worth nothing (session
 * fixation). */
static void sign_in(const struct api *api, struct http_request *request)
{
    struct call call = {0};
    struct err err = {0};
    struct sign_in done;
    if (!api->sign_in) {
        refuse(request, 409, "this console asks for no sign-in",
               "GET api/v1/session says what everyone may do.");
        return;
    }
    /* There is no session yet, and so no CSRF token. The check of the content type and of
     * Sec-Fetch-Site still keeps forms of other sites out. */
    if (!guard_change(request, "", false))
        return;
    if (call_read(&routes[ROUTE_SIGN_IN], request, 0, NULL, &call, &err) != RC_OK) {
        refuse_call(request, &err);
        call_done(&call);
        return;
    }
    enum rc rc = sessions_sign_in(api->sessions, call.params[0], call.params[1],
                                  http_client(request), &done, &err);
    if (rc == RC_OK) {
        const char *cookie = http_cookie(request, api->cookie);
        struct visitor *before = cookie != NULL ? sessions_of_cookie(api->sessions, cookie) : NULL;
        if (before != NULL)
            sessions_sign_out(api->sessions, before);
        visitor_release(before);
        set_cookie(api, request, visitor_id(done.visitor));
        answer_session(api, request, done.visitor);
        visitor_release(done.visitor);
    } else {
        refuse_sign_in(request, &done, rc, &err);
    }
    call_done(&call);
}

static void sign_out(const struct api *api, struct http_request *request, struct visitor *visitor)
{
    if (!guard_change(request, visitor_csrf(visitor), false))
        return;
    sessions_sign_out(api->sessions, visitor);
    set_cookie(api, request, "");
    http_answer(request, 200, "application/json", "{\"signed_out\":true}", 19);
}

/* "runs/{run}/cancel": run 0000... is not in api/v1/runs. */
static void refuse_unknown(struct http_request *request, int skip, const struct route *route)
{
    STR_AUTO name = {0};
    STR_AUTO list = {0};
    STR_AUTO detail = {0};
    STR_AUTO hint = {0};
    const char *brace = strrchr(route->path, '{');
    if (brace == NULL) {
        refuse(request, 404, "there is no such thing", NULL);
        return;
    }
    str_add(&name, brace + 1, strcspn(brace + 1, "}"));
    str_add(&list, route->path, (size_t)(brace - route->path) - 1);
    str_format(&detail, "%s %s is not in api/v1/%s", name.data,
               route_segment(route, request, skip, name.data), list.data);
    str_format(&hint, "GET api/v1/%s lists what there is.", list.data);
    refuse(request, 404, detail.data, hint.data);
}

/* The key has the level, because payloads and errors are hidden from a monitor, and each parameter.
 * The login is part of it only where the statement reads the rights of the login itself; otherwise
 * a hundred people share one answer. */
static void cache_key(const struct route *route, const struct call *call,
                      const struct visitor *visitor, struct str *key)
{
    str_format(key, "%d %s", (int)visitor_level(visitor), route->path);
    if (route_is_personal(route))
        str_format(key, "\n%s", visitor_login(visitor));
    /* With its length, so that no text of one parameter looks like two; one that is missing differs
     * from an empty one. */
    for (int i = 0; i < call->count; i++)
        if (call->params[i] != NULL)
            str_format(key, "\n%zu %s", strlen(call->params[i]), call->params[i]);
        else
            str_text(key, "\n-");
}

static void answer_outcome(struct http_request *request, int skip, const struct route *route,
                           const struct cache_outcome *outcome)
{
    if (outcome->rc == RC_OK)
        /* Vary: a proxy must not give one visitor's answer to another (RFC 9110, section
         * 12.5.5). */
        http_answer_tagged(request, "application/json", "Cookie, Authorization, Accept-Encoding",
                           outcome->document.data, outcome->document.len);
    else if (outcome->rc == RC_NONE)
        refuse_unknown(request, skip, route);
    else
        problem_answer_err(request, outcome->rc, &outcome->err);
}

static void answer_get(const struct api *api, struct http_request *request, int skip,
                       const struct route *route, const struct call *call, struct visitor *visitor)
{
    STR_AUTO key = {0};
    struct cache_outcome outcome = {0};
    long ticket;
    const struct route_context context = {.config = api->config,
                                          .kafka = api->kafka,
                                          .request = request,
                                          .task_conninfo = api->task_conninfo};
    cache_key(route, call, visitor, &key);
    enum cache_found found = cache_get(api->cache, key.data, request, &outcome, &ticket);
    if (found == CACHE_MAKE) {
        outcome.rc =
            document_read(visitor, &context, route, call->params, &outcome.document, &outcome.err);
        /* A failure that is the maker's alone (its session was lost, its client has gone) is not
         * passed to the requests that wait for the same answer: one of them makes it then. */
        outcome.own =
            outcome.rc == RC_LOST || outcome.err.kind == ERR_DB_DOWN || http_gone(request);
        cache_put(api->cache, key.data, ticket, request, &outcome);
    } else if (found == CACHE_BUSY) {
        outcome.rc = err_set(&outcome.err, RC_LOST, ERR_DB_DOWN, route->path,
                             "Try again in a moment.", "the database takes too long to answer");
    }
    /* A request that waits has no answer yet: its handler is called again. */
    if (found != CACHE_WAITS)
        answer_outcome(request, skip, route, &outcome);
    str_done(&outcome.document);
}

/* A key has 1 to KEY_MOST printable characters and is stored as it is. A change that lasts for more
 * than a transaction takes none: its note could not be committed together with it. */
static bool key_fits(struct http_request *request, const struct route *route, const char *key)
{
    size_t len = key != NULL ? strlen(key) : 1;
    bool plain = true;
    for (size_t i = 0; key != NULL && i < len; i++)
        plain = plain && key[i] > ' ' && key[i] < 0x7f;
    if (plain && len >= 1 && len <= KEY_MOST && (key == NULL || !route_code(route)->keyless))
        return true;
    if (route_code(route)->keyless && key != NULL) {
        refuse(request, 400, "this change takes no Idempotency-Key", "Asked again, it continues.");
        return false;
    }
    refuse(request, 400, "an Idempotency-Key has 1 to 200 printable characters of ASCII",
           "A UUID will do.");
    return false;
}

/* The text that a second request with the same Idempotency-Key must equal: method, path, query and
 * body. Lengths precede names and values, so that no two queries give the same text. */
static void note_asked(struct http_request *request, const char *body, size_t len,
                       struct str *asked)
{
    const char *name, *value;
    str_format(asked, "%s %s", http_method(request), http_path(request));
    for (int i = 0; http_query_at(request, i, &name, &value); i++)
        str_format(asked, "%c%zu:%s=%zu:%s", i == 0 ? '?' : '&', strlen(name), name, strlen(value),
                   value);
    str_text(asked, "\n");
    str_add(asked, body, len);
}

static void answer_change(const struct api *api, struct http_request *request, int skip,
                          const struct route *route, const struct call *call,
                          struct visitor *visitor)
{
    STR_AUTO answer = {0};
    STR_AUTO asked = {0};
    struct err err = {0};
    size_t len;
    const char *key = http_header(request, "Idempotency-Key"), *body = http_body(request, &len);
    if (!key_fits(request, route, key))
        return;
    note_asked(request, body, len, &asked);
    const struct route_context context = {.config = api->config,
                                          .kafka = api->kafka,
                                          .request = request,
                                          .task_conninfo = api->task_conninfo};
    const struct change change = {.route = route,
                                  .context = &context,
                                  .params = call->params,
                                  .key = key,
                                  .request = asked.data};
    enum rc rc = change_make(visitor, &change, &answer, &err);
    /* Also after a failure: a change whose commit had no answer may have happened. A visitor who
     * only reports sees no page on which it could be missing, and may report often. */
    if (visitor_level(visitor) >= LEVEL_MONITOR && !route_only_reads(route, call->params))
        cache_clear(api->cache);
    http_add_header(request, "Cache-Control", "no-store");
    if (rc == RC_OK)
        http_answer(request, 200, "application/json", answer.data, answer.len);
    else if (rc == RC_NONE)
        refuse_unknown(request, skip, route);
    else
        problem_answer_err(request, rc, &err);
}

/* For a token of role ping: it can be on many machines, so it must not show anything if it
 * leaks. */
static void refuse_ping(struct http_request *request)
{
    refuse(request, 403, "this token reports to watches and does nothing else", REMEDY_TOKEN_NEW);
}

static void refuse_report(struct http_request *request)
{
    http_add_header(request, "Retry-After", "1");
    refuse(request, 429, "more reports come than ten a second",
           "Wait a second, then report again.");
}

static void refuse_act(struct http_request *request, const struct visitor *visitor)
{
    char hint[200];
    utf8_format(hint, sizeof hint, REMEDY_GRANT_ACT(visitor_login(visitor)));
    /* A person can be granted the group. A token cannot: its role is fixed when it is made. */
    bool person = *visitor_csrf(visitor) != '\0';
    refuse(request, 403, "this needs the group lockstep_operator",
           person ? hint : REMEDY_TOKEN_ACT);
}

static void answer_route(const struct api *api, struct http_request *request, int skip,
                         const struct route *route, struct visitor *visitor)
{
    struct call call = {0};
    struct err err = {0};
    /* HEAD finds the route of GET; libmicrohttpd sends no body for it. */
    bool get = strcmp(route->method, "GET") == 0;
    const struct call_visitor who = {.login = visitor_login(visitor),
                                     .payloads = api->show_payloads ||
                                                 visitor_level(visitor) == LEVEL_OPERATOR};
    if (!get && !guard_change(request, visitor_csrf(visitor), route_takes_lines(route)))
        ; /* it has answered */
    else if (visitor_level(visitor) < route->level)
        refuse_act(request, visitor);
    else if (call_read(route, request, skip, &who, &call, &err) != RC_OK)
        refuse_call(request, &err);
    /* After the parameters: a report that is refused for its form does not use up the rate. */
    else if (route->level == LEVEL_PING && !visitor_may_report(visitor))
        refuse_report(request);
    else if (get)
        answer_get(api, request, skip, route, &call, visitor);
    else
        answer_change(api, request, skip, route, &call, visitor);
    call_done(&call);
}

static void answer_stream(const struct api *api, struct http_request *request,
                          struct visitor *visitor)
{
    http_add_header(request, "Cache-Control", "no-store");
    /* nginx would otherwise collect the events until its buffer is full. */
    http_add_header(request, "X-Accel-Buffering", "no");
    if (!stream_add(api->stream, request, visitor)) {
        http_add_header(request, "Retry-After", "10");
        refuse(request, 503, "this login, or all logins together, listen as often as they may",
               "Close other pages of the console, then try again.");
    }
}

static void answer_openapi(const struct api *api, struct http_request *request)
{
    const struct str *document = openapi_get(api->openapi, api->base_path, api->cookie);
    http_answer_tagged(request, "application/json", "Accept-Encoding", document->data,
                       document->len);
}

/* 405 must have Allow (RFC 9110, section 15.5.6). */
static void refuse_path(struct http_request *request, const struct str *allow)
{
    if (allow->len == 0) {
        refuse(request, 404, "there is no such path", "api/v1/openapi.json lists what there is.");
        return;
    }
    http_add_header(request, "Allow", allow->data);
    refuse(request, 405, "this path does not take this method", "Allow has those that it takes.");
}

/* Only a known visitor learns whether a path exists. */
static void answer_known(const struct api *api, struct http_request *request, int skip,
                         const struct route *route, const struct str *allow)
{
    struct err err = {0};
    struct visitor *visitor = NULL;
    enum rc rc = api_visitor(api, request, &visitor, &err);
    if (rc != RC_OK)
        answer_unknown(api, request, rc, &err);
    else if (visitor_level(visitor) < LEVEL_MONITOR && (route == NULL || route->level > LEVEL_PING))
        refuse_ping(request);
    else if (route == NULL)
        refuse_path(request, allow);
    else if (route == &routes[ROUTE_SESSION])
        answer_session(api, request, visitor);
    else if (route == &routes[ROUTE_SIGN_OUT])
        sign_out(api, request, visitor);
    else if (route == &routes[ROUTE_STREAM])
        answer_stream(api, request, visitor);
    else
        answer_route(api, request, skip, route, visitor);
    visitor_release(visitor);
}

void api_answer(const struct api *api, struct http_request *request, int skip)
{
    STR_AUTO allow = {0};
    const struct route *route = route_find(request, skip, &allow);
    if (route == &routes[ROUTE_SIGN_IN])
        sign_in(api, request);
    else if (route == &routes[ROUTE_OPENAPI])
        answer_openapi(api, request);
    else if (route == &routes[ROUTE_CLUSTERS])
        api->list(api->list_context, api, request);
    else
        answer_known(api, request, skip, route, &allow);
}

/* The names of queues and jobs are in it: for those who may look. */
void api_answer_metrics(const struct api *api, struct http_request *request)
{
    STR_AUTO text = {0};
    struct err err = {0};
    struct visitor *visitor = NULL;
    enum rc rc = api_visitor(api, request, &visitor, &err);
    if (rc == RC_OK && visitor_level(visitor) < LEVEL_MONITOR) {
        refuse_ping(request);
    } else if (rc == RC_OK) {
        page_text(api->page, &text);
        http_add_header(request, "Cache-Control", "no-store");
        http_answer(request, 200, PAGE_TYPE, text.data, text.len);
    } else {
        answer_unknown(api, request, rc, &err);
    }
    visitor_release(visitor);
}
