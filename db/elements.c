/* Reads arrays of numbers and UUIDs only: their elements have no quotes, commas or braces, so no
 * parser of array literals is needed. */
#include "db/elements.h"

#include <stdbool.h>
#include <string.h>

#define NULL_ELEMENT "NULL" /* as PostgreSQL writes it */

int elements_count(const char *array)
{
    int count = array[0] == '{' && array[1] != '}';
    for (const char *at = array; *at != '\0'; at++)
        count += *at == ',';
    return count;
}

const char *elements_next(const char *at, char *to, size_t size)
{
    /* At the brace before the first element, or at the comma before any other. */
    at += *at == '{' || *at == ',';
    size_t n = strcspn(at, ",}");
    bool null = n == strlen(NULL_ELEMENT) && strncmp(at, NULL_ELEMENT, n) == 0;
    size_t keep = null ? 0 : n < size ? n : size - 1;
    memcpy(to, at, keep);
    to[keep] = '\0';
    return at + n;
}
