/* UTF-8 as RFC 3629 has it, which is also the set that PostgreSQL accepts in a UTF8 database. Texts
 * of fixed size are cut between characters. utf8_prefix() is the one judge; all else mends or cuts
 * by it. A byte that is no UTF-8 becomes a question mark (utf8_mend) or its hexadecimal code
 * (utf8_escape), so that a reader sees that it was there; only a character that the end cuts off is
 * dropped. */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t utf8_prefix(const char *text, size_t len)
{
    const unsigned char *b = (const unsigned char *)text;
    size_t i = 0;
    while (i < len) {
        if (b[i] < 0x80) {
            /* PostgreSQL cannot store a NUL in a text. */
            if (b[i] == 0)
                return i;
            i++;
            continue;
        }
        size_t more = b[i] < 0xc2 ? 0 : b[i] < 0xe0 ? 1 : b[i] < 0xf0 ? 2 : b[i] < 0xf5 ? 3 : 0;
        /* A byte that cannot begin a character, or a character that the end cuts off. */
        if (more == 0 || len - i <= more)
            return i;
        /* no overlong form, no surrogate, nothing above U+10FFFF */
        unsigned char least = b[i] == 0xe0 ? 0xa0 : b[i] == 0xf0 ? 0x90 : 0x80;
        unsigned char most = b[i] == 0xed ? 0x9f : b[i] == 0xf4 ? 0x8f : 0xbf;
        if (b[i + 1] < least || b[i + 1] > most)
            return i;
        for (size_t k = 2; k <= more; k++)
            if ((b[i + k] & 0xc0) != 0x80)
                return i;
        i += more + 1;
    }
    return len;
}

/* Three steps back at most: a character has four bytes, and bytes that are no UTF-8 must not be
 * walked to their beginning. */
size_t utf8_fit(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    size_t n = most;
    while (n > 0 && most - n < 3 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/** A beginning of a character that the end of the text cuts off. */
static bool cut_off(const char *text, size_t len)
{
    unsigned char first = (unsigned char)text[0];
    size_t whole = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (first >= 0xf5 || len >= whole)
        return false;
    for (size_t i = 1; i < len; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return false;
    return true;
}

/** In place and never longer, so it needs no memory: a cut-off last character is removed, any other
 * wrong byte becomes a question mark. */
void utf8_mend(char *text)
{
    size_t len = strlen(text), at = 0;
    while ((at += utf8_prefix(text + at, len - at)) < len) {
        if (cut_off(text + at, len - at)) {
            text[at] = '\0';
            return;
        }
        text[at++] = '?';
    }
}

void utf8_copy(char *to, size_t size, const char *text)
{
    size_t len = utf8_fit(text, strnlen(text, size), size - 1);
    /* memmove: text may be a part of to. */
    memmove(to, text, len);
    to[len] = '\0';
    utf8_mend(to);
}

void utf8_vformat(char *to, size_t size, const char *fmt, va_list ap)
{
    if (vsnprintf(to, size, fmt, ap) < 0)
        to[0] = '\0';
    utf8_mend(to);
}

void utf8_format(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    utf8_vformat(to, size, fmt, ap);
    va_end(ap);
}

void utf8_add(struct str *str, const char *text, size_t len, size_t most)
{
    size_t from = str->len, keep = utf8_fit(text, strnlen(text, len), most);
    str_add(str, text, keep);
    utf8_mend(str->data + from);
    /* utf8_mend() may have removed a last character. */
    str_cut(str, from + strlen(str->data + from));
}

void utf8_escape(struct str *str, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        size_t good = utf8_prefix(text, len);
        str_add(str, text, good);
        text += good;
        len -= good;
        if (len == 0)
            break;
        str_format(str, "\\x%02x", (unsigned char)*text);
        text++;
        len--;
    }
}
