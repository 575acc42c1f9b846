/* Rules of HTTP for names and values of headers (RFC 9110, 5.6.2 and 5.5), and the headers that
 * frame a request: a task that set them could smuggle a second request into the connection. */
#include "task/header.h"

#include "base/ascii.h"

#include <string.h>

bool header_name_valid(const char *name)
{
    static const char token_chars[] =
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return *name != '\0' && name[strspn(name, token_chars)] == '\0';
}

bool header_value_valid(const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++)
        if ((*c < ' ' && *c != '\t') || *c == 0x7f)
            return false;
    return true;
}

bool header_frames(const char *name)
{
    /* libcurl makes these itself, from the URL, the body and the connection (RFC 9112, section 6).
     */
    static const char *const names[] = {"Host",       "Content-Length", "Transfer-Encoding",
                                        "Connection", "Expect",         "Upgrade"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ascii_same(name, names[i]))
            return true;
    return false;
}
