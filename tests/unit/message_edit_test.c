/* Members are taken out of a message's text, and nothing else changes. */
#include "base/str.h"
#include "task/message.h"
#include "task/message_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void without(const char *text, const char *expected)
{
    STR_AUTO out = {0};
    struct err err = {0};
    static const char *const names[] = {"run", "seq", "previous_order", NULL};
    assert_int_equal(message_without(&out, text, strlen(text), names, &err), RC_OK);
    assert_string_equal(out.data, expected);
}

static void refused(const char *text, size_t len)
{
    STR_AUTO out = {0};
    struct err err = {0};
    assert_int_equal(message_without(&out, text, len, (const char *const[]){NULL}, &err),
                     RC_REJECT);
    assert_null(out.data);
}

static void named_members_go_wherever_they_stand(void **state)
{
    (void)state;
    without("{\"run\":1,\"a\":2}", "{\"a\":2}");
    without("{\"a\":2,\"seq\":3}", "{\"a\":2}");
    without("{\"a\":1,\"seq\":3,\"b\":2,\"previous_order\":0,\"c\":3}",
            "{\"a\":1, \"b\":2, \"c\":3}");
    without("{\"run\":\"x\",\"seq\":0}", "{}");
    without("{}", "{}");
    without("{\"r\\u0075n\":1,\"a\":2}", "{\"a\":2}");
}

static void the_rest_stays_as_it_was_written(void **state)
{
    (void)state;
    without("{\"a\": 9007199254740993.10e+2 , \"seq\":1}", "{\"a\": 9007199254740993.10e+2 }");
    without("{\"a\":\"} , { \\\" \\\\\",\"run\":{\"x\":[1,{\"y\":\"}\"}]},\"b\":[[],{}]}",
            "{\"a\":\"} , { \\\" \\\\\", \"b\":[[],{}]}");
    without("{\"a\":{\"run\":1,\"seq\":[2]}}", "{\"a\":{\"run\":1,\"seq\":[2]}}");
}

static void it_becomes_one_line(void **state)
{
    (void)state;
    without(" \n{\n\t\"a\" :\r\n 1 ,\n \"seq\" : 2\n}\n", "{\"a\" :   1 }");
}

static void what_is_no_object_is_refused(void **state)
{
    (void)state;
    refused("", 0);
    refused("[1]", 3);
    refused("\"{}\"", 4);
    refused("{\"a\":1", 6);
    refused("{\"a\":1}x", 8);
    refused("{\"a\":\0}", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_members_go_wherever_they_stand),
        cmocka_unit_test(the_rest_stays_as_it_was_written),
        cmocka_unit_test(it_becomes_one_line),
        cmocka_unit_test(what_is_no_object_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
