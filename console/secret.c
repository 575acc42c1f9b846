/* 256 random bits as 64 hexadecimal digits, which a cookie, a header and a URL take as they are.
 * The database stores no secret, only hashes of tokens; cookies live in memory
 * (console/sessions.c). */
#include "console/secret.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

void secret_new(char secret[SECRET_SIZE])
{
    unsigned char bytes[SECRET_SIZE / 2];
    size_t len = 0;
    while (len < sizeof bytes) {
        /* It blocks only before the kernel's generator is seeded, early after boot, and may return
         * fewer bytes when a signal comes. */
        ssize_t n = getrandom(bytes + len, sizeof bytes - len, 0);
        len += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
}

bool secret_fits(const char *text)
{
    return strspn(text, "0123456789abcdef") == SECRET_SIZE - 1 && text[SECRET_SIZE - 1] == '\0';
}

bool secret_same(const char *secret, const char *given)
{
    size_t len = strlen(secret);
    unsigned differ = len == 0 || strlen(given) != len;
    for (size_t i = 0; !differ && i < len; i++)
        /* No early return: the time of an answer must not show how many digits of a guess were
         * right. Only the length shows, and that is public. */
        differ |= (unsigned char)(secret[i] ^ given[i]);
    return differ == 0;
}
