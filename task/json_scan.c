/* Decides whether a text is strict JSON (RFC 8259), in UTF-8, without NUL, at most 32 levels deep,
 * and records where each value begins and ends, in the order in which cJSON makes its nodes. It
 * counts depth instead of recursing, so no message can exhaust the stack. Duplicate keys and the
 * sizes of numbers are checked on the tree (json.c). */
#include "task/json_scan.h"

#include <string.h>

/** Notes the error at the current byte, and is false, so that a caller can return it. */
static bool wrong(struct json_scan *scan, const char *what)
{
    scan->wrong = what;
    return false;
}

/** The byte at i, -1 behind the end. */
static int byte_at(const struct json_scan *scan, size_t i)
{
    return i < scan->len ? scan->text[i] : -1;
}

static void skip_space(struct json_scan *scan)
{
    while (scan->at < scan->len) {
        unsigned char c = scan->text[scan->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return;
        scan->at++;
    }
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool scan_digits(struct json_scan *scan)
{
    if (!is_digit(byte_at(scan, scan->at)))
        return wrong(scan, "a digit is missing in a number");
    while (is_digit(byte_at(scan, scan->at)))
        scan->at++;
    return true;
}

static bool scan_number(struct json_scan *scan)
{
    if (byte_at(scan, scan->at) == '-')
        scan->at++;
    /* RFC 8259, section 6: int = zero / ( digit1-9 *DIGIT ). */
    if (byte_at(scan, scan->at) == '0' && is_digit(byte_at(scan, scan->at + 1)))
        return wrong(scan, "a number has a leading zero");
    if (!scan_digits(scan))
        return false;
    if (byte_at(scan, scan->at) == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    int c = byte_at(scan, scan->at);
    if (c != 'e' && c != 'E')
        return true;
    scan->at++;
    c = byte_at(scan, scan->at);
    if (c == '+' || c == '-')
        scan->at++;
    return scan_digits(scan);
}

static bool scan_word(struct json_scan *scan, const char *word)
{
    size_t n = strlen(word);
    if (scan->len - scan->at < n || memcmp(scan->text + scan->at, word, n) != 0)
        return wrong(scan, "no JSON value starts here");
    scan->at += n;
    return true;
}

/** The length of the UTF-8 sequence at at, 0 if it is none (RFC 3629: no overlong form, no
 * surrogate, <= U+10FFFF). */
static size_t utf8_length(const struct json_scan *scan)
{
    int c = byte_at(scan, scan->at);
    int second = byte_at(scan, scan->at + 1);
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    /* The second byte has a smaller range behind four first bytes (RFC 3629, section 4): E0 and F0
     * would else begin an overlong form, ED a surrogate, F4 a value above U+10FFFF. */
    int least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    int most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most)
        return 0;
    for (size_t i = 2; i < n; i++) {
        int next = byte_at(scan, scan->at + i);
        if (next < 0x80 || next > 0xbf)
            return 0;
    }
    return n;
}

/** The code unit of four hexadecimal digits at i, -1 if they are not. */
static int hex4(const struct json_scan *scan, size_t i)
{
    int unit = 0;
    for (size_t end = i + 4; i < end; i++) {
        int c = byte_at(scan, i);
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/** at is on a backslash. */
static bool scan_escape(struct json_scan *scan)
{
    int c = byte_at(scan, scan->at + 1);
    if (c != 'u') {
        if (c <= 0 || strchr("\"\\/bfnrt", c) == NULL)
            return wrong(scan, "a backslash is followed by a character that it cannot escape");
        scan->at += 2;
        return true;
    }
    int unit = hex4(scan, scan->at + 2);
    if (unit < 0)
        return wrong(scan, "\\u is not followed by four hexadecimal digits");
    if (unit == 0)
        return wrong(scan, "\\u0000 is not allowed, PostgreSQL cannot store it");
    /* A pair of escapes is one character (RFC 8259, section 7); PostgreSQL refuses half of one in
     * jsonb. */
    if (unit >= 0xd800 && unit <= 0xdfff) {
        bool pair = unit <= 0xdbff && byte_at(scan, scan->at + 6) == '\\' &&
                    byte_at(scan, scan->at + 7) == 'u';
        int low = pair ? hex4(scan, scan->at + 8) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return wrong(scan, "a \\u surrogate is alone");
        scan->at += 6;
    }
    scan->at += 6;
    return true;
}

/** Steps over plain ASCII in a string, which is nearly all of most messages. */
static void skip_plain(struct json_scan *scan)
{
    const unsigned char *at = scan->text + scan->at, *end = scan->text + scan->len;
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    scan->at = (size_t)(at - scan->text);
}

/** at is on the opening quote. */
static bool scan_string(struct json_scan *scan)
{
    for (scan->at++; scan->at < scan->len;) {
        skip_plain(scan);
        int c = byte_at(scan, scan->at);
        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c == -1)
            break;
        if (c == '\\') {
            if (!scan_escape(scan))
                return false;
        } else if (c < 0x20) {
            return wrong(scan, c == 0 ? "there is a NUL byte in a string"
                                      : "a control character in a string is not escaped");
        } else {
            size_t n = utf8_length(scan);
            if (n == 0)
                return wrong(scan, "a string is not valid UTF-8");
            scan->at += n;
        }
    }
    return wrong(scan, "the text ends inside a string");
}

/** The innermost open container is an object. Its span says so, so no second stack is needed. */
static bool in_object(const struct json_scan *scan)
{
    return scan->text[scan->spans[scan->open[scan->depth - 1]].start] == '{';
}

/** Scans `"key" :` and leaves at on the value. */
static bool scan_key(struct json_scan *scan)
{
    skip_space(scan);
    if (byte_at(scan, scan->at) != '"')
        return wrong(scan, "a key in quotes is missing");
    if (!scan_string(scan))
        return false;
    skip_space(scan);
    if (byte_at(scan, scan->at) != ':')
        return wrong(scan, "a colon is missing behind a key");
    scan->at++;
    return true;
}

/** The first byte decides the kind of the value (RFC 8259, section 3). */
static bool scan_scalar(struct json_scan *scan)
{
    int c = byte_at(scan, scan->at);
    if (c == '"')
        return scan_string(scan);
    if (c == '-' || is_digit(c))
        return scan_number(scan);
    if (c == 't')
        return scan_word(scan, "true");
    if (c == 'f')
        return scan_word(scan, "false");
    if (c == 'n')
        return scan_word(scan, "null");
    if (c == 0xef && byte_at(scan, scan->at + 1) == 0xbb)
        return wrong(scan, "there is a byte order mark");
    return wrong(scan,
                 c == -1 ? "the text ends where a value is missing" : "no JSON value starts here");
}

/** Scans a scalar, or enters a container; *ret_entered says that its first value comes next. */
static bool scan_value(struct json_scan *scan, bool *ret_entered)
{
    skip_space(scan);
    *ret_entered = false;
    /* The span is taken before the value is scanned, so a container comes before its values, as in
     * cJSON. */
    uint32_t span = scan->count++;
    scan->spans[span].start = (uint32_t)scan->at;
    int c = byte_at(scan, scan->at);
    if (c != '{' && c != '[') {
        if (!scan_scalar(scan))
            return false;
        scan->spans[span].end = (uint32_t)scan->at;
        return true;
    }
    if (scan->depth == JSON_MAX_DEPTH)
        return wrong(scan, "values are nested deeper than 32 levels");
    scan->open[scan->depth++] = span;
    scan->at++;
    skip_space(scan);
    if (byte_at(scan, scan->at) == (c == '{' ? '}' : ']'))
        return true; /* leave_containers closes it */
    *ret_entered = true;
    return c == '[' || scan_key(scan);
}

/** After a value: closes what closes, then steps over a comma (and the next key) if there is one.
 */
static bool leave_containers(struct json_scan *scan)
{
    while (scan->depth > 0) {
        skip_space(scan);
        int c = byte_at(scan, scan->at);
        bool object = in_object(scan);
        if (c == ',') {
            /* an empty container is here only before its closing bracket, so this follows a
             * value */
            scan->at++;
            return !object || scan_key(scan);
        }
        if (c != (object ? '}' : ']'))
            return wrong(scan, c == -1  ? "the text ends inside an object or array"
                               : object ? "a comma or } is missing"
                                        : "a comma or ] is missing");
        scan->at++;
        scan->spans[scan->open[--scan->depth]].end = (uint32_t)scan->at;
    }
    return true;
}

bool json_scan(struct json_scan *scan)
{
    do {
        bool entered = false;
        if (!scan_value(scan, &entered))
            return false;
        if (!entered && !leave_containers(scan))
            return false;
    } while (scan->depth > 0);
    /* Only white space may follow: a second value would be lost silently. */
    skip_space(scan);
    return scan->at == scan->len || wrong(scan, "there is more text behind the value");
}
