/* Keeps the reports of the server about a task's SQL for the task's row: error, place, context and
 * notices, each of bounded length and valid UTF-8. The caller switches it on with db_listen();
 * pipeline.c and db.c then fill it. struct err, not this, decides about the task.
 * PQresultErrorField gives the position in characters and not in bytes (libpq manual,
 * PG_DIAG_STATEMENT_POSITION). */
#include "db/told.h"

#include "base/utf8.h"
#include "db/session.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BEFORE 60 /* characters of a line shown before the place of an error, */
#define LINE_AFTER  40 /* and behind it */

struct db_told *db_told_new(void)
{
    struct db_told *told = xcalloc(1, sizeof *told);
    told->rows = -1;
    return told;
}

static void each_text(struct db_told *told, void (*fn)(struct str *str))
{
    struct str *const texts[] = {&told->message, &told->detail, &told->hint,   &told->context,
                                 &told->place,   &told->inside, &told->notices};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fn(texts[i]);
}

void db_told_free(struct db_told *told)
{
    if (told != NULL)
        each_text(told, str_done);
    free(told);
}

void db_told_clear(struct db_told *told)
{
    each_text(told, str_clear);
    told->code[0] = '\0';
    told->position = 0;
    told->left_out = 0;
    told->interrupted = false;
    told->lexed = false;
    told->rows = -1;
}

/** The first notices are kept and the others counted: the beginning of a long output shows the
 * cause. */
static void add_notice(struct db_told *told, const char *text, size_t len)
{
    size_t more = told->notices.len > 0;
    bool room = told->left_out == 0 && told->notices.len + more < DB_TOLD_MOST;
    told->left_out += !room;
    if (!room)
        return;
    str_add(&told->notices, "\n", more);
    utf8_add(&told->notices, text, len, DB_TOLD_MOST - told->notices.len);
}

void db_told_move(struct db_told *to, struct db_told *from)
{
    if (from->notices.len > 0)
        add_notice(to, from->notices.data, from->notices.len);
    to->left_out += from->left_out;
    str_clear(&from->notices);
    from->left_out = 0;
    from->lexed = false;
}

void db_listen(struct db *db, struct db_told *told)
{
    db->told = told;
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
void db_told_place(struct str *str, const char *sql, size_t offset, int position)
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
        utf8_add(to, text, strlen(text), DB_TOLD_MOST);
}

/* The functions of PL/pgSQL, PL/Python, PL/Tcl and PL/Perl by which SQL raises errors. */
bool db_raised(const PGresult *result)
{
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    static const char *const raising[] = {"exec_stmt_raise", "PLy_elog_impl", "PLy_elog",
                                          "throw_tcl_error", "plperl_call_perl_func"};
    for (size_t i = 0; function != NULL && i < sizeof raising / sizeof *raising; i++)
        if (strcmp(function, raising[i]) == 0)
            return true;
    return false;
}

void db_told_error(struct db_told *told, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);
    const char *internal = PQresultErrorField(result, PG_DIAG_INTERNAL_POSITION);
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    const char *query = PQresultErrorField(result, PG_DIAG_INTERNAL_QUERY);
    utf8_copy(told->code, sizeof told->code, state ? state : "");
    keep(&told->message, result, PG_DIAG_MESSAGE_PRIMARY);
    keep(&told->detail, result, PG_DIAG_MESSAGE_DETAIL);
    keep(&told->hint, result, PG_DIAG_MESSAGE_HINT);
    keep(&told->context, result, PG_DIAG_CONTEXT);
    /* A cancel and a time-out have one SQLSTATE (57014), which SQL can raise, too. The function in
     * the server's source shows that the server itself has ended the statement. */
    told->interrupted = function != NULL && strcmp(function, "ProcessInterrupts") == 0;
    told->raised = db_raised(result);
    told->position = position ? atoi(position) : 0;
    str_clear(&told->inside);
    if (query != NULL && internal != NULL) {
        str_text(&told->inside, "QUERY ");
        db_told_place(&told->inside, query, 0, atoi(internal));
    }
}

void db_told_notice(struct db_told *told, const char *severity, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    STR_AUTO line = {0};
    str_format(&line, "%s: ", severity);
    utf8_add(&line, text, strlen(text), DB_TOLD_MOST);
    if (detail != NULL) {
        str_text(&line, "\nDETAIL: ");
        utf8_add(&line, detail, strlen(detail), DB_TOLD_MOST);
    }
    add_notice(told, line.data, line.len);
    /* 42622 identifier too long, 22P06 backslash in a string: the lexer warns before the command
     * does anything */
    told->lexed = told->lexed ||
                  (state != NULL && (strcmp(state, "42622") == 0 || strcmp(state, "22P06") == 0));
}

void db_told_counts(struct db_told *told, int64_t rows)
{
    told->rows = rows;
}
