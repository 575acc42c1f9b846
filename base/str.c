/* Memory and growing strings. Out of memory ends the process: no promise rests on its survival, and
 * a path that handles a failed malloc in the middle of a transaction would be tested by nothing but
 * tests/e2e/inject.sh. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL 1024 /* bytes, and elements */

static void *had(void *memory)
{
    if (memory == NULL) {
        (void)fputs("lockstep: out of memory: it ends here, and nothing is lost; start it again\n",
                    stderr);
        /* EX_SOFTWARE of sysexits(3). _exit(): handlers of exit() might allocate. */
        _exit(70);
    }
    return memory;
}

void *xmalloc(size_t size)
{
    /* malloc(0) may return NULL (C17, 7.22.3), which is not a lack of memory. */
    return had(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
    if (count > SMALL || size > SMALL || count * size > SMALL)
        return had(calloc(count ? count : 1, size ? size : 1));
    /* glibc's calloc passes over the cache of the thread, malloc does not */
    return memset(xmalloc(count * size), 0, count * size);
}

void *xrealloc(void *old, size_t count, size_t size)
{
    return had(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *text)
{
    return had(strdup(text));
}

/** For the cleanup attribute, which passes the address of the variable. The copy avoids a cast
 * between pointer types (C17, 6.5: aliasing). */
void free_pointer(void *address_of_pointer)
{
    void *memory;
    memcpy(&memory, address_of_pointer, sizeof memory);
    free(memory);
}

static void reserve(struct str *str, size_t more)
{
    if (str->len + more < str->cap)
        return;
    size_t cap = str->cap ? str->cap : 64;
    /* Doubling: appending n bytes one by one copies fewer than 2n. One byte is for the NUL. */
    while (cap <= str->len + more)
        cap *= 2;
    str->data = xrealloc(str->data, cap, 1);
    str->cap = cap;
}

void str_add(struct str *str, const char *bytes, size_t len)
{
    reserve(str, len);
    if (len > 0)
        memcpy(str->data + str->len, bytes, len);
    str->len += len;
    str->data[str->len] = '\0';
}

void str_text(struct str *str, const char *text)
{
    str_add(str, text, strlen(text));
}

const char *int64_text(char buffer[INT64_TEXT_SIZE], int64_t value)
{
    char *at = buffer + INT64_TEXT_SIZE - 1;
    /* Unsigned, because -INT64_MIN does not fit into int64_t. */
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        *--at = '-';
    return at;
}

void str_int(struct str *str, int64_t value)
{
    str_text(str, int64_text((char[INT64_TEXT_SIZE]){0}, value));
}

void str_format(struct str *str, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    /* Twice: the first pass only counts (C17, 7.21.6.12). An argument list can be read once, so it
     * is copied. */
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n > 0) {
        reserve(str, (size_t)n);
        (void)vsnprintf(str->data + str->len, (size_t)n + 1, fmt, again);
        str->len += (size_t)n;
    }
    va_end(again);
}

void str_cut(struct str *str, size_t len)
{
    str->data[len] = '\0';
    str->len = len;
}

void str_clear(struct str *str)
{
    str->len = 0;
    if (str->data != NULL)
        str->data[0] = '\0';
}

void str_done(struct str *str)
{
    free(str->data);
    *str = (struct str){0};
}

bool int64_parse(const char *text, size_t len, int64_t *ret_value)
{
    size_t at = len > 0 && text[0] == '-';
    /* JSON's spelling of integers: no leading zero, no plus, no blank. 20 bytes: a sign and 19
     * digits. */
    if (len == at || len > 20 || (text[at] == '0' && len > at + 1))
        return false;
    uint64_t limit = (uint64_t)INT64_MAX + at, value = 0;
    for (size_t i = at; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        /* Checked before the step, so that value never wraps around. */
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = at ? (int64_t)(~value + 1) : (int64_t)value;
    return true;
}
