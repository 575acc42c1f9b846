/**
 * What: letters, digits and white space of ASCII, and comparison without case.
 * Invariants: the locale plays no part. A Turkish one does not make an I of an i, so that toupper
 *   let "commit" through; tests/unit/ascii.sh keeps the functions of <ctype.h> and strcasecmp out
 *   of all folders.
 * Threads: any; pure functions.
 * Ownership: nothing.
 * Failure: none. A byte of 128 and above is nothing of all this and is its own capital.
 */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline bool ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_alnum(char c)
{
    return ascii_alpha(c) || ascii_digit(c);
}

static inline bool ascii_xdigit(char c)
{
    return ascii_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/** What a hexadecimal digit stands for. */
static inline int ascii_nibble(char digit)
{
    return ascii_digit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/** The byte that two hexadecimal digits stand for. */
static inline char ascii_byte(const char *digits)
{
    return (char)(ascii_nibble(digits[0]) << 4 | ascii_nibble(digits[1]));
}

/** Blank, tab, line feed, vertical tab, form feed, carriage return. */
static inline bool ascii_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/** The first len bytes are equal but for case, or both texts end before at the same place. */
static inline bool ascii_same_start(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (ascii_lower(a[i]) != ascii_lower(b[i]))
            return false;
        if (a[i] == '\0')
            return true;
    }
    return true;
}

/** Equal but for case. */
static inline bool ascii_same(const char *a, const char *b)
{
    return ascii_same_start(a, b, (size_t)-1);
}

#endif
