/* Strict JSON: a text that is no RFC 8259 JSON is refused with the place; JSON keeps every byte of
 * its numbers. */
#include "base/str.h"
#include "task/json.h"
#include "tests/support/rc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#define CAP 1000000

static void refused_bytes(const char *text, size_t len, const char *object, const char *words)
{
    struct json json;
    struct err err = {0};
    /* a copy of exactly len bytes, so that a sanitizer sees a read behind the end */
    FREE_AUTO char *copy = xmalloc(len);
    memcpy(copy, text, len);
    enum rc rc = json_parse(copy, len, CAP, &json, &err);
    if (rc != RC_REJECT || strcmp(err.object, object) != 0 || strstr(err.message, words) == NULL)
        fail_msg("%.60s: rc %s, object %s, message %s", text, rc_name(rc), err.object, err.message);
}

static void refused(const char *text, const char *words)
{
    refused_bytes(text, strlen(text), "$", words);
}

static void accepted(const char *text)
{
    struct json json;
    struct err err = {0};
    size_t len = strlen(text);
    FREE_AUTO char *copy = xmalloc(len);
    memcpy(copy, text, len);
    enum rc rc = json_parse(copy, len, CAP, &json, &err);
    if (rc != RC_OK)
        fail_msg("%s: %s", text, err.message);
    json_done(&json);
}

static void text_that_is_no_json_is_refused_with_its_byte(void **state)
{
    (void)state;
    refused("", "at byte 0 the text ends where a value is missing");
    refused("  \n", "at byte 3");
    refused("nothing", "at byte 0 no JSON value starts here");
    refused("{\"a\":1", "at byte 6 the text ends inside an object or array");
    refused("{\"a\" 1}", "at byte 5 a colon is missing");
    refused("{\"a\":1 \"b\":2}", "at byte 7 a comma or } is missing");
    refused("[1 2]", "at byte 3 a comma or ] is missing");
    refused("[1,]", "at byte 3 no JSON value");
    refused("{\"a\":1,}", "at byte 7 a key in quotes is missing");
    refused("{a:1}", "at byte 1 a key in quotes is missing");
    refused("{'a':1}", "at byte 1");
    refused("{,}", "at byte 1");
    refused("[,]", "at byte 1");
    refused("[1}", "at byte 2");
    refused("{\"a\":1]", "at byte 6");
    refused("\"abc", "at byte 4 the text ends inside a string");
    refused("// c\n1", "at byte 0");
    refused("/* c */ 1", "at byte 0");
    refused("tru", "at byte 0");
    refused("nulL", "at byte 0");
    refused("truex", "at byte 4 there is more text");
}

static void trailing_text_and_a_second_document_are_refused(void **state)
{
    (void)state;
    refused("{} x", "at byte 3 there is more text behind the value");
    refused("{}{}", "at byte 2");
    refused("1\n2", "at byte 2");
    refused_bytes("{}\0", 3, "$", "at byte 2");
    accepted(" {} \r\n\t");
}

static void numbers_are_decimal_without_leading_zeros_or_signs(void **state)
{
    (void)state;
    refused("01", "at byte 0 a number has a leading zero");
    refused("[-01]", "a number has a leading zero");
    refused("00", "a leading zero");
    refused("1.", "at byte 2 a digit is missing");
    refused(".5", "at byte 0");
    refused("-", "at byte 1 a digit is missing");
    refused("--1", "a digit is missing");
    refused("+1", "at byte 0");
    refused("1e", "a digit is missing");
    refused("1e+", "a digit is missing");
    refused("0x10", "at byte 1");
    refused("1_000", "at byte 1");
    refused("NaN", "at byte 0");
    refused("Infinity", "at byte 0");
    refused("-Infinity", "a digit is missing");
    accepted("[0,-0,0.5,-0.5,1e5,1E+5,1e-5,10.25e300,123456789012345678901234567890]");
}

static void escapes_are_checked_before_they_are_decoded(void **state)
{
    (void)state;
    refused("\"\\u12G4\"", "four hexadecimal digits");
    refused("\"\\u12", "four hexadecimal digits");
    refused("\"\\x41\"", "cannot escape");
    refused("\"\\", "cannot escape");
    refused_bytes("\"\\\0\"", 4, "$", "cannot escape");
    refused("\"a\\u0000b\"", "\\u0000 is not allowed");
    refused("{\"\\u0000\":1}", "\\u0000 is not allowed");
    refused("\"\\ud800\"", "surrogate is alone");
    refused("\"\\udc00\"", "surrogate is alone");
    refused("\"\\ud800\\u0041\"", "surrogate is alone");
    refused("\"\\ud800x\"", "surrogate is alone");
    refused("\"\\ud800\\", "surrogate is alone");
    refused("\"\\ud83d\\ud83d\"", "surrogate is alone");
    accepted("\"\\ud83d\\ude00 \\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9\"");
}

static void control_characters_nul_and_a_byte_order_mark_are_refused(void **state)
{
    (void)state;
    refused_bytes("\"a\0b\"", 5, "$", "at byte 2 there is a NUL byte in a string");
    refused("\"a\nb\"", "at byte 2 a control character");
    refused("\"a\x01\"", "a control character");
    refused("\"a\tb\"", "a control character");
    refused("\x01{}", "at byte 0");
    refused("[1,\x01 2]", "at byte 3");
    refused("[1\v]", "at byte 2");
    refused("\xc2\xa0{}", "at byte 0");
    refused("\xef\xbb\xbf{}", "at byte 0 there is a byte order mark");
    accepted("\"\x7f\""); /* RFC 8259 does not count DEL among them */
}

static void utf8_is_validated(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",             /* continuation alone */
        "\xc3",             /* cut */
        "\xc3(",            /* no continuation */
        "\xc0\xaf",         /* overlong / */
        "\xc1\xbf",         /* overlong */
        "\xe0\x80\xaf",     /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x80\x80\xaf", /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* surrogate */
        "\xed\xbf\xbf",     /* surrogate */
        "\xf4\x90\x80\x80", /* > U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xfe",
        "\xe2\x82",
        "\xe2\x28\xa1",
        "\xf0\x9f\x98",
        "\xc0\x80",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        STR_AUTO text = {0};
        str_format(&text, "\"a%s\"", bad[i]);
        refused(text.data, "at byte 2 a string is not valid UTF-8");
        str_clear(&text);
        str_format(&text, "{\"%s\":1}", bad[i]);
        refused(text.data, "at byte 2 a string is not valid UTF-8");
    }
    accepted("\"\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf "
             "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"");
}

static void refused_cut(const char *text)
{
    for (size_t len = 0; len < strlen(text); len++)
        refused_bytes(text, len, "$", "at byte");
}

static void every_cut_of_a_document_is_refused(void **state)
{
    (void)state;
    refused_cut(
        "{\"a\":[1.5e-3,true,null,\"x\\u00e9\\ud83d\\ude00\xf0\x9f\x98\x80\"],\"b\":{\"c\":{}}}");
}

static void depth(int levels, bool allowed)
{
    STR_AUTO text = {0};
    for (int i = 0; i < levels; i++)
        str_text(&text, i % 2 ? "{\"a\":" : "[");
    str_text(&text, "0");
    for (int i = levels - 1; i >= 0; i--)
        str_text(&text, i % 2 ? "}" : "]");
    if (allowed)
        accepted(text.data);
    else
        refused(text.data, "nested deeper than 32");
}

static void depth_is_limited_without_using_the_stack(void **state)
{
    (void)state;
    depth(32, true);
    depth(33, false);
    depth(1001, false);
    depth(100000, false);
    FREE_AUTO char *open = xmalloc(CAP);
    memset(open, '[', CAP);
    refused_bytes(open, CAP, "$", "at byte 32 values are nested deeper than 32");
}

static void a_text_over_the_cap_is_refused_unread(void **state)
{
    (void)state;
    struct json json;
    struct err err = {0};
    assert_int_equal(json_parse("[1]", 3, 2, &json, &err), RC_REJECT);
    assert_string_equal(err.message, "the text has 3 bytes, allowed are 2");
}

static void duplicate_keys_are_refused_with_their_path(void **state)
{
    (void)state;
    const char *text = "{\"a\":1,\"a\":2}";
    refused_bytes(text, strlen(text), "$.a", "$.a occurs twice");
    text = "{\"order\":1,\"\\u006frder\":2}";
    refused_bytes(text, strlen(text), "$.order", "twice");
    text = "{\"x\":[0,{\"k\":{\"b c\":1,\"b c\":1}}]}";
    refused_bytes(text, strlen(text), "$.x[1].k[\"b c\"]", "twice");
    text = "{\"\":1,\"\":1}";
    refused_bytes(text, strlen(text), "$[\"\"]", "twice");
    accepted("{\"a\":1,\"A\":2,\"b\":{\"a\":1},\"c\":{\"a\":1}}");
}

static void many_keys(int count, int twice, bool expect)
{
    STR_AUTO text = {0};
    str_text(&text, "{");
    for (int i = 0; i < count; i++)
        str_format(&text, "%s\"k%d\":0", i ? "," : "", i == count - 1 && twice >= 0 ? twice : i);
    str_text(&text, "}");
    char object[32];
    (void)snprintf(object, sizeof object, "$.k%d", twice);
    if (expect)
        accepted(text.data);
    else
        refused_bytes(text.data, text.len, object, "twice");
}

static void a_duplicate_is_found_among_few_and_many_keys(void **state)
{
    (void)state;
    for (int count = 2; count < 40; count++) {
        many_keys(count, -1, true);
        many_keys(count, 0, false);
        many_keys(count, count - 2, false);
    }
    many_keys(50000, -1, true);
    many_keys(50000, 31234, false);
}

static void raw_is(const struct json *json, const cJSON *node, const char *want)
{
    size_t len;
    const char *raw = json_raw(json, node, &len);
    assert_int_equal(len, strlen(want));
    assert_memory_equal(raw, want, len);
}

static void the_raw_text_of_every_value_is_kept(void **state)
{
    (void)state;
    const char *text =
        " {\"a\": 9007199254740993 ,\"b\":[ 9223372036854775807,-0, 1.10e+2,{\"x\" : [ ]}, "
        "\"\\u0061\"],\"c\":{},\"d\":1e400 ,\"e\":null} ";
    struct json json;
    struct err err;
    assert_int_equal(json_parse(text, strlen(text), CAP, &json, &err), RC_OK);
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(json.root, "b");
    raw_is(&json, cJSON_GetObjectItemCaseSensitive(json.root, "a"), "9007199254740993");
    raw_is(&json, b, "[ 9223372036854775807,-0, 1.10e+2,{\"x\" : [ ]}, \"\\u0061\"]");
    raw_is(&json, cJSON_GetArrayItem(b, 0), "9223372036854775807");
    raw_is(&json, cJSON_GetArrayItem(b, 1), "-0");
    raw_is(&json, cJSON_GetArrayItem(b, 2), "1.10e+2");
    raw_is(&json, cJSON_GetArrayItem(b, 3), "{\"x\" : [ ]}");
    raw_is(&json, cJSON_GetArrayItem(b, 4), "\"\\u0061\"");
    assert_string_equal(cJSON_GetArrayItem(b, 4)->valuestring, "a");
    raw_is(&json, cJSON_GetObjectItemCaseSensitive(json.root, "c"), "{}");
    raw_is(&json, cJSON_GetObjectItemCaseSensitive(json.root, "d"), "1e400");
    raw_is(&json, cJSON_GetObjectItemCaseSensitive(json.root, "e"), "null");
    json_done(&json);
    json_done(&json); /* may be called twice */
}

static void a_number_of_a_thousand_digits_keeps_them(void **state)
{
    (void)state;
    FREE_AUTO char *digits = xmalloc(1001);
    memset(digits, '7', 1000);
    digits[1000] = '\0';
    struct json json;
    struct err err;
    assert_int_equal(json_parse(digits, 1000, CAP, &json, &err), RC_OK);
    raw_is(&json, json.root, digits);
    json_done(&json);
}

static void a_million_byte_array_is_read(void **state)
{
    (void)state;
    FREE_AUTO char *text = xmalloc(CAP);
    for (int i = 0; i < CAP; i++)
        text[i] = i % 2 ? ',' : '1';
    text[0] = '[';
    text[1] = '1';
    for (int i = 2; i < CAP; i++)
        text[i] = i % 2 ? '1' : ',';
    text[CAP - 1] = ']';
    text[CAP - 2] = ' ';
    struct json json;
    struct err err;
    assert_int_equal(json_parse(text, CAP, CAP, &json, &err), RC_OK);
    assert_int_equal(cJSON_GetArraySize(json.root), (CAP - 2) / 2);
    json_done(&json);
}

static void excerpts_are_short_whole_characters_on_one_line(void **state)
{
    (void)state;
    char buffer[JSON_EXCERPT_SIZE];
    struct json json;
    struct err err;
    const char *text = "[\n1,\t2]";
    assert_int_equal(json_parse(text, strlen(text), CAP, &json, &err), RC_OK);
    assert_string_equal(json_excerpt(&json, json.root, buffer), "[ 1, 2]");
    json_done(&json);
    text = "\"12345678901234567890123456789012345678\xc3\xa9 and more\"";
    assert_int_equal(json_parse(text, strlen(text), CAP, &json, &err), RC_OK);
    assert_string_equal(json_excerpt(&json, json.root, buffer),
                        "\"12345678901234567890123456789012345678...");
    json_done(&json);
}

static void paths_stay_within_their_buffer(void **state)
{
    (void)state;
    char key[101], buffer[JSON_PATH_SIZE];
    memset(key, 'k', 100);
    key[100] = '\0';
    struct json_path path[40] = {{0}};
    for (int i = 1; i < 40; i++)
        path[i] = (struct json_path){.up = &path[i - 1], .key = i % 2 ? key : NULL, .index = i};
    json_path_text(&path[39], buffer);
    assert_int_equal(strlen(buffer), JSON_PATH_SIZE - 1);
    json_path_text(&path[2], buffer);
    assert_string_equal(buffer, "$[\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...\"][2]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_no_json_is_refused_with_its_byte),
        cmocka_unit_test(trailing_text_and_a_second_document_are_refused),
        cmocka_unit_test(numbers_are_decimal_without_leading_zeros_or_signs),
        cmocka_unit_test(escapes_are_checked_before_they_are_decoded),
        cmocka_unit_test(control_characters_nul_and_a_byte_order_mark_are_refused),
        cmocka_unit_test(utf8_is_validated),
        cmocka_unit_test(every_cut_of_a_document_is_refused),
        cmocka_unit_test(depth_is_limited_without_using_the_stack),
        cmocka_unit_test(a_text_over_the_cap_is_refused_unread),
        cmocka_unit_test(duplicate_keys_are_refused_with_their_path),
        cmocka_unit_test(a_duplicate_is_found_among_few_and_many_keys),
        cmocka_unit_test(the_raw_text_of_every_value_is_kept),
        cmocka_unit_test(a_number_of_a_thousand_digits_keeps_them),
        cmocka_unit_test(a_million_byte_array_is_read),
        cmocka_unit_test(excerpts_are_short_whole_characters_on_one_line),
        cmocka_unit_test(paths_stay_within_their_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
