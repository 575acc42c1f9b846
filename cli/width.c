/* Widths of text on a terminal, by utf8proc's tables and not by wcwidth(3), which depends on the
 * locale; and text that cannot steer a terminal: everything that comes from users passes
 * width_clean before it is printed.
 *
 * A name may contain an escape sequence that clears a terminal or fakes a line, and names come from
 * messages of other programs. Print such text by width_print or by a table. */
#include "cli/width.h"

#include <string.h>
#include <utf8proc.h>

/* The next character of text; *ret_point is -1 for a byte that is no part of one. */
static size_t next(const char *text, utf8proc_int32_t *ret_point)
{
    utf8proc_ssize_t len = utf8proc_iterate((const utf8proc_uint8_t *)text,
                                            (utf8proc_ssize_t)strnlen(text, 4), ret_point);
    if (len > 0)
        return (size_t)len;
    *ret_point = -1;
    return 1;
}

/* A byte that is no part of a character counts as one column; width_clean prints it as \xNN before
 * anything is cut. */
static int columns_of(utf8proc_int32_t point)
{
    return point < 0 ? 1 : utf8proc_charwidth(point);
}

int width_of(const char *text)
{
    int columns = 0;
    while (*text != '\0') {
        utf8proc_int32_t point;
        text += next(text, &point);
        columns += columns_of(point);
    }
    return columns;
}

size_t width_fit(const char *text, int columns)
{
    const char *at = text;
    int used = 0;
    while (*at != '\0') {
        utf8proc_int32_t point;
        size_t len = next(at, &point);
        used += columns_of(point);
        /* A combining mark has no width, so it is taken with its letter. The first character is
         * always taken. */
        if (used > columns && at > text)
            break;
        at += len;
    }
    return (size_t)(at - text);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Controls, separators of lines, surrogates, and the marks that turn the direction of writing
 * (Unicode TR 36). */
static bool is_unsafe(utf8proc_int32_t point)
{
    utf8proc_category_t category = utf8proc_category(point);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_CS ||
           (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
           point == 0x200e || point == 0x200f || point == 0x061c;
}

void width_clean(struct str *out, const char *text, bool lines)
{
    while (*text != '\0') {
        utf8proc_int32_t point;
        if (!lines && is_blank(*text)) {
            while (is_blank(*text))
                text++;
            if (out->len > 0 && *text != '\0')
                str_text(out, " ");
            continue;
        }
        size_t len = next(text, &point);
        if (lines && (*text == '\n' || *text == '\t'))
            str_text(out, *text == '\n' ? "\n" : "    ");
        else if (point < 0 || (is_unsafe(point) && point < 0x80))
            str_format(out, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (is_unsafe(point))
            str_format(out, "\\u%04x", (unsigned)point);
        else
            str_add(out, text, len);
        text += len;
    }
}

void width_print(FILE *out, const char *text, bool lines)
{
    STR_AUTO clean = {0};
    width_clean(&clean, text, lines);
    if (clean.len > 0)
        (void)fwrite(clean.data, 1, clean.len, out);
}

void width_cut(struct str *out, const char *text, int columns, const char *ellipsis)
{
    if (width_of(text) <= columns) {
        str_text(out, text);
        return;
    }
    int room = columns - (int)width_of(ellipsis);
    size_t len = room > 0 ? width_fit(text, room) : 0;
    STR_AUTO kept = {0};
    str_add(&kept, text, len);
    str_format(out, "%s%s", width_of(kept.data) <= room ? kept.data : "", ellipsis);
}
