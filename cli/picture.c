/* What both forms of the picture need: members of the document, escaped text, times in words. Names
 * come from users, so everything that is written passes picture_text.
 *
 * Numbers of the document may be missing (a phase that has not begun has no start); each caller
 * says the value that it gets then, usually PICTURE_NONE, which is a NaN. */
#include "cli/picture.h"

#include <math.h>

double picture_number(const cJSON *object, const char *name, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

const char *picture_word(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* Bytes of the character at text, which PostgreSQL has checked to be UTF-8. */
static int length_of(const char *text)
{
    unsigned char c = (unsigned char)*text;
    int needed = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, length = 1;
    while (length < needed && ((unsigned char)text[length] & 0xc0) == 0x80)
        length++;
    return length;
}

/* Control characters, those that turn the direction of a line, and those that XML forbids. */
static bool is_hidden(const char *text, int length)
{
    const unsigned char *c = (const unsigned char *)text;
    /* C0 controls and DEL. */
    if (length == 1)
        return c[0] < 0x20 || c[0] >= 0x7f;
    /* C1 controls: U+0080 to U+009F. */
    if (length == 2)
        return c[0] == 0xc2 && c[1] < 0xa0;
    /* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069; below: U+FFFE and U+FFFF (XML 1.0,
     * section 2.2). */
    if (length == 3 && c[0] == 0xe2)
        return (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae))) ||
               (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
    return length == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
}

void picture_text(struct str *out, const char *text, int most)
{
    for (int n = 0; *text != '\0'; n++) {
        int length = length_of(text);
        if (n == most - 1 && text[length] != '\0') {
            str_text(out, "…");
            return;
        }
        switch (*text) {
        case '<':
            str_text(out, "&lt;");
            break;
        case '>':
            str_text(out, "&gt;");
            break;
        case '&':
            str_text(out, "&amp;");
            break;
        case '"':
            str_text(out, "&quot;");
            break;
        case '\'':
            str_text(out, "&#39;");
            break;
        default:
            if (is_hidden(text, length))
                str_text(out, "\xef\xbf\xbd");
            else
                str_add(out, text, (size_t)length);
        }
        text += length;
    }
}

static void two_units(struct str *out, long long seconds, int large, const char *large_name,
                      int small, const char *small_name)
{
    str_format(out, "%lld %s", seconds / large, large_name);
    if (seconds % large / small > 0)
        str_format(out, " %lld %s", seconds % large / small, small_name);
}

void picture_seconds(struct str *out, double seconds)
{
    long long whole = llround(seconds);
    if (seconds < 0.0009995)
        str_format(out, "%.3g µs", seconds * 1e6);
    else if (seconds < 0.9995)
        str_format(out, "%.3g ms", seconds * 1e3);
    else if (seconds < 99.95)
        str_format(out, "%.3g s", seconds);
    else if (whole < 7200)
        two_units(out, whole, 60, "min", 1, "s");
    else if (whole < 172800)
        two_units(out, whole, 3600, "h", 60, "min");
    else
        two_units(out, whole, 86400, "d", 3600, "h");
}

double picture_length(const cJSON *document)
{
    const cJSON *phase;
    double length = picture_number(document, "length_s", 0);
    cJSON_ArrayForEach(phase, cJSON_GetObjectItemCaseSensitive(document, "phases"))
    {
        length = fmax(length, picture_number(phase, "end_s", 0));
    }
    /* Never 0, which the scale divides by. */
    return fmax(length, 1e-6);
}
