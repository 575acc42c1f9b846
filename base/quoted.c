/* Names between double quotes. An administrator pastes a hint as it is printed, so a login that is
 * named we"ird must not end the name early. */
#include "base/quoted.h"

#include "base/utf8.h"

#include <string.h>

const char *quoted(char to[QUOTED_SIZE], const char *name)
{
    char *end = to;
    size_t len = utf8_fit(name, strlen(name), QUOTED_NAME);
    *end++ = '"';
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '"')
            *end++ = '"';
        *end++ = name[i];
    }
    *end++ = '"';
    *end = '\0';
    return to;
}
