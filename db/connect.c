/* From a connection string to a session that is ours: the right server, set up, nothing between us
 * and it.
 *
 * Begin with db_open_on(). Three checks come before a session is given out, each of a mistake that
 * would show only later and as something else: a pooler in between (session locks would be of
 * another session), a standby, and another server than the other sessions have. */
#include "db/session.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/remedies_rights.h"
#include "base/str.h"
#include "base/utf8.h"
#include "db/packet.h"
#include "db/sqlstate.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SETUP_MS: the first statements of a session are short; a server that needs longer for them is not
 * used. */
#define CONNECT_S   "10" /* a host; the connection string may say otherwise */
#define SETUP_MS    10000
#define UNWANTED_MS 250 /* until a connection that is not wanted any more is given up */
#define NO_PASSWORD_HINT                                                                           \
    "The server asks for a password, and none is given. Put it into a password file (~/.pgpass, "  \
    "mode 0600; passfile=... names another), PGPASSWORD, or [postgres] password (of the tasks: "   \
    "task_conninfo) in the configuration."
#define POOLER_HINT "Connect to PostgreSQL itself: session locks do not work through a pooler."

/* The hosts of a connection string, as libpq takes them: lists separated by commas. */
struct hosts {
    char *host, *hostaddr, *port; /* owned, NULL: not given */
    int count;                    /* 0: not yet known */
};

static void hosts_done(struct hosts *hosts)
{
    free(hosts->host);
    free(hosts->hostaddr);
    free(hosts->port);
}
#define HOSTS_AUTO __attribute__((cleanup(hosts_done))) struct hosts

static int list_length(const char *list)
{
    int count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* Of a session that is being opened: a service file and the environment may add hosts, and only
 * libpq itself knows them. */
static struct hosts hosts_of(PGconn *conn)
{
    struct hosts hosts = {.count = 1};
    PQconninfoOption *options = PQconninfo(conn);
    for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL;
         option++) {
        char **to = strcmp(option->keyword, "host") == 0       ? &hosts.host
                    : strcmp(option->keyword, "hostaddr") == 0 ? &hosts.hostaddr
                    : strcmp(option->keyword, "port") == 0     ? &hosts.port
                                                               : NULL;
        if (to == NULL || option->val == NULL)
            continue;
        *to = xstrdup(option->val);
        /* A single port is valid for all hosts (libpq manual, 34.1.1.3), so its list does not
         * count. */
        if (to != &hosts.port && list_length(option->val) > hosts.count)
            hosts.count = list_length(option->val);
    }
    PQconninfoFree(options);
    return hosts;
}

/* "a,b,c" -> "b,c,a"; a text without a comma stays. */
static void rotate(char *list)
{
    char *comma = list != NULL ? strchr(list, ',') : NULL;
    if (comma == NULL)
        return;
    size_t len = strlen(list), first = (size_t)(comma - list);
    char *head = xstrdup(list);
    memmove(list, comma + 1, len - first - 1);
    list[len - first - 1] = ',';
    memcpy(list + len - first, head, first);
    free(head);
}

/* Of libpq's verbose words the ones for people, in one line: there is a line a host, with an
 * SQLSTATE behind the severity and the place in the server's source, which are left out, and hints
 * of libpq's, which are ours to give. */
static void join_lines(struct err *err, const char *text, const char *code)
{
    STR_AUTO all = {0};
    char verbose[16];
    (void)snprintf(verbose, sizeof verbose, ":  %s: ", code);
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        const char *at = *code ? memmem(text, n, verbose, strlen(verbose)) : NULL;
        if (n > 0 && *text != '\t' && strncmp(text, "LOCATION:", 9) != 0) {
            str_text(&all, all.len > 0 ? "; " : "");
            str_add(&all, text, at != NULL ? (size_t)(at - text) + 3 : n);
            if (at != NULL)
                str_add(&all, at + strlen(verbose), n - (size_t)(at - text) - strlen(verbose));
        }
        text += n + (text[n] == '\n');
    }
    if (all.len > 0)
        utf8_copy(err->message, sizeof err->message, all.data);
}

/* In libpq's verbose words an SQLSTATE follows the severity in any language of the server:
 * "FATAL:  53300: ...". Of several hosts the one that might take us later counts. */
static void find_code(const char *text, char ret_code[6])
{
    for (const char *at = strstr(text, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        const char *code = at + 3;
        size_t n = 0;
        while (n < 5 && (ascii_digit(code[n]) || (code[n] >= 'A' && code[n] <= 'Z')))
            n++;
        if (n != 5 || code[5] != ':' ||
            (*ret_code && sqlstate_reaction(ret_code, NULL, NULL) == RC_RETRY))
            continue;
        memcpy(ret_code, code, 5);
        ret_code[5] = '\0';
    }
}

enum reached { REACHED, NOT_REACHED, SILENT };

/** connect_timeout of the connection string, else of the environment (PGCONNECT_TIMEOUT), else
 * ours. 0 means no limit to libpq; here it is not taken, because an executor must try its next
 * host. */
static int timeout_s(PGconn *conn)
{
    PQconninfoOption *options = PQconninfo(conn);
    const PQconninfoOption *option = options;
    while (option != NULL && option->keyword != NULL &&
           strcmp(option->keyword, "connect_timeout") != 0)
        option++;
    long given = option != NULL && option->val != NULL ? strtol(option->val, NULL, 10) : 0;
    PQconninfoFree(options);
    return given > 0 && given <= 3600 ? (int)given : atoi(CONNECT_S);
}

/* PQconnectdb measures its time on the wall clock, which may be set meanwhile, and gives no
 * SQLSTATE; so this function waits itself. A host that does not take the connection ends by
 * tcp_user_timeout, and libpq goes to the next address; one that takes it and says nothing uses up
 * our time. */
static enum reached establish(PGconn *conn, const _Atomic bool *unwanted)
{
    int64_t until_us = clock_boot_us() + timeout_s(conn) * 1000000LL;
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    (void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    while (PQstatus(conn) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED && clock_boot_us() < until_us &&
           (unwanted == NULL || !*unwanted)) {
        struct pollfd fd = {.fd = PQsocket(conn),
                            .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int left_ms = clock_left_ms(until_us);
        if (unwanted != NULL && left_ms > UNWANTED_MS)
            left_ms = UNWANTED_MS;
        if (poll(&fd, 1, left_ms) > 0)
            next = PQconnectPoll(conn);
    }
    (void)PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
    if (next == PGRES_POLLING_OK && PQstatus(conn) == CONNECTION_OK)
        return REACHED;
    return next == PGRES_POLLING_FAILED || PQstatus(conn) == CONNECTION_BAD ? NOT_REACHED : SILENT;
}

/* libpq's words about a text that it cannot parse quote it, and a password may be anywhere in
 * it. */
static bool cannot_parse(const char *conninfo, struct err *err)
{
    bool plain_name = strchr(conninfo, '=') == NULL && strstr(conninfo, "://") == NULL;
    PQconninfoOption *options = plain_name ? NULL : PQconninfoParse(conninfo, NULL);
    PQconninfoFree(options);
    if (plain_name || options != NULL)
        return false;
    (void)err_set(err, RC_FATAL, ERR_CONFIG, "connection string",
                  "Write keyword=value with blanks between and quotes around values that hold "
                  "blanks, or a postgresql:// URI with %NN for special characters.",
                  "libpq cannot read it; it is not shown because of passwords in it");
    return true;
}

/* Names the right that a login lacks although it has proved its identity, or the limit that keeps
 * it out. A role without LOGIN and the limit of a role have no SQLSTATE of their own, so the
 * English text of the server is compared; in another language the hint is only less precise. */
static const char *missing_right(const PGconn *conn, const char *code, const char *hint,
                                 char ret_hint[300])
{
    if (strcmp(code, sqlstate_text(SQLSTATE_INSUFFICIENT_PRIVILEGE)) == 0)
        (void)snprintf(ret_hint, 300, REMEDY_GRANT_CONNECT(PQdb(conn), PQuser(conn)));
    else if (strstr(PQerrorMessage(conn), "is not permitted to log in") != NULL)
        (void)snprintf(ret_hint, 300, REMEDY_LOGIN(PQuser(conn)));
    else if (strstr(PQerrorMessage(conn), "too many connections for role") != NULL)
        (void)snprintf(ret_hint, 300, REMEDY_ROLE_LIMIT(PQuser(conn)));
    else if (strstr(PQerrorMessage(conn), "too many connections for database") != NULL)
        (void)snprintf(ret_hint, 300, REMEDY_DATABASE_LIMIT(PQdb(conn)));
    else
        return hint;
    return ret_hint;
}

static enum rc connect_failed(const struct db *db, enum reached reached, struct err *err)
{
    const char *text = PQerrorMessage(db->conn);
    char code[6] = "", right[300];
    const char *about = PQhost(db->conn) && *PQhost(db->conn) ? PQhost(db->conn) : "database";
    const char *hint = "Is the server running, and is the connection string right (--dbname)?";
    enum err_kind kind = ERR_DB_DOWN;
    enum rc rc = RC_LOST;
    find_code(text, code);
    if (strstr(text, "unsupported startup parameter") != NULL) { /* pgbouncer: of our options */
        (void)err_set(err, RC_FATAL, ERR_CONFIG, about, POOLER_HINT,
                      "there is a connection pooler between us and PostgreSQL: it does not take a "
                      "session's start-up options");
        err_code(err, code);
        return RC_FATAL;
    }
    if (PQconnectionNeedsPassword(db->conn))
        hint = NO_PASSWORD_HINT;
    else if (*code != '\0') {
        rc = sqlstate_reaction(code, &kind, &hint);
        /* RC_REJECT is about a statement, and there is none yet: the connection is tried again. */
        rc = rc == RC_REJECT ? RC_LOST : rc;
        hint = missing_right(db->conn, code, hint, right);
    } else if (strstr(text, "server is in hot standby mode") != NULL ||
               strstr(text, "session is read-only") != NULL) {
        rc = RC_RETRY;
        hint =
            "Only a standby answers. Connect to the primary; several hosts may be named, and the "
            "primary is found: host=a,b. An executor waits until one is promoted.";
    }
    (void)err_set(err, rc, kind, about, hint,
                  "cannot connect: the server takes the connection and does not answer within %d s",
                  timeout_s(db->conn));
    if (err != NULL && reached != SILENT)
        join_lines(err, text, code);
    err_code(err, code);
    return rc;
}

/* A transaction pooler invents the backend pid of the protocol; behind one, session locks are
 * silently wrong. */
static enum rc check_session(struct db *db, struct err *err)
{
    /* Not prepared: behind a pooler the name may be taken on the backend that happens to answer. */
    PGresult *answer = db_answer(
        db, PQsendQueryParams(db->conn, sql_session_identity.text, 0, NULL, NULL, NULL, NULL, 0));
    if (PQresultStatus(answer) != PGRES_TUPLES_OK) {
        enum rc rc = db_fail(db, "session identity", answer, err);
        PQclear(answer);
        return rc;
    }
    DB_RESULT_AUTO *result = db_result_new(answer, &sql_session_identity);
    db->backend_pid = PQbackendPID(db->conn);
    if (db_int(result, 0, SESSION_IDENTITY_PID) != db->backend_pid)
        return err_set(
            err, RC_FATAL, ERR_CONFIG, PQhost(db->conn), POOLER_HINT,
            "there is a connection pooler between us and PostgreSQL (backend %s answers for %d)",
            db_text(result, 0, SESSION_IDENTITY_PID), db->backend_pid);
    if (db_bool(result, 0, SESSION_IDENTITY_IN_RECOVERY) && db->role != DB_CLI)
        return err_set(err, RC_RETRY, ERR_DB_DOWN, PQhost(db->conn), "Connect to the primary.",
                       "the server is a standby (in recovery)");
    if (strcmp(db_text(result, 0, SESSION_IDENTITY_ENCODING), "UTF8") != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, PQdb(db->conn),
                       "CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
                       "the database's encoding is %s, it must be UTF8",
                       db_text(result, 0, SESSION_IDENTITY_ENCODING));
    (void)snprintf(db->backend_start, sizeof db->backend_start, "%s",
                   db_text(result, 0, SESSION_IDENTITY_BACKEND_START));
    return RC_OK;
}

/* A server may refuse this login the right to read which one it is. It is then taken as it is
 * (fits). */
static enum rc read_server(struct db *db, struct err *err)
{
    PGresult *answer = db_answer(
        db, PQsendQueryParams(db->conn, sql_session_server.text, 0, NULL, NULL, NULL, NULL, 0));
    if (PQresultStatus(answer) != PGRES_TUPLES_OK) {
        enum rc rc = db_fail(db, "session server", answer, err);
        PQclear(answer);
        return rc == RC_LOST ? rc : RC_OK;
    }
    DB_RESULT_AUTO *result = db_result_new(answer, &sql_session_server);
    (void)snprintf(db->server.system_id, sizeof db->server.system_id, "%s",
                   db_text(result, 0, SESSION_SERVER_SYSTEM_IDENTIFIER));
    db->server.database = db_int(result, 0, SESSION_SERVER_DATABASE);
    db->server.timeline = db_int(result, 0, SESSION_SERVER_TIMELINE);
    return RC_OK;
}

/* ret_others: a host has answered, or was silent, so libpq has not asked those behind it. */
static enum rc connect_to(struct db *db, const char *conninfo, struct hosts *hosts,
                          const _Atomic bool *unwanted, bool *ret_others, struct err *err)
{
    char name[64];
    STR_AUTO options = {0};
    packet_options(conninfo, db->role, &options);
    (void)snprintf(name, sizeof name, "lockstep/%s", db_role_names[db->role]);
    /* A keyword before dbname is a default, one after it overrides the string. keepalives 3 s + 3
     * times 1 s: a host that is gone is noticed within six seconds while the connection is idle;
     * tcp_user_timeout does the same while data is under way. Neither notices a backend that stands
     * still, because the kernel answers; db_patience() is for that. */
    const char *const keys[] = {"application_name",
                                "keepalives_idle",
                                "keepalives_interval",
                                "keepalives_count",
                                "tcp_user_timeout",
                                "target_session_attrs",
                                "dbname",
                                "client_encoding",
                                "options",
                                "host",
                                "hostaddr",
                                "port",
                                NULL};
    const char *const values[] = {name,
                                  "3",
                                  "1",
                                  "3",
                                  "5000",
                                  db->role == DB_CLI ? "any" : "primary",
                                  conninfo,
                                  "UTF8",
                                  options.data,
                                  hosts->count > 1 ? hosts->host : NULL,
                                  hosts->count > 1 ? hosts->hostaddr : NULL,
                                  hosts->count > 1 ? hosts->port : NULL,
                                  NULL};
    db->conn = PQconnectStartParams(keys, values, 1);
    if (hosts->count == 0)
        *hosts = hosts_of(db->conn);
    enum reached reached = establish(db->conn, unwanted);
    *ret_others = reached != NOT_REACHED;
    return reached == REACHED ? RC_OK : connect_failed(db, reached, err);
}

static enum rc open_once(const char *conninfo, enum db_role role, struct hosts *hosts,
                         const _Atomic bool *unwanted, struct db **ret_db, bool *ret_others,
                         struct err *err)
{
    struct db *db = xcalloc(1, sizeof *db);
    db->role = role;
    enum rc rc = connect_to(db, conninfo, hosts, unwanted, ret_others, err);
    if (rc == RC_OK) {
        db_receive_notices(db);
        /* The checks that follow run under a limit: a host that accepted the connection may stop
         * here. */
        db_patience(db, SETUP_MS);
        rc = db_setup(db, err);
    }
    if (rc == RC_OK)
        rc = check_session(db, err);
    if (rc == RC_OK)
        rc = read_server(db, err);
    if (rc == RC_OK)
        db_patience(db, 0);
    if (rc != RC_OK) {
        db_close(db);
        return rc;
    }
    *ret_db = db;
    return RC_OK;
}

/* A login may lack the right to read which server it is on. Such a session is taken as it is;
 * refusing it would demand more rights than the work needs. */
static bool fits(const struct db_server *is, const struct db_server *wanted, enum db_match match)
{
    bool known = *is->system_id && *wanted->system_id;
    bool cluster = strcmp(is->system_id, wanted->system_id) == 0;
    if (!known)
        return true;
    if (match == DB_NOT_OLDER)
        return !cluster || is->timeline >= wanted->timeline;
    return cluster && is->database == wanted->database && is->timeline == wanted->timeline;
}

static enum rc not_fitting(const struct db *db, const struct db_server *wanted, enum db_match match,
                           struct err *err)
{
    const struct db_server *is = &db->server;
    if (match == DB_NOT_OLDER)
        return err_set(err, RC_LOST, ERR_DB_DOWN, PQhost(db->conn),
                       "Stop this server if it is an old primary that came back; restart the "
                       "executor if it is the right server.",
                       "the server is on timeline %lld, but timeline %lld of it was seen before",
                       (long long)is->timeline, (long long)wanted->timeline);
    return err_set(err, RC_LOST, ERR_DB_DOWN, PQhost(db->conn),
                   "Let conninfo and task_conninfo lead to the same database of the same server.",
                   "another server or database answers (system %s, database %lld, timeline %lld) "
                   "than the control session has (system %s, database %lld, timeline %lld)",
                   is->system_id, (long long)is->database, (long long)is->timeline,
                   wanted->system_id, (long long)wanted->database, (long long)wanted->timeline);
}

enum rc db_open_wanted(const char *conninfo, enum db_role role, const struct db_server *server,
                       enum db_match match, const _Atomic bool *unwanted, struct db **ret_db,
                       struct err *err)
{
    if (conninfo != NULL && cannot_parse(conninfo, err))
        return RC_FATAL;
    HOSTS_AUTO hosts = {0};
    enum rc rc = RC_LOST;
    for (int i = 0; i == 0 || i < hosts.count; i++) {
        struct db *db;
        bool others = false;
        rc = open_once(conninfo ? conninfo : "", role, &hosts, unwanted, &db, &others, err);
        /* Without others libpq has asked them all. */
        if (rc == RC_FATAL || (rc != RC_OK && !others))
            return rc;
        if (rc == RC_OK && fits(&db->server, server, match)) {
            *ret_db = db;
            return RC_OK;
        }
        if (rc == RC_OK) {
            rc = not_fitting(db, server, match, err);
            db_close(db);
        }
        /* libpq takes the first host of the list that answers. The next try begins with the host
         * behind it, and ends when each was the first once. */
        rotate(hosts.host);
        rotate(hosts.hostaddr);
        rotate(hosts.port);
    }
    return rc;
}

enum rc db_open_on(const char *conninfo, enum db_role role, const struct db_server *server,
                   enum db_match match, struct db **ret_db, struct err *err)
{
    return db_open_wanted(conninfo, role, server, match, NULL, ret_db, err);
}

enum rc db_open(const char *conninfo, enum db_role role, struct db **ret_db, struct err *err)
{
    const struct db_server any = {0};
    return db_open_on(conninfo, role, &any, DB_SAME, ret_db, err);
}
