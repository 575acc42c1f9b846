/* Keeps the diagnostics of the server about a task's SQL for the task's row: error, place, context
 * and notices, each of bounded length and valid UTF-8. The caller switches it on with
 * db_set_diag(); pipeline.c and db.c then fill it. struct err, not this, decides about the task.
 * PQresultErrorField gives the position in characters and not in bytes (libpq manual,
 * PG_DIAG_STATEMENT_POSITION). */
#include "db/diag.h"

#include "base/utf8.h"
#include "db/session.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BEFORE 60 /* characters of a line shown before the place of an error, */
#define LINE_AFTER  40 /* and behind it */

struct db_diag *db_diag_new(void)
{
    struct db_diag *diag = xcalloc(1, sizeof *diag);
    diag->rows = -1;
    return diag;
}

static void each_text(struct db_diag *diag, void (*fn)(struct str *str))
{
    struct str *const texts[] = {&diag->message, &diag->detail, &diag->hint,   &diag->context,
                                 &diag->place,   &diag->inside, &diag->notices};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fn(texts[i]);
}

void db_diag_free(struct db_diag *diag)
{
    if (diag != NULL)
        each_text(diag, str_done);
    free(diag);
}

void db_diag_clear(struct db_diag *diag)
{
    each_text(diag, str_clear);
    diag->code[0] = '\0';
    diag->position = 0;
    diag->left_out = 0;
    diag->interrupted = false;
    diag->lexed = false;
    diag->rows = -1;
}

/** The first notices are kept and the others counted: the beginning of a long output shows the
 * cause. */
static void add_notice(struct db_diag *diag, const char *text, size_t len)
{
    size_t more = diag->notices.len > 0;
    bool room = diag->left_out == 0 && diag->notices.len + more < DB_DIAG_MAX;
    diag->left_out += !room;
    if (!room)
        return;
    str_add(&diag->notices, "\n", more);
    utf8_add(&diag->notices, text, len, DB_DIAG_MAX - diag->notices.len);
}

void db_diag_move(struct db_diag *to, struct db_diag *from)
{
    if (from->notices.len > 0)
        add_notice(to, from->notices.data, from->notices.len);
    to->left_out += from->left_out;
    str_clear(&from->notices);
    from->left_out = 0;
    from->lexed = false;
}

void db_set_diag(struct db *db, struct db_diag *diag)
{
    db->diag = diag;
}

/** The byte is a second or later one of a UTF-8 character. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The start of the character that is count characters from at, and not beyond the line. */
static const char *walk_back(const char *line, const char *at, int count)
{
    while (at > line && count > 0) {
        at--;
        count -= !continues(*at);
    }
    return at;
}

static const char *walk_on(const char *at, int count)
{
    while (*at != '\0' && *at != '\n' && *at != '\r' && count > 0) {
        at++;
        while (continues(*at))
            at++;
        count--;
    }
    return at;
}

static void add_shown(struct str *str, const char *from, const char *to)
{
    for (; from < to; from++)
        str_add(str, *from == '\t' ? " " : from, 1);
}

/* As psql shows an error: the line, cut around the place, and a caret below it. Columns are counted
 * in characters; a wide one may shift the caret by one. */
void db_diag_place(struct str *str, const char *sql, size_t offset, int position)
{
    const char *at = sql + offset, *line = sql;
    for (int left = position - 1; left > 0 && *at != '\0'; left--) {
        at++;
        while (continues(*at))
            at++;
    }
    int number = 1;
    for (const char *c = sql; c < at; c++)
        if (*c == '\n') {
            number++;
            line = c + 1;
        }
    const char *from = walk_back(line, at, LINE_BEFORE), *to = walk_on(at, LINE_AFTER);
    bool more = *to != '\0' && *to != '\n' && *to != '\r';
    size_t start = str->len, width = 0;
    str_format(str, "LINE %d: %s", number, from > line ? "..." : "");
    width = str->len - start;
    for (const char *c = from; c < at; c++)
        width += !continues(*c);
    add_shown(str, from, to);
    str_format(str, "%s\n%*s", more ? "..." : "", (int)width + 1, "^");
}

static void keep(struct str *to, const PGresult *result, int field)
{
    const char *text = PQresultErrorField(result, field);
    str_clear(to);
    if (text != NULL)
        utf8_add(to, text, strlen(text), DB_DIAG_MAX);
}

void db_diag_error(struct db_diag *diag, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);
    const char *internal = PQresultErrorField(result, PG_DIAG_INTERNAL_POSITION);
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    const char *query = PQresultErrorField(result, PG_DIAG_INTERNAL_QUERY);
    utf8_copy(diag->code, sizeof diag->code, state ? state : "");
    keep(&diag->message, result, PG_DIAG_MESSAGE_PRIMARY);
    keep(&diag->detail, result, PG_DIAG_MESSAGE_DETAIL);
    keep(&diag->hint, result, PG_DIAG_MESSAGE_HINT);
    keep(&diag->context, result, PG_DIAG_CONTEXT);
    /* A cancel and a time-out have one SQLSTATE (57014), which SQL can raise, too. The function in
     * the server's source shows that the server itself has ended the statement. */
    diag->interrupted = function != NULL && strcmp(function, "ProcessInterrupts") == 0;
    diag->position = position ? atoi(position) : 0;
    str_clear(&diag->inside);
    if (query != NULL && internal != NULL) {
        str_text(&diag->inside, "QUERY ");
        db_diag_place(&diag->inside, query, 0, atoi(internal));
    }
}

void db_diag_notice(struct db_diag *diag, const char *severity, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    STR_AUTO line = {0};
    str_format(&line, "%s: ", severity);
    utf8_add(&line, text, strlen(text), DB_DIAG_MAX);
    if (detail != NULL) {
        str_text(&line, "\nDETAIL: ");
        utf8_add(&line, detail, strlen(detail), DB_DIAG_MAX);
    }
    add_notice(diag, line.data, line.len);
    /* 42622 identifier too long, 22P06 backslash in a string: the lexer warns before the command
     * does anything */
    diag->lexed = diag->lexed ||
                  (state != NULL && (strcmp(state, "42622") == 0 || strcmp(state, "22P06") == 0));
}

void db_diag_rows(struct db_diag *diag, int64_t rows)
{
    diag->rows = rows;
}
