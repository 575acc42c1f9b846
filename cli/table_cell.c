/* One value as JSON or CSV. Types decide quotes; a value that its type does not fit (NaN, infinity)
 * becomes a text, so that the document stays valid.
 *
 * Text is written as it is stored, in UTF-8; nothing is cut or cleaned here, because a program
 * reads it. */
#include "cli/table_cell.h"

#include "base/ascii.h"

#include "cli/table.h"

#include <string.h>

void table_json_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            (void)fprintf(out, "\\%c", c);
        else if (c == '\n')
            (void)fputs("\\n", out);
        else if (c < 0x20 || c == 0x7f)
            (void)fprintf(out, "\\u%04x", c);
        else
            (void)fputc(c, out);
    }
    (void)fputc('"', out);
}

/* "2024-05-06 07:08:09.5+02" of PostgreSQL becomes "2024-05-06T07:08:09.5+02:00"; anything else
 * stays as it is. */
static const char *rfc3339(const char *cell, char text[64])
{
    size_t n = strlen(cell);
    if (n < 20 || n > 60 || cell[10] != ' ')
        return cell;
    memcpy(text, cell, n + 1);
    text[10] = 'T';
    if (text[n - 3] == '+' || text[n - 3] == '-')
        memcpy(text + n, ":00", 4);
    return text;
}

/* JSON's own grammar for numbers: NaN and Infinity become text. */
static int is_json_number(const char *cell)
{
    const char *at = cell + (*cell == '-');
    if (!ascii_digit(*at))
        return 0;
    return strspn(at, "0123456789.eE+-") == strlen(at);
}

void cell_json(FILE *out, char type, const char *cell)
{
    char text[64];
    if (cell == NULL)
        (void)fputs("null", out);
    else if (type == 'b')
        (void)fputs(*cell == 't' ? "true" : "false", out);
    else if (type == 'j' || (type == 'i' && is_json_number(cell)))
        (void)fputs(cell, out);
    else if (type == 'z')
        table_json_text(out, rfc3339(cell, text));
    else
        table_json_text(out, cell);
}

void cell_csv_row(FILE *out, const char *types, const char *const *cells, int columns)
{
    char text[64];
    for (int i = 0; i < columns; i++) {
        const char *cell = cells[i] ? cells[i] : "";
        if (types != NULL && types[i] == 'z')
            cell = rfc3339(cell, text);
        if (i > 0)
            (void)fputc(',', out);
        /* An empty text is quoted, so that it differs from NULL. */
        if (cells[i] == NULL ||
            (*cell != '\0' && strpbrk(cell, ",\"\r\n") == NULL && *cell != ' ')) {
            (void)fputs(cell, out);
            continue;
        }
        (void)fputc('"', out);
        for (; *cell != '\0'; cell++) {
            if (*cell == '"')
                (void)fputc('"', out);
            (void)fputc(*cell, out);
        }
        (void)fputc('"', out);
    }
    /* RFC 4180, section 2: lines end with CRLF. */
    (void)fputs("\r\n", out);
}
