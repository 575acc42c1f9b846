/* The output of a program or a server as text that PostgreSQL stores: valid UTF-8, no NUL, bounded,
 * with a note where it was cut. */
#include "action/text.h"
#include "base/utf8.h"

/* U+FFFD, as Unicode recommends for bytes that are no character. */
#define REPLACEMENT "\xef\xbf\xbd"

static void add_stored(struct str *out, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t good = utf8_prefix(bytes, len);
        str_add(out, bytes, good);
        if (good < len) {
            str_text(out, REPLACEMENT);
            good++;
        }
        bytes += good;
        len -= good;
    }
}

/* The length without a character that the limit has cut in two. Only for a text that was cut: a
 * wrong byte at the end of a whole text becomes U+FFFD. */
static size_t whole(const char *bytes, size_t len)
{
    size_t back = 0;
    while (back < 3 && back < len && ((unsigned char)bytes[len - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back < len && ((unsigned char)bytes[len - 1 - back] & 0xc0) == 0xc0 &&
        utf8_prefix(bytes + len - 1 - back, back + 1) == 0)
        return len - 1 - back;
    return len;
}

void action_text(struct str *out, const char *bytes, size_t len, uint64_t total)
{
    str_text(out, "");
    add_stored(out, bytes, total > len ? whole(bytes, len) : len);
    if (total == ACTION_MORE)
        str_format(out, "\n[cut after %zu bytes]", len);
    else if (total > len)
        str_format(out, "\n[cut: %zu of %llu bytes]", len, (unsigned long long)total);
}

void action_text_tail(struct str *out, const char *bytes, size_t len, uint64_t total)
{
    str_text(out, "");
    if (total > len)
        str_format(out, "[the last %zu of %llu bytes]\n", len, (unsigned long long)total);
    for (int i = 0; total > len && i < 3 && len > 0 && ((unsigned char)*bytes & 0xc0) == 0x80;
         i++) {
        bytes++;
        len--;
    }
    add_stored(out, bytes, len);
}
