/* Splits a task's SQL into statements, refuses those that would leave the task's transaction, and
 * marks those that may change the session. Begin with split(): read tokens, note the words that
 * decide, judge at each semicolon (finish). This is a lexer's judgement, and it errs on the safe
 * side: the extended protocol takes one command a call, so a wrong split is a syntax error, and a
 * session that is reset without need costs time only. Which statement runs in a transaction, and
 * how, the reader decides (reader/). tests/unit/statement_test.c has each known way to end the
 * transaction early. */
#include "task/statement.h"
#include "base/ascii.h"
#include "base/str.h"
#include "task/lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SIZE  STATEMENT_WORD /* longer than every word of the lists */
#define HEAD_WORDS 5 /* CREATE OR REPLACE FUNCTION, SET SESSION SESSION AUTHORIZATION */

struct reading {
    char head[HEAD_WORDS][WORD_SIZE]; /* the words it starts with, in capitals */
    int heads;
    bool head_done;
    char last[2][WORD_SIZE]; /* the words just before, "" where another token stood */
    char before;             /* the character of the last other token */
    size_t parens;
    size_t body; /* open BEGIN ATOMIC and CASE of an SQL function's body */
    bool tokens; /* there is one */
    bool session_word, into_temp, temp, client_copy;
    bool escaped; /* the setting is spelled U&"...", so it may be any */
};

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (str_same(word, *list))
            return true;
    return false;
}

/** A word that leaves something in the session wherever it is. */
static bool is_session_word(const char *word)
{
    static const char *const prefixes[] = {
        "SET_CONFIG",
        "SETSEED",
        "PG_ADVISORY_",
        "PG_TRY_ADVISORY_",
        "DBLINK_CONNECT",
        "PG_TEMP",
        "PG_SETTINGS", /* an UPDATE of this view is a set_config */
        "SET_LIMIT",
        "QUERY_TO_XML",
        "CURSOR_TO_XML",
        "TABLE_TO_XML",
        "SCHEMA_TO_XML",
        "DATABASE_TO_XML",
        "TS_STAT",
        "TS_REWRITE",
        NULL}; /* the last ones run SQL that is in a text or in a view */
    for (const char *const *p = prefixes; *p != NULL; p++)
        /* A prefix, because the functions have variants: pg_advisory_lock_shared,
         * query_to_xml_and_xmlschema. */
        if (**p == *word && strncmp(word, *p, strlen(*p)) == 0)
            return strstr(word, "ADVISORY_XACT_") == NULL; /* those end with the transaction */
    return false;
}

/** CREATE [OR REPLACE] FUNCTION or PROCEDURE: may have a body of statements. */
static bool creates_routine(const struct reading *r)
{
    static const char *const routines[] = {"FUNCTION", "PROCEDURE", NULL};
    /* CREATE OR REPLACE has two words more than CREATE. */
    int i = strcmp(r->head[1], "OR") == 0 ? 3 : 1;
    return strcmp(r->head[0], "CREATE") == 0 && is_one_of(r->head[i], routines);
}

/** Counts what opens and closes inside BEGIN ATOMIC ... END. AS end and x.end are names. */
static void count_body(struct reading *r, const char *word)
{
    bool name = r->before == '.' || strcmp(r->last[0], "AS") == 0;
    if (r->body == 0)
        r->body =
            strcmp(word, "ATOMIC") == 0 && strcmp(r->last[0], "BEGIN") == 0 && creates_routine(r);
    else if (!name && strcmp(word, "CASE") == 0)
        r->body++;
    else if (!name && strcmp(word, "END") == 0)
        r->body--;
}

/** Only ASCII letters: the keywords of PostgreSQL have no others. A longer word is cut and matches
 * none. */
static void capitals(const char *text, size_t len, char word[WORD_SIZE])
{
    size_t i = 0;
    for (; i < len && i < WORD_SIZE - 1; i++)
        word[i] = ascii_upper(text[i]);
    memset(word + i, 0, WORD_SIZE - i);
}

static void read_word(struct reading *r, enum token token, const char *text, size_t len)
{
    static const char *const scopes[] = {"LOCAL", "GLOBAL", NULL};
    static const char *const client[] = {"STDIN", "STDOUT", NULL};
    static const char *const directions[] = {"FROM", "TO", NULL};
    char word[WORD_SIZE];
    capitals(text, len, word);
    if (!r->head_done && r->heads < HEAD_WORDS)
        memcpy(r->head[r->heads++], word, WORD_SIZE);
    /* behind U& an identifier may be spelled with escapes, so it may be any */
    bool escaped = token == TOKEN_QUOTED && r->before == '&';
    r->session_word |= is_session_word(word) || escaped;
    r->escaped |= escaped && r->heads > 1 && str_same(r->head[r->heads - 1], "U");
    if (token == TOKEN_WORD) {
        count_body(r, word);
        const char *into = is_one_of(r->last[0], scopes) ? r->last[1] : r->last[0];
        if (strcmp(word, "TEMP") == 0 || strcmp(word, "TEMPORARY") == 0) {
            r->temp = true;
            r->into_temp |= strcmp(into, "INTO") == 0;
        }
        /* the grammar takes each of the two words in each direction */
        r->client_copy |= is_one_of(word, client) && is_one_of(r->last[0], directions);
    }
    memcpy(r->last[1], r->last[0], WORD_SIZE);
    memcpy(r->last[0], word, WORD_SIZE);
    r->before = '\0';
}

static void read_other(struct reading *r, enum token token, char c)
{
    if (token == TOKEN_OPEN)
        r->parens++;
    if (token == TOKEN_CLOSE && r->parens > 0)
        r->parens--;
    /* An opening parenthesis before the first word is passed: (SELECT ...) UNION is a query, too.
     */
    if (r->heads > 0 || token != TOKEN_OPEN)
        r->head_done = true;
    r->last[0][0] = r->last[1][0] = '\0';
    r->before = c;
}

#define OWN_TRANSACTION                                                                            \
    "the executor itself commits a task's statements together with the record of it; leave it out"
#define ATTRIBUTES "the record of the task is written in the same transaction; leave it out"
#define OWN_ROLE   "set the role in task_conninfo, or use SET LOCAL ROLE"

static const struct refusal {
    const char *first, *second; /* second NULL: any second word */
    const char *shown, *hint;
} refusals[] = {
    {"BEGIN", NULL, "BEGIN", OWN_TRANSACTION},
    {"START", NULL, "START TRANSACTION", OWN_TRANSACTION},
    {"COMMIT", NULL, "COMMIT", OWN_TRANSACTION},
    {"END", NULL, "END", OWN_TRANSACTION},
    {"ROLLBACK", NULL, "ROLLBACK", "raise an error to make the task fail; it is rolled back then"},
    {"ABORT", NULL, "ABORT", "raise an error to make the task fail; it is rolled back then"},
    {"SAVEPOINT", NULL, "SAVEPOINT", "catch errors in a DO block or a function"},
    {"RELEASE", NULL, "RELEASE SAVEPOINT", "catch errors in a DO block or a function"},
    {"PREPARE", "TRANSACTION", "PREPARE TRANSACTION", OWN_TRANSACTION},
    {"DEALLOCATE", "ALL", "DEALLOCATE ALL",
     "the executor has statements of its own there; name what the task has prepared, or leave it "
     "out"},
    {"DISCARD", NULL, "DISCARD", "the executor resets the session between tasks; leave it out"},
    {"SET", "TRANSACTION", "SET TRANSACTION", ATTRIBUTES},
    {"SET", "TRANSACTION_READ_ONLY", "SET transaction_read_only", ATTRIBUTES},
    {"SET", "TRANSACTION_ISOLATION", "SET transaction_isolation", ATTRIBUTES},
    {"SET", "TRANSACTION_DEFERRABLE", "SET transaction_deferrable", ATTRIBUTES},
    {"SET", "CHARACTERISTICS", "SET SESSION CHARACTERISTICS", ATTRIBUTES},
    {"SET", "AUTHORIZATION", "SET SESSION AUTHORIZATION", OWN_ROLE},
    {"SET", "SESSION_AUTHORIZATION", "SET session_authorization", OWN_ROLE},
    {"RESET", "AUTHORIZATION", "RESET SESSION AUTHORIZATION", OWN_ROLE},
    {"RESET", "SESSION_AUTHORIZATION", "RESET session_authorization", OWN_ROLE},
    {"SET", "U&", "SET U&\"...\"", "write the name of the setting without escapes"},
    {"RESET", "U&", "RESET U&\"...\"", "write the name of the setting without escapes"},
    {"ALTER", "OWN_ROLE", "ALTER ROLE ... SET for the role of the executor's own sessions",
     "every later session would begin with it; use SET LOCAL, or let a DBA set it"},
    {"COPY", "STDIN", "COPY with STDIN or STDOUT",
     "there is no client on the other side; use INSERT with params, or COPY with a file of the "
     "server"},
};

/** What is set or reset, behind SESSION and LOCAL. */
static const char *setting(const struct reading *r)
{
    static const char *const scopes[] = {"SESSION", "LOCAL", NULL};
    int i = 1;
    while (i < HEAD_WORDS - 1 && is_one_of(r->head[i], scopes))
        i++;
    return r->head[i];
}

/** ALTER ROLE or USER, of oneself or of all, [IN DATABASE x] SET or RESET. */
static bool alters_own_role(const struct reading *r)
{
    static const char *const kinds[] = {"ROLE", "USER", NULL};
    static const char *const own[] = {"CURRENT_USER", "CURRENT_ROLE", "SESSION_USER", "ALL", NULL};
    static const char *const set[] = {"SET", "RESET", "IN", NULL};
    return is_one_of(r->head[1], kinds) && is_one_of(r->head[2], own) && is_one_of(r->head[3], set);
}

/** Compares the first words with the table. Where the second word alone does not decide (SET LOCAL
 * x, COPY, ALTER ROLE), it is replaced by the one that does. */
static const struct refusal *find_refusal(const struct reading *r)
{
    static const char *const set[] = {"SET", "RESET", NULL};
    const char *second = is_one_of(r->head[0], set) ? setting(r) : r->head[1];
    if (strcmp(r->head[0], "DEALLOCATE") == 0 && strcmp(second, "PREPARE") == 0)
        second = r->head[2];
    if (strcmp(r->head[0], "COPY") == 0)
        second = r->client_copy ? "STDIN" : "";
    if (is_one_of(r->head[0], set) && r->escaped)
        second = "U&";
    if (strcmp(r->head[0], "ALTER") == 0)
        second = alters_own_role(r) ? "OWN_ROLE" : "";
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strcmp(r->head[0], refusals[i].first) == 0 &&
            (refusals[i].second == NULL || strcmp(second, refusals[i].second) == 0))
            return &refusals[i];
    return NULL;
}

static void classify(const struct reading *r, struct statement *statement)
{
    static const char *const plain[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE",
                                        "WITH",   "VALUES", "TABLE",  NULL};
    static const char *const session[] = {"SET",  "RESET",   "LISTEN",     "UNLISTEN",
                                          "LOAD", "PREPARE", "DEALLOCATE", "DECLARE",
                                          "DO",   "CALL",    NULL};
    /* Plain statements may run in a pipeline. A statement of neither list, such as CREATE or
     * VACUUM, is not plain, and leaves nothing in the session unless it makes a temporary object.
     */
    statement->plain = is_one_of(r->head[0], plain);
    statement->changes_session = r->session_word || r->into_temp ||
                                 (r->temp && !statement->plain) || is_one_of(r->head[0], session);
}

struct list {
    struct statement *items;
    int count, cap;
};

/** Ends the statement that starts at start with white space already skipped. */
static enum rc finish(struct list *list, const struct reading *r, const char *start,
                      const char *end, struct err *err)
{
    if (!r->tokens)
        return RC_OK;
    const struct refusal *refusal = find_refusal(r);
    if (refusal != NULL) {
        char object[40];
        (void)snprintf(object, sizeof object, "statement %d", list->count + 1);
        return err_set(err, RC_REJECT, ERR_FAILED, object, refusal->hint,
                       "%s is not allowed in the SQL of a task", refusal->shown);
    }
    while (end > start && lexer_is_space(end[-1]))
        end--;
    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 4;
        list->items = xrealloc(list->items, (size_t)list->cap, sizeof *list->items);
    }
    struct statement *statement = &list->items[list->count++];
    *statement = (struct statement){.text = start, .len = (size_t)(end - start)};
    classify(r, statement);
    return RC_OK;
}

static const char *behind_space(const char *at)
{
    while (lexer_is_space(*at))
        at++;
    return at;
}

static enum rc split(const char *text, struct list *list, struct err *err)
{
    struct lexer lexer = {.at = text};
    struct reading r = {0};
    const char *start = behind_space(text);
    for (;;) {
        enum token token = lexer_next(&lexer);
        const char *here = lexer.at;
        if (token == TOKEN_UNCLOSED)
            return err_set(err, RC_REJECT, ERR_FAILED, NULL, "Close it.",
                           "the SQL has a %s without an end; it starts at byte %zu", lexer.unclosed,
                           (size_t)(here - text));
        if (token == TOKEN_END)
            return finish(list, &r, start, here, err);
        /* A semicolon within parentheses belongs to CREATE RULE, one within a body to CREATE
         * FUNCTION. */
        if (token == TOKEN_SEMICOLON && r.parens == 0 && r.body == 0) {
            enum rc rc = finish(list, &r, start, here - 1, err);
            if (rc != RC_OK)
                return rc;
            r = (struct reading){0};
            start = behind_space(here);
            continue;
        }
        r.tokens = true;
        if (token == TOKEN_WORD || token == TOKEN_QUOTED)
            read_word(&r, token, lexer.text, lexer.len);
        else
            read_other(&r, token, here[-1]);
    }
}

enum rc statement_split(const char *text, struct statement **ret_statements, int *ret_count,
                        struct err *err)
{
    struct list list = {0};
    enum rc rc = split(text, &list, err);
    if (rc == RC_OK && list.count == 0)
        rc = err_set(err, RC_REJECT, ERR_FAILED, NULL, "Write a statement.",
                     "the SQL holds no statement, only white space or comments");
    if (rc != RC_OK) {
        free(list.items);
        return rc;
    }
    *ret_statements = list.items;
    *ret_count = list.count;
    return RC_OK;
}

bool statement_names(const struct statement *statement, statement_known *known, const void *context)
{
    struct lexer lexer = {.at = statement->text};
    const char *end = statement->text + statement->len;
    while (lexer.at < end) {
        enum token token = lexer_next(&lexer);
        char word[WORD_SIZE];
        if (token == TOKEN_END || token == TOKEN_UNCLOSED)
            return token == TOKEN_UNCLOSED; /* has been refused before */
        if (token != TOKEN_WORD && token != TOKEN_QUOTED)
            continue;
        /* A quoted name with a doubled quote in it is spelled differently from its name: it counts
         * as known. */
        capitals(lexer.text, lexer.len, word);
        if (known(context, word) || (token == TOKEN_QUOTED && strchr(word, '"') != NULL))
            return true;
    }
    return false;
}
