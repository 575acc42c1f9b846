/* Text that is cut stays UTF-8, at every place of the cut and after every text. */
#include "base/err.h"
#include "base/utf8.h"
#include "task/json.h"
#include "task/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool clean(const char *text)
{
    return utf8_prefix(text, strlen(text)) == strlen(text);
}

/* One, two, three and four bytes. */
static const char *const letters[] = {"x", "\xd0\xbb", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

static void a_copy_is_cut_between_characters(void **state)
{
    (void)state;
    for (size_t l = 0; l < 4; l++) {
        char text[64] = "", to[40];
        while (strlen(text) + strlen(letters[l]) < sizeof text)
            strcat(text, letters[l]);
        for (size_t size = 1; size <= sizeof to; size++) {
            size_t room = (size - 1) / strlen(letters[l]) * strlen(letters[l]);
            utf8_copy(to, size, text);
            assert_int_equal(strlen(to), room);
            assert_int_equal(utf8_fit(text, strlen(text), size - 1), room);
            utf8_format(to, size, "%s", text);
            assert_int_equal(strlen(to), room);
            STR_AUTO str = {0};
            str_text(&str, "a");
            utf8_add(&str, text, strlen(text), size - 1);
            assert_int_equal(str.len, 1 + room);
        }
    }
}

static void what_is_no_utf8_becomes_a_question_mark(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {{"", ""},
                 {"plain", "plain"},
                 {"a\xff", "a?"},
                 {"a\xff\xfe"
                  "b",
                  "a??b"},
                 {"\xc0\xaf", "??"},
                 {"\xed\xa0\x80.", "???."},
                 {"\xe2\x82.", "??."},
                 {"ab\xe2\x82", "ab"},
                 {"ab\xe2", "ab"},
                 {"ab\xf0\x9f\x98", "ab"},
                 {"\xd0\xbb\xd0", "\xd0\xbb"},
                 {"\x80\x80\x80\x80\x80", "?????"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s", cases[i].from);
        utf8_mend(text);
        assert_string_equal(text, cases[i].to);
        char copied[32];
        utf8_copy(copied, sizeof copied, cases[i].from);
        assert_string_equal(copied, cases[i].to);
    }
}

static void any_bytes_are_mended(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 200000; i++) {
        static const unsigned char edges[] = {0x7f, 0x80, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xed,
                                              0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x9f, 0xa0, 0x41};
        char text[16] = "", to[12];
        int len = rand() % 15;
        for (int k = 0; k < len; k++)
            text[k] = (char)edges[rand() % (int)sizeof edges];
        utf8_copy(to, (size_t)(1 + rand() % 12), text);
        assert_true(clean(to));
        utf8_mend(text);
        assert_true(clean(text));
    }
}

static void an_error_is_utf8_however_long(void **state)
{
    (void)state;
    char text[3000];
    for (size_t l = 0; l < 4; l++)
        for (size_t shift = 0; shift < 4; shift++) {
            struct err err;
            memset(text, 'a', shift);
            text[shift] = '\0';
            while (strlen(text) + 5 < sizeof text)
                strcat(text, letters[l]);
            (void)err_set(&err, RC_REJECT, ERR_DB, text, text, "%s", text);
            err_code(&err, text);
            assert_true(clean(err.message) && clean(err.object) && clean(err.hint));
            assert_true(clean(err.code));
            assert_true(strlen(err.message) >= sizeof err.message - 4);
        }
}

/* A key that is there twice, below keys of two and three bytes a letter: the path is longer than
 * its buffer. */
static void what_is_said_of_a_message_is_utf8(void **state)
{
    (void)state;
    for (size_t l = 0; l < 4; l++)
        for (int depth = 1; depth < 12; depth++)
            for (int shift = 0; shift < 4; shift++) {
                STR_AUTO text = {0};
                struct message *msg;
                struct err err;
                str_format(&text, "{\"%.*s\":", shift + 1, "abcde");
                for (int i = 0; i < depth; i++) {
                    str_text(&text, "{\"");
                    for (int k = 0; k < 15; k++)
                        str_text(&text, letters[l]);
                    str_text(&text, "\":");
                }
                str_text(&text, "{\"\xe2\x82\xac\":1,\"\xe2\x82\xac\":2}");
                for (int i = 0; i < depth; i++)
                    str_text(&text, "}");
                str_text(&text, "}");
                assert_int_equal(message_parse(text.data, text.len, MESSAGE_RECORD, &msg, &err),
                                 RC_REJECT);
                assert_true(clean(err.object) && clean(err.message));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_cut_between_characters),
        cmocka_unit_test(what_is_no_utf8_becomes_a_question_mark),
        cmocka_unit_test(any_bytes_are_mended),
        cmocka_unit_test(an_error_is_utf8_however_long),
        cmocka_unit_test(what_is_said_of_a_message_is_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
