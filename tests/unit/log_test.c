/* A line of the log is whole, however long its values are. */
#include "base/log.h"
#include "base/str.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LONGEST_LINE 4096

static char line[LONGEST_LINE + 100];

/* Its length; the line itself is in line. */
static size_t logged(bool json, const char *value)
{
    int ends[2], before = dup(STDERR_FILENO);
    assert_true(before >= 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    log_configure(LOG_INFO, json);
    log_event(LOG_INFO, "happens", "long", value, "after", "\"b\"", NULL);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    (void)close(before);
    (void)close(ends[1]);
    ssize_t len = read(ends[0], line, sizeof line - 1);
    (void)close(ends[0]);
    assert_in_range(len, 1, LONGEST_LINE);
    line[len] = '\0';
    return (size_t)len;
}

/* One object with strings as names and values, as start_line() and put_pair() make it. */
static bool is_json(const char *at)
{
    bool first = true;
    if (*at++ != '{')
        return false;
    for (; *at != '}'; first = false) {
        if (!first && *at++ != ',')
            return false;
        for (int part = 0; part < 2; part++) {
            if (part == 1 && *at++ != ':')
                return false;
            if (*at++ != '"')
                return false;
            for (; *at != '"'; at++) {
                if ((unsigned char)*at < 0x20)
                    return false;
                if (*at == '\\' && (*++at == '\0' || strchr("\"\\nu", *at) == NULL))
                    return false;
                if (*at == 'u' && at[-1] == '\\' && strspn(at + 1, "0123456789abcdef") < 4)
                    return false;
            }
            at++;
        }
    }
    return strcmp(at, "}\n") == 0;
}

static void a_long_line_is_cut_within_its_value(void **state)
{
    (void)state;
    static const char *const characters[] = {
        "a", "\"", "\n", "\x01", "\xc3\xa9", "\xc2\x85", "\xf0\x9f\x98\x80"};
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        for (size_t extra = 0; extra < 12; extra++) {
            STR_AUTO value = {0};
            str_add(&value, "            ", extra);
            while (value.len < 5000)
                str_text(&value, characters[i]);
            size_t len = logged(true, value.data);
            if (!is_json(line) || utf8_prefix(line, len) != len)
                fail_msg("character %zu, extra %zu: ...%s", i, extra, line + len - 60);
            assert_true(len > LONGEST_LINE - 16);
            len = logged(false, value.data);
            assert_int_equal(utf8_prefix(line, len), len);
            assert_int_equal(line[len - 1], '\n');
        }
    /* at each length around the limit: the field behind it fits or is left out */
    for (size_t n = LONGEST_LINE - 150; n < LONGEST_LINE; n++) {
        STR_AUTO value = {0};
        while (value.len < n)
            str_text(&value, "a");
        (void)logged(true, value.data);
        if (!is_json(line))
            fail_msg("%zu: ...%s", n, line + strlen(line) - 60);
        (void)logged(false, value.data);
        assert_int_equal(line[strlen(line) - 1], '\n');
    }
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        (void)logged(json != 0, "\x1b[2J\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0\xc3\x80");
        assert_non_null(strstr(line, "\"\\u001b[2J\\u007f\\u0080\\u009b\\u009f\xc2\xa0\xc3\x80\""));
        (void)logged(json != 0, "a\xc2\x9b");
        assert_non_null(strstr(line, "\"a\\u009b\""));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_line_is_cut_within_its_value),
        cmocka_unit_test(control_characters_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
