/* Tokens of PostgreSQL's SQL (manual, 4.1 Lexical Structure), as far as statement.c needs them:
 * where strings, quoted names, comments and dollar quotes end. Operators and numbers are one kind
 * of token, and nothing is known of the grammar. standard_conforming_strings is on in every session
 * (db/packet.c), so a backslash escapes only in E'...'. */
#include "task/lexer.h"

#include "base/ascii.h"

#include <string.h>

/** As scan.l has it (ident_start): every byte above 127 may be in an identifier. */
static bool starts_word(char c)
{
    return ascii_alpha(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool continues_word(char c)
{
    return starts_word(c) || ascii_digit(c);
}

bool lexer_is_space(char c)
{
    return c != '\0' && strchr(" \t\n\r\f\v", c) != NULL;
}

static const char *line_end(const char *at)
{
    return at + strcspn(at, "\r\n");
}

/** Behind a comment with comments nested in it, NULL if it has no end. */
static const char *comment_end(const char *at)
{
    size_t depth = 0;
    do {
        if (at[0] == '/' && at[1] == '*') {
            depth++;
            at += 2;
        } else if (at[0] == '*' && at[1] == '/') {
            depth--;
            at += 2;
        } else if (*at++ == '\0') {
            return NULL;
        }
    } while (depth > 0);
    return at;
}

/** False if a comment has no end. */
static bool skip_space(struct lexer *lexer)
{
    for (;;) {
        const char *at = lexer->at;
        if (lexer_is_space(*at)) {
            lexer->at++;
        } else if (at[0] == '-' && at[1] == '-') {
            lexer->at = line_end(at);
        } else if (at[0] == '/' && at[1] == '*') {
            lexer->at = comment_end(at);
            if (lexer->at == NULL) {
                lexer->at = at;
                lexer->unclosed = "comment";
                return false;
            }
        } else {
            return true;
        }
    }
}

/** Behind the closing quote (a doubled one does not close), NULL if there is none. at is on the
 * opening one. */
static const char *quote_end(const char *at, bool backslashes)
{
    char quote = *at++;
    for (;; at++) {
        if (*at == '\0')
            return NULL;
        if (*at == '\\' && backslashes) {
            if (*++at == '\0')
                return NULL;
        } else if (*at == quote) {
            if (at[1] != quote)
                return at + 1;
            at++;
        }
    }
}

/** A literal continues in the next line: the quote that continues it, NULL if it ends at at. */
static const char *continuation(const char *at)
{
    /* Two literals are one only if a line break is between them (manual, 4.1.2.1); a comment with
     * two dashes may be there, too. */
    bool newline = false;
    for (; lexer_is_space(*at) || (at[0] == '-' && at[1] == '-'); at++) {
        if (*at == '-')
            at = line_end(at);
        newline |= *at == '\n' || *at == '\r';
        if (*at == '\0')
            return NULL;
    }
    return newline && *at == '\'' ? at : NULL;
}

static enum token lex_quote(struct lexer *lexer, bool backslashes)
{
    bool identifier = *lexer->at == '"';
    const char *start = lexer->at, *end = NULL;
    for (const char *part = start; part != NULL;) {
        end = quote_end(part, backslashes);
        if (end == NULL) {
            lexer->unclosed = identifier ? "identifier in double quotes" : "string";
            return TOKEN_UNCLOSED;
        }
        /* Only in E'...' it matters: the continued part escapes with backslashes, too, though no E
         * is before it. Without that its quote could end at the wrong place. */
        part = backslashes ? continuation(end)
                           : NULL; /* a plain one is as well cut as a token of its own */
    }
    lexer->text = start + 1;
    lexer->len = (size_t)(end - start - 2);
    lexer->at = end;
    return identifier ? TOKEN_QUOTED : TOKEN_OTHER;
}

/** $tag$...$tag$, or a lone $ or $1. */
static enum token lex_dollar(struct lexer *lexer)
{
    const char *start = lexer->at, *at = start + 1;
    /* A tag begins as a word, so $1$ is a parameter and then a dollar. */
    if (starts_word(*at))
        while (continues_word(*at))
            at++;
    if (*at != '$') {
        lexer->at++;
        return TOKEN_OTHER;
    }
    size_t tag = (size_t)(at + 1 - start);
    for (at++; (at = strchr(at, '$')) != NULL; at++)
        if (strncmp(at, start, tag) == 0) {
            lexer->at = at + tag;
            return TOKEN_OTHER;
        }
    lexer->unclosed = "dollar-quoted string";
    return TOKEN_UNCLOSED;
}

static enum token lex_word(struct lexer *lexer)
{
    const char *start = lexer->at;
    bool escape_string = (*start == 'e' || *start == 'E') && start[1] == '\'';
    if (escape_string) {
        lexer->at++;
        return lex_quote(lexer, true);
    }
    /* A dollar may be inside a word (ident_cont of scan.l) and does not begin a quote there. */
    while (continues_word(*lexer->at) || *lexer->at == '$')
        lexer->at++;
    lexer->text = start;
    lexer->len = (size_t)(lexer->at - start);
    return TOKEN_WORD;
}

enum token lexer_next(struct lexer *lexer)
{
    if (!skip_space(lexer))
        return TOKEN_UNCLOSED;
    char c = *lexer->at;
    if (starts_word(c))
        return lex_word(lexer);
    if (c == '\'' || c == '"')
        return lex_quote(lexer, false);
    if (c == '$')
        return lex_dollar(lexer);
    if (c == '\0')
        return TOKEN_END;
    lexer->at++;
    if (ascii_digit(c)) /* so that the e of 1e5 starts no word */
        while (continues_word(*lexer->at) || *lexer->at == '.')
            lexer->at++;
    return c == '('   ? TOKEN_OPEN
           : c == ')' ? TOKEN_CLOSE
           : c == ';' ? TOKEN_SEMICOLON
                      : TOKEN_OTHER;
}
