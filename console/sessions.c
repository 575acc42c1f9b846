/* Who asks: people by cookie, programs by token, the anonymous visitor. A sign-in opens a
 * PostgreSQL session with the person's password, checks that the server asked for it, reads the
 * groups, and keeps the session for the web session. A token is looked up in the database and
 * remembered for TOKEN_US. console/visitor.c runs the statements of a visitor; console/throttle.c
 * slows down sign-ins that fail. */
#include "console/sessions.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/remedies_rights.h"
#include "base/utf8.h"
#include "config/config.h"
#include "config/conninfo.h"
#include "console/secret.h"
#include "console/throttle.h"
#include "console/visitor_make.h"
#include "db/backend.h"
#include "db/sqlstate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* One login has a quarter of all web sessions, so that it cannot keep others out. */
#define SHARES      4
#define SHARE_LEAST 2
/* Tokens that are in use. Of more the one that was used longest ago waits for its next request to
 * be looked up again. */
#define TOKENS    64
#define TOKEN_US  5000000  /* then it is looked up again: it may have been revoked */
#define GROUPS_US 30000000 /* then the groups of a person are read again */

/* For questions about a session that may be in use: the answer may wait, the caller may not. */
static const struct visitor_patience at_once = {0};
/* Of requests with tokens that are to be looked up; a burst of one program's gets through. */
static const struct visitor_patience in_turn = {.most = 4, .others_ms = 1000};

struct sessions {
    struct sessions_options options;
    pthread_mutex_t lock; /* of all below */
    struct throttle throttle;
    struct visitor **people; /* options.most */
    struct visitor *tokens[TOKENS];
    struct visitor *anonymous;
    struct visitor *own; /* looks tokens up */
};

struct sessions *sessions_new(const struct sessions_options *options)
{
    struct sessions *sessions = xcalloc(1, sizeof *sessions);
    *sessions = (struct sessions){.options = *options};
    char seed[SECRET_SIZE];
    /* Random, so that a client cannot choose addresses or logins that share a place with another
     * one's. */
    secret_new(seed);
    sessions->throttle.seed = XXH3_64bits(seed, sizeof seed);
    sessions->people = xcalloc((size_t)options->most, sizeof(struct visitor *));
    (void)pthread_mutex_init(&sessions->lock, NULL);
    if (!options->sign_in)
        sessions->anonymous = visitor_new("anonymous", options->anonymous, options->conninfo);
    sessions->own = visitor_new("console", LEVEL_NONE, options->conninfo);
    return sessions;
}

void sessions_free(struct sessions *sessions)
{
    if (sessions == NULL)
        return;
    for (int i = 0; i < sessions->options.most; i++)
        visitor_release(sessions->people[i]);
    for (int i = 0; i < TOKENS; i++)
        visitor_release(sessions->tokens[i]);
    visitor_release(sessions->anonymous);
    visitor_release(sessions->own);
    (void)pthread_mutex_destroy(&sessions->lock);
    free(sessions->people);
    free(sessions);
}

static enum rc refuse(struct sign_in *sign_in, enum sign_in_outcome outcome, const char *hint,
                      const char *text, struct err *err)
{
    sign_in->outcome = outcome;
    return err_set(err, RC_REJECT, ERR_FAILED, "sign-in", hint, "%s", text);
}

static enum rc refuse_level(const struct visitor *visitor, bool member, struct sign_in *sign_in,
                            struct err *err)
{
    const char *login = visitor_login(visitor);
    char hint[300];
    /* The login is in the group WITH INHERIT FALSE, or has NOINHERIT: SET ROLE would work, plain
     * statements do not (PostgreSQL, "Role Membership"). */
    if (member)
        utf8_format(hint, sizeof hint, REMEDY_INHERIT(login));
    else
        utf8_format(hint, sizeof hint, REMEDY_GRANT_LOOK(login));
    return refuse(sign_in, SIGN_IN_RIGHT, hint,
                  member
                      ? "the login does not inherit the rights of its group"
                      : "the login is a member of neither lockstep_monitor nor lockstep_operator",
                  err);
}

/* NOLOGIN and VALID UNTIL keep the login from opening a session, and not from using one that it
 * has: the web session keeps its session of PostgreSQL. */
static enum rc refuse_login(struct sign_in *sign_in, struct err *err)
{
    return refuse(sign_in, SIGN_IN_RIGHT,
                  "Have an administrator give it LOGIN, and a later VALID UNTIL of its password.",
                  "the login may not sign in any more", err);
}

static enum rc read_level(struct visitor *visitor, struct visitor_patience patience,
                          struct sign_in *sign_in, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc = visitor_ask(visitor, patience, &sql_console_groups, NULL, &result, err);
    if (rc != RC_OK)
        return rc;
    if (!db_bool(result, 0, CONSOLE_GROUPS_SIGNS_IN))
        return refuse_login(sign_in, err);
    enum level level = db_bool(result, 0, CONSOLE_GROUPS_OPERATOR)  ? LEVEL_OPERATOR
                       : db_bool(result, 0, CONSOLE_GROUPS_MONITOR) ? LEVEL_MONITOR
                                                                    : LEVEL_NONE;
    if (level == LEVEL_NONE)
        return refuse_level(visitor, db_bool(result, 0, CONSOLE_GROUPS_MEMBER), sign_in, err);
    visitor_set_level(visitor, level);
    return RC_OK;
}

/* One answer for each cause, so that it does not show which logins exist: a wrong login, a wrong
 * password, no line in pg_hba.conf. The log has the server's message. */
static enum rc refuse_password(struct sign_in *sign_in, const char *login, struct err *err)
{
    char hint[400];
    utf8_format(sign_in->server, sizeof sign_in->server, "%s", err->message);
    utf8_format(hint, sizeof hint, REMEDY_GRANT_SIGN_IN(login));
    return refuse(sign_in, SIGN_IN_WRONG, hint, "login or password is wrong", err);
}

static enum rc open_as(const struct sessions *sessions, const char *login, const char *password,
                       struct sign_in *ret_sign_in, struct err *err)
{
    STR_AUTO conninfo = {0};
    struct db *db = NULL;
    str_text(&conninfo, sessions->options.conninfo);
    config_conninfo_add(&conninfo, "user", login);
    config_conninfo_add(&conninfo, "password", password);
    enum rc rc = db_open(conninfo.data, DB_CONSOLE, &db, err);
    /* The password is in it; a compiler may remove a memset before a free. */
    explicit_bzero(conninfo.data, conninfo.len);
    if (rc != RC_OK && sqlstate_is(err, SQLSTATE_INVALID_AUTHORIZATION))
        return refuse_password(ret_sign_in, login, err);
    if (rc != RC_OK && sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE)) {
        ret_sign_in->outcome = SIGN_IN_RIGHT;
        return RC_REJECT;
    }
    if (rc != RC_OK)
        return rc;
    /* With trust or peer the server lets the console in as anyone, so a right login proves
     * nothing. */
    if (!db_used_password(db)) {
        db_close(db);
        return refuse(ret_sign_in, SIGN_IN_TRUSTED,
                      "pg_hba.conf must have scram-sha-256 for connections from this host; with "
                      "trust or peer "
                      "everyone could sign in as anyone.",
                      "the server did not ask for the password", err);
    }
    struct visitor *visitor = visitor_of_person(login, db);
    rc = read_level(visitor, at_once, ret_sign_in, err); /* no other knows it yet */
    if (rc != RC_OK)
        visitor_release(visitor);
    else
        ret_sign_in->visitor = visitor;
    return rc;
}

/* With the lock. A place for one more of login: a free one, or, if it has its share already or none
 * is free, that of its own session that was used longest ago. NULL: others have all. */
static struct visitor **place_for(const struct sessions *sessions, const char *login)
{
    struct visitor **free = NULL, **oldest = NULL;
    int own = 0, share = sessions->options.most / SHARES;
    for (int i = 0; i < sessions->options.most; i++) {
        struct visitor **place = &sessions->people[i];
        if (*place == NULL) {
            free = place;
        } else if (strcmp(visitor_login(*place), login) == 0) {
            own++;
            if (oldest == NULL || visitor_ages(*place).used_us < visitor_ages(*oldest).used_us)
                oldest = place;
        }
    }
    return free != NULL && own < (share > SHARE_LEAST ? share : SHARE_LEAST) ? free : oldest;
}

static enum rc keep(struct sessions *sessions, struct sign_in *sign_in, struct err *err)
{
    struct visitor *visitor = sign_in->visitor, *ended = NULL;
    (void)pthread_mutex_lock(&sessions->lock);
    struct visitor **place = place_for(sessions, visitor_login(visitor));
    if (place != NULL) {
        /* Released outside the lock: closing its session talks to the server. */
        ended = *place;
        *place = visitor_hold(visitor);
    }
    (void)pthread_mutex_unlock(&sessions->lock);
    visitor_release(ended);
    if (place != NULL)
        return RC_OK;
    sign_in->visitor = NULL;
    visitor_release(visitor);
    return refuse(sign_in, SIGN_IN_FULL, "Sign out elsewhere, wait, or raise [console] sessions.",
                  "there are as many web sessions as the console keeps", err);
}

/* Behind a proxy on this host all clients have its address, so there each login waits by itself.
 * An address has no blank, so no login can be taken for one. */
static void waits_as(const char *client, const char *login, struct str *who)
{
    bool shared = strcmp(client, "local") == 0 || strncmp(client, "127.", 4) == 0 ||
                  strcmp(client, "::1") == 0;
    str_format(who, shared ? "login %s" : "%s", shared ? login : client);
}

enum rc sessions_sign_in(struct sessions *sessions, const char *login, const char *password,
                         const char *client, struct sign_in *ret_sign_in, struct err *err)
{
    STR_AUTO who = {0};
    *ret_sign_in = (struct sign_in){.outcome = SIGN_IN_FAILED};
    waits_as(client, login, &who);
    (void)pthread_mutex_lock(&sessions->lock);
    /* Begin and end are two steps with the lock, and the server is asked between them without it: a
     * slow server must not block every request that needs this lock. */
    bool may = throttle_begin(&sessions->throttle, who.data, clock_boot_us(), &ret_sign_in->wait_s);
    (void)pthread_mutex_unlock(&sessions->lock);
    if (!may)
        return refuse(ret_sign_in, SIGN_IN_WAIT, "Wait, then try again.",
                      ret_sign_in->wait_s == 0
                          ? "another sign-in of this login, or from this address, is under way"
                          : "sign-ins have failed before: the next one must wait",
                      err);
    /* Sessions that are too old must not count against the limit. */
    sessions_sweep(sessions);
    enum rc rc = *login == '\0' || *password == '\0'
                     ? refuse_password(ret_sign_in, login, err)
                     : open_as(sessions, login, password, ret_sign_in, err);
    enum throttle_outcome outcome = rc == RC_OK       ? THROTTLE_DONE
                                    : rc == RC_REJECT ? THROTTLE_FAILED
                                                      : THROTTLE_UNKNOWN;
    (void)pthread_mutex_lock(&sessions->lock);
    throttle_end(&sessions->throttle, who.data, outcome, clock_boot_us());
    (void)pthread_mutex_unlock(&sessions->lock);
    if (rc == RC_OK)
        rc = keep(sessions, ret_sign_in, err);
    if (rc == RC_OK)
        ret_sign_in->outcome = SIGN_IN_DONE;
    log_event(rc == RC_OK ? LOG_INFO : LOG_WARN, rc == RC_OK ? "signed_in" : "sign_in_refused",
              "login", login, "address", client, "reason",
              rc == RC_OK                    ? NULL
              : *ret_sign_in->server != '\0' ? ret_sign_in->server
                                             : err->message,
              NULL);
    return rc;
}

static bool too_old(const struct sessions *sessions, const struct visitor *visitor, int64_t now_us)
{
    struct visitor_ages ages = visitor_ages(visitor);
    return ages.lost || now_us - ages.used_us > sessions->options.idle_us ||
           now_us - ages.since_us > sessions->options.longest_us;
}

bool sessions_due(const struct visitor *visitor)
{
    return clock_boot_us() - visitor_ages(visitor).checked_us >= GROUPS_US;
}

/* The groups are read again every GROUPS_US, so that a right that was revoked ends here, too. While
 * the session is in use (RC_RETRY) they are read the next time: this request must not wait for
 * another. False: the visitor may not come in any more. */
static bool still_may(struct sessions *sessions, struct visitor *visitor)
{
    struct err err = {0};
    int64_t before_us = visitor_ages(visitor).checked_us;
    if (!sessions_due(visitor))
        return true;
    /* Before the statement, so that requests that come meanwhile do not all ask. */
    visitor_checked(visitor, clock_boot_us());
    enum rc rc = read_level(visitor, at_once, &(struct sign_in){0}, &err);
    if (rc == RC_RETRY)
        visitor_checked(visitor, before_us);
    if (rc != RC_REJECT && rc != RC_FATAL)
        return true; /* also if the database does not answer: the request itself reports that */
    sessions_sign_out(sessions, visitor);
    log_err(LOG_WARN, "signed_out", NULL, &err);
    return false;
}

struct visitor *sessions_known(struct sessions *sessions, const char *id, bool use)
{
    struct visitor *found = NULL;
    int64_t now_us = clock_boot_us();
    (void)pthread_mutex_lock(&sessions->lock);
    /* All are compared, without a break: the time does not show where a match is. */
    for (int i = 0; i < sessions->options.most; i++) {
        struct visitor *visitor = sessions->people[i];
        if (visitor != NULL && secret_same(visitor_id(visitor), id) &&
            !too_old(sessions, visitor, now_us))
            found = visitor_hold(visitor);
    }
    if (found != NULL && use)
        visitor_touch(found, now_us);
    (void)pthread_mutex_unlock(&sessions->lock);
    return found;
}

struct visitor *sessions_of_cookie(struct sessions *sessions, const char *id)
{
    struct visitor *found = sessions_known(sessions, id, true);
    if (found != NULL && !still_may(sessions, found)) {
        visitor_release(found);
        found = NULL;
    }
    return found;
}

struct visitor *sessions_anonymous(struct sessions *sessions)
{
    return sessions->anonymous != NULL ? visitor_hold(sessions->anonymous) : NULL;
}

static void drop(struct visitor **place)
{
    visitor_release(*place);
    *place = NULL;
}

void sessions_sign_out(struct sessions *sessions, struct visitor *visitor)
{
    (void)pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->options.most; i++)
        if (sessions->people[i] == visitor)
            drop(&sessions->people[i]);
    (void)pthread_mutex_unlock(&sessions->lock);
}

void sessions_sweep(struct sessions *sessions)
{
    int64_t now_us = clock_boot_us();
    (void)pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->options.most; i++)
        if (sessions->people[i] != NULL && too_old(sessions, sessions->people[i], now_us))
            drop(&sessions->people[i]);
    for (int i = 0; i < TOKENS; i++)
        if (sessions->tokens[i] != NULL && too_old(sessions, sessions->tokens[i], now_us))
            drop(&sessions->tokens[i]);
    (void)pthread_mutex_unlock(&sessions->lock);
}

/* RC_NONE: there is none such, or it has expired or was revoked. RC_RETRY: others are looked up. */
static enum rc find_token(struct sessions *sessions, const char *token,
                          struct visitor_patience patience, struct visitor **ret_visitor,
                          struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    char name[300];
    const char *const params[] = {token};
    /* The database compares hashes; the token itself is stored nowhere. */
    enum rc rc = visitor_ask(sessions->own, patience, &sql_console_token_use, params, &result, err);
    if (rc != RC_OK)
        return rc;
    (void)snprintf(name, sizeof name, "token %s", db_text(result, 0, CONSOLE_TOKEN_USE_NAME));
    static const enum level levels[] = {[CONSOLE_TOKEN_USE_IS_MONITOR] = LEVEL_MONITOR,
                                        [CONSOLE_TOKEN_USE_IS_OPERATOR] = LEVEL_OPERATOR,
                                        [CONSOLE_TOKEN_USE_IS_PING] = LEVEL_PING};
    int role = db_word(result, 0, CONSOLE_TOKEN_USE_ROLE);
    *ret_visitor = visitor_new(name, levels[role], sessions->options.conninfo);
    visitor_set_token(*ret_visitor, token, db_text(result, 0, CONSOLE_TOKEN_USE_PROOF));
    return RC_OK;
}

/* With the lock: the place of this token; otherwise the free or least recently used one, into which
 * it may be put. */
static struct visitor **token_place(struct sessions *sessions, const char *token)
{
    struct visitor **oldest = &sessions->tokens[0];
    for (int i = 0; i < TOKENS; i++) {
        struct visitor **place = &sessions->tokens[i];
        if (*place != NULL && secret_same(visitor_id(*place), token))
            return place;
        if (*oldest != NULL &&
            (*place == NULL || visitor_ages(*place).used_us < visitor_ages(*oldest).used_us))
            oldest = place;
    }
    return oldest;
}

static struct visitor *known_token(struct sessions *sessions, const char *token, int64_t now_us)
{
    struct visitor *found = NULL;
    (void)pthread_mutex_lock(&sessions->lock);
    struct visitor *known = *token_place(sessions, token);
    struct visitor_ages ages = known != NULL ? visitor_ages(known) : (struct visitor_ages){0};
    if (known != NULL && secret_same(visitor_id(known), token) &&
        now_us - ages.since_us < TOKEN_US && !ages.lost)
        found = visitor_hold(known);
    (void)pthread_mutex_unlock(&sessions->lock);
    return found;
}

static enum rc of_token(struct sessions *sessions, const char *token,
                        struct visitor_patience patience, struct visitor **ret_visitor,
                        struct err *err)
{
    int64_t now_us = clock_boot_us();
    struct visitor *found = NULL;
    /* Saves the statement for a text that cannot be a token, and which the database may refuse as
     * no text: a header is any bytes. */
    if (!secret_fits(token))
        return RC_NONE;
    if ((*ret_visitor = known_token(sessions, token, now_us)) != NULL)
        return RC_OK;
    enum rc rc = find_token(sessions, token, patience, &found, err);
    if (rc != RC_OK)
        return rc;
    (void)pthread_mutex_lock(&sessions->lock);
    /* Searched again: the lock was released for the statement, and another request with the same
     * token may have put it there. */
    struct visitor **place = token_place(sessions, token);
    if (*place != NULL && secret_same(visitor_id(*place), token) && !visitor_ages(*place).lost) {
        visitor_renew(*place, found, now_us); /* the place keeps its open session */
        visitor_release(found);
        found = visitor_hold(*place);
    } else {
        visitor_release(*place);
        *place = visitor_hold(found);
    }
    (void)pthread_mutex_unlock(&sessions->lock);
    *ret_visitor = found;
    return RC_OK;
}

enum rc sessions_of_token(struct sessions *sessions, const char *token,
                          struct visitor **ret_visitor, struct err *err)
{
    return of_token(sessions, token, in_turn, ret_visitor, err);
}

static bool is_here(struct sessions *sessions, const struct visitor *visitor)
{
    bool here = false;
    (void)pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->options.most; i++)
        here = here ||
               (sessions->people[i] == visitor && !too_old(sessions, visitor, clock_boot_us()));
    (void)pthread_mutex_unlock(&sessions->lock);
    return here;
}

bool sessions_may(struct sessions *sessions, struct visitor *visitor)
{
    struct err err = {0};
    struct visitor *again = NULL;
    if (visitor == sessions->anonymous)
        return true;
    if (*visitor_csrf(visitor) != '\0')
        return is_here(sessions, visitor) && still_may(sessions, visitor);
    enum rc rc = of_token(sessions, visitor_id(visitor), at_once, &again, &err);
    if (rc == RC_OK)
        visitor_release(again);
    /* Only a definite "no" ends a stream: a database that is down must not sign everyone out. */
    return rc != RC_NONE;
}
