/* The message codec: the cases of message_cases.jsonl, and the cases that a line of text cannot
 * hold. */
#include "base/str.h"
#include "task/json.h"
#include "task/message.h"
#include "task/message_text.h"
#include "tests/support/rc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#define RUN "7b1f0f5e-9b0a-4a53-8f43-2a8f3bb0c9de"
#define CAP 10000000

/** Parses a copy of exactly len bytes, so that a sanitizer sees a read behind the end. */
static enum rc parse(const char *bytes, size_t len, enum message_form form,
                     struct message **ret_msg, struct err *err)
{
    FREE_AUTO char *copy = xmalloc(len);
    memcpy(copy, bytes, len);
    return message_parse(copy, len, form, ret_msg, err);
}

static struct message *parsed(const char *text)
{
    struct message *msg = NULL;
    struct err err = {0};
    if (parse(text, strlen(text), MESSAGE_RECORD, &msg, &err) != RC_OK)
        fail_msg("%s: %s", text, err.message);
    return msg;
}

static void rejected(const char *bytes, size_t len, const char *reason, const char *words)
{
    MESSAGE_AUTO *msg = NULL;
    struct err err = {0};
    enum rc rc = parse(bytes, len, MESSAGE_RECORD, &msg, &err);
    if (rc != RC_REJECT || strcmp(err.code, reason) != 0 || strcmp(err.object, "$") != 0 ||
        strstr(err.message, words) == NULL)
        fail_msg("%.60s: rc %s, code %s, object %s, message %s", bytes, rc_name(rc), err.code,
                 err.object, err.message);
    assert_null(msg);
    assert_int_equal(parse(bytes, len, MESSAGE_RECORD, &msg, NULL),
                     RC_REJECT); /* err may be NULL */
}

static void read_file(struct str *out, const char *name)
{
    STR_AUTO path = {0};
    str_format(&path, LOCKSTEP_SOURCE "/%s", name);
    FILE *file = fopen(path.data, "r");
    if (file == NULL)
        fail_msg("%s can not be read", path.data);
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        str_add(out, buffer, n);
    (void)fclose(file);
}

static const char *text_of(const struct json *json, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(json->root, key);
    return node ? node->valuestring : NULL;
}

/** One line of the corpus: text with form is accepted, or rejected for reason at object, with words
 * in the message. */
static void check_case(const char *line, size_t len)
{
    struct json json;
    struct err err = {0};
    if (json_parse(line, len, CAP, &json, &err) != RC_OK)
        fail_msg("%.*s: %s", (int)len, line, err.message);
    const char *name = text_of(&json, "case"), *text = text_of(&json, "text");
    const char *reason = text_of(&json, "reason"), *words = text_of(&json, "words");
    bool staged = strcmp(text_of(&json, "form"), "staged") == 0;
    MESSAGE_AUTO *msg = NULL;
    enum rc rc = parse(text, strlen(text), staged ? MESSAGE_STAGED : MESSAGE_RECORD, &msg, &err);
    if (reason == NULL && rc != RC_OK)
        fail_msg("%s: rejected: %s", name, err.message);
    if (reason != NULL && (rc != RC_REJECT || strcmp(err.code, reason) != 0 ||
                           strcmp(err.object, text_of(&json, "object")) != 0 ||
                           (words != NULL && strstr(err.message, words) == NULL)))
        fail_msg("%s: rc %s, code %s, object %s, message %s", name, rc_name(rc), err.code,
                 err.object, err.message);
    json_done(&json);
}

static void the_cases_of_the_corpus_hold(void **state)
{
    (void)state;
    STR_AUTO corpus = {0};
    read_file(&corpus, "tests/unit/message_cases.jsonl");
    int count = 0;
    for (char *line = corpus.data, *end; (end = strchr(line, '\n')) != NULL;
         line = end + 1, count++)
        check_case(line, (size_t)(end - line));
    assert_in_range(count, 250, 10000);
}

/** The examples at path in the schema parse in this form. */
static void check_examples(const struct json *schema, const cJSON *examples, enum message_form form)
{
    assert_true(cJSON_GetArraySize(examples) > 0);
    const cJSON *example;
    cJSON_ArrayForEach(example, examples)
    {
        size_t len;
        const char *raw = json_raw(schema, example, &len);
        MESSAGE_AUTO *msg = NULL;
        struct err err = {0};
        if (parse(raw, len, form, &msg, &err) != RC_OK)
            fail_msg("%.*s: %s", (int)len, raw, err.message);
    }
}

static void the_schema_lists_the_fields_of_the_codec_and_its_examples_parse(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    read_file(&text, "docs/reference/message.schema.json");
    struct json schema;
    struct err err = {0};
    assert_int_equal(json_parse(text.data, text.len, CAP, &schema, &err), RC_OK);
    const cJSON *defs = cJSON_GetObjectItemCaseSensitive(schema.root, "$defs");
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(defs, "message");
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(message, "properties");
    int count = 0;
    for (const char *name; (name = message_field_name(count)) != NULL; count++)
        if (cJSON_GetObjectItemCaseSensitive(properties, name) == NULL)
            fail_msg("the schema does not know %s", name);
    assert_int_equal(cJSON_GetArraySize(properties), count);
    assert_null(message_field_name(-1));
    check_examples(&schema, cJSON_GetObjectItemCaseSensitive(schema.root, "examples"),
                   MESSAGE_RECORD);
    const cJSON *staged = cJSON_GetObjectItemCaseSensitive(defs, "staged");
    check_examples(&schema, cJSON_GetObjectItemCaseSensitive(staged, "examples"), MESSAGE_STAGED);
    json_done(&schema);
}

static void every_example_of_the_manual_parses(void **state)
{
    (void)state;
    STR_AUTO manual = {0};
    read_file(&manual, "docs/reference/message.md");
    int count = 0;
    for (char *line = manual.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (*line != '{')
            continue;
        MESSAGE_AUTO *msg = NULL;
        struct err err = {0};
        *end = '\0';
        enum message_form form =
            strstr(line, "previous_order") == NULL && strstr(line, "\"end\"") == NULL
                ? MESSAGE_STAGED
                : MESSAGE_RECORD;
        if (parse(line, (size_t)(end - line), form, &msg, &err) != RC_OK)
            fail_msg("%s: %s", line, err.message);
        count++;
    }
    assert_in_range(count, 8, 1000);
}

static void the_manual_names_every_field_and_reason(void **state)
{
    (void)state;
    STR_AUTO manual = {0}, quoted = {0};
    read_file(&manual, "docs/reference/message.md");
    const char *name;
    for (int i = 0; (name = message_field_name(i)) != NULL; i++) {
        str_clear(&quoted);
        str_format(&quoted, "`%s`", name);
        if (strstr(manual.data, quoted.data) == NULL)
            fail_msg("docs/reference/message.md does not name %s", quoted.data);
    }
    for (enum message_reason r = MESSAGE_BAD_JSON; r < MESSAGE_REASON_COUNT; r++) {
        str_clear(&quoted);
        str_format(&quoted, "`%s`", message_reason_name(r));
        if (strstr(manual.data, quoted.data) == NULL)
            fail_msg("docs/reference/message.md does not name %s", quoted.data);
    }
}

static void an_absent_field_has_its_default(void **state)
{
    (void)state;
    MESSAGE_AUTO *msg = parsed("{\"order\":100,\"previous_order\":0,\"sql\":\"SELECT 1\"}");
    assert_int_equal(msg->type, MESSAGE_SQL);
    assert_string_equal(msg->run, "");
    assert_int_equal(msg->seq, -1);
    assert_null(msg->name);
    assert_null(msg->description);
    assert_int_equal(msg->statement_count, 1);
    assert_int_equal(msg->statements[0].param_count, 0);
    assert_true(msg->transaction);
    assert_int_equal(msg->max_attempts, 0);
    assert_int_equal(msg->retry_interval_count, 0);
    assert_int_equal(msg->end_tasks, -1);
    assert_int_equal(msg->end_phases, -1);
    assert_false(msg->aborted);
}

static void every_field_arrives(void **state)
{
    (void)state;
    MESSAGE_AUTO *msg =
        parsed("{\"run\":\"7B1F0F5E-9B0A-4A53-8F43-2A8F3BB0C9DE\",\"seq\":9223372036854775805,"
               "\"order\":9007199254740993,\"previous_order\":9007199254740992,\"type\":\"sql\","
               "\"sql\":\"VACUUM\",\"transaction\":false,\"name\":\"n\\u00e9\","
               "\"description\":\"d\",\"max_attempts\":3,\"retry_intervals\":[0,1.5,1e3],"
               "\"timeout\":2.5}");
    assert_string_equal(msg->run, RUN);
    assert_true(msg->seq == MESSAGE_MOST_SEQ);
    assert_true(msg->order == 9007199254740993);
    assert_true(msg->previous_order == 9007199254740992);
    assert_string_equal(msg->statements[0].sql, "VACUUM");
    assert_false(msg->transaction);
    assert_string_equal(msg->name, "n\xc3\xa9");
    assert_string_equal(msg->description, "d");
    assert_int_equal(msg->max_attempts, 3);
    assert_int_equal(msg->retry_interval_count, 3);
    assert_true(msg->retry_intervals[1] > 1.49 && msg->retry_intervals[1] < 1.51);
    assert_int_equal(msg->timeout_us, 2500000);
    assert_true(msg->retry_intervals[2] > 999.9 && msg->retry_intervals[2] < 1000.1);
}

static void params_are_the_text_that_postgresql_takes(void **state)
{
    (void)state;
    MESSAGE_AUTO *msg = parsed("{\"order\":1,\"previous_order\":0,\"sql\":\"SELECT "
                               "$1\",\"params\":[\"it's; $(x)\\n-a\",\"\","
                               "9223372036854775807,1.10,1e400,-0,true,false,null, {\"b\" : [1.0, "
                               "\"\\u00e9\"]} ,[ 1,2 ]]}");
    static const char *const want[] = {
        "it's; $(x)\n-a", "",   "9223372036854775807",          "1.10",   "1e400", "-0", "true",
        "false",          NULL, "{\"b\" : [1.0, \"\\u00e9\"]}", "[ 1,2 ]"};
    const struct message_statement *statement = &msg->statements[0];
    assert_int_equal(statement->param_count, sizeof want / sizeof *want);
    for (int i = 0; i < statement->param_count; i++) {
        if (want[i] == NULL)
            assert_null(statement->params[i].text);
        else
            assert_string_equal(statement->params[i].text, want[i]);
    }
}

static void each_statement_of_an_array_has_its_own_params(void **state)
{
    (void)state;
    MESSAGE_AUTO *msg = parsed(
        "{\"order\":1,\"previous_order\":0,\"sql\":[\"SELECT $1\",\"SELECT 2\",\"SELECT $1,$2\"],"
        "\"params\":[[1],[],[\"a\",[3]]]}");
    assert_int_equal(msg->statement_count, 3);
    assert_string_equal(msg->statements[2].sql, "SELECT $1,$2");
    assert_int_equal(msg->statements[0].param_count, 1);
    assert_int_equal(msg->statements[1].param_count, 0);
    assert_int_equal(msg->statements[2].param_count, 2);
    assert_string_equal(msg->statements[0].params[0].text, "1");
    assert_string_equal(msg->statements[2].params[0].text, "a");
    assert_string_equal(msg->statements[2].params[1].text, "[3]");
}

static void the_end_of_a_run_carries_its_counts(void **state)
{
    (void)state;
    MESSAGE_AUTO *msg = parsed("{\"type\":\"end\",\"run\":\"" RUN
                               "\",\"seq\":5,\"tasks\":9007199254740993,\"phases\":2}");
    assert_int_equal(msg->type, MESSAGE_END);
    assert_true(msg->end_tasks == 9007199254740993);
    assert_int_equal(msg->end_phases, 2);
    assert_false(msg->aborted);
    assert_int_equal(msg->statement_count, 0);
}

static void an_empty_value_is_told_from_bad_json(void **state)
{
    (void)state;
    struct message *msg = NULL;
    struct err err = {0};
    assert_int_equal(message_parse(NULL, 0, MESSAGE_RECORD, &msg, &err), RC_REJECT);
    assert_string_equal(err.code, "empty");
    rejected("", 0, "empty", "the message is empty");
    rejected(" ", 1, "bad_json", "at byte 1");
}

/** A task that is exactly len bytes long. */
static void sized_task(struct str *out, size_t len, bool record)
{
    str_format(out, "{%s\"order\":1,\"sql\":\"SELECT 1 ", record ? "\"previous_order\":0," : "");
    while (out->len < len - 2)
        str_text(out, "x");
    str_text(out, "\"}");
}

static void the_size_limit_is_exact_and_checked_before_parsing(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    struct err err = {0};
    sized_task(&text, MESSAGE_MAX_BYTES, true);
    MESSAGE_AUTO *msg = parsed(text.data);
    assert_int_equal(strlen(msg->statements[0].sql), MESSAGE_MAX_BYTES - 39);
    text.data[text.len - 1] = ' ';
    str_text(&text, "}");
    rejected(text.data, text.len, "oversize", "has 1000001 bytes, at most 1000000 are allowed");
    memset(text.data, 0xff, text.len); /* not JSON, but it was not read */
    rejected(text.data, text.len, "oversize", "1000001 bytes");

    MESSAGE_AUTO *staged = NULL;
    str_clear(&text);
    sized_task(&text, MESSAGE_MAX_BYTES - MESSAGE_TAG_BYTES, false);
    assert_int_equal(parse(text.data, text.len, MESSAGE_STAGED, &staged, &err), RC_OK);
    STR_AUTO record = {0};
    message_tag(&record, text.data, text.len, RUN, INT64_MAX, INT64_MAX - 1);
    assert_in_range(record.len, text.len, MESSAGE_MAX_BYTES);
    str_text(&text, " ");
    assert_int_equal(parse(text.data, text.len, MESSAGE_STAGED, &staged, &err), RC_REJECT);
    assert_string_equal(err.code, "oversize");
}

static void bytes_that_are_no_text_are_rejected(void **state)
{
    (void)state;
#define BYTES(text) text, sizeof text - 1
    rejected(BYTES("{\"order\":1,\0}"), "bad_json", "at byte 11");
    rejected(BYTES("{\"sql\":\"a\0b\"}"), "bad_json", "at byte 9 there is a NUL byte");
    rejected(BYTES("{\"order\":1}\0"), "bad_json", "at byte 11 there is more text");
    rejected(BYTES("{\"sql\":\"caf\xe9\"}"), "bad_json", "at byte 11 a string is not valid UTF-8");
    rejected(BYTES("{\"sql\":\"\xc0\xaf\"}"), "bad_json", "not valid UTF-8");
    rejected(BYTES("{\"sql\":\"\xed\xa0\x80\"}"), "bad_json", "not valid UTF-8");
    rejected(BYTES("\xef\xbb\xbf{}"), "bad_json", "byte order mark");
    rejected(BYTES("\x1f\x8b\x08\x00"), "bad_json", "at byte 0");
#undef BYTES
}

static void deep_nesting_is_rejected_without_growing_the_stack(void **state)
{
    (void)state;
    static char text[MESSAGE_MAX_BYTES];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "{\"a\":"[i % 5];
    rejected(text, sizeof text, "bad_json", "deeper than 32");
    memset(text, '[', sizeof text);
    rejected(text, 100000, "bad_json", "deeper than 32");
}

static void params_are_counted_as_the_protocol_counts_them(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    str_text(&text, "{\"order\":1,\"previous_order\":0,\"sql\":\"SELECT $1\",\"params\":[0");
    for (int i = 1; i < 65535; i++)
        str_text(&text, ",0");
    size_t len = text.len;
    str_text(&text, "]}");
    MESSAGE_AUTO *msg = parsed(text.data);
    assert_int_equal(msg->statements[0].param_count, 65535);
    text.len = len;
    str_text(&text, ",0]}");
    MESSAGE_AUTO *other = NULL;
    struct err err = {0};
    assert_int_equal(parse(text.data, text.len, MESSAGE_RECORD, &other, &err), RC_REJECT);
    assert_string_equal(err.code, "out_of_range");
    assert_string_equal(err.object, "$.params");
}

static void a_tagged_task_parses_to_the_same_with_its_tags(void **state)
{
    (void)state;
    const char *staged =
        " \n{ \"order\" : 9007199254740993, \"sql\":\"SELECT $1\",\"params\":[1.10 ] } ";
    STR_AUTO record = {0};
    message_tag(&record, staged, strlen(staged), RUN, 5, 9007199254740992);
    assert_string_equal(record.data,
                        "{\"run\":\"" RUN
                        "\",\"seq\":5,\"previous_order\":9007199254740992, \"order\" : "
                        "9007199254740993, \"sql\":\"SELECT $1\",\"params\":[1.10 ] } ");
    MESSAGE_AUTO *msg = parsed(record.data);
    assert_string_equal(msg->run, RUN);
    assert_int_equal(msg->seq, 5);
    assert_true(msg->previous_order == 9007199254740992);
    assert_string_equal(msg->statements[0].params[0].text, "1.10");
    str_clear(&record);
    message_tag(&record, "{\"order\":1,\"sql\":\"x\"}", 21, "", -1, 0);
    assert_string_equal(record.data, "{\"previous_order\":0,\"order\":1,\"sql\":\"x\"}");
}

static void a_written_end_parses(void **state)
{
    (void)state;
    STR_AUTO text = {0};
    message_end(&text, RUN, 7, 7, 3, false);
    MESSAGE_AUTO *msg = parsed(text.data);
    assert_int_equal(msg->type, MESSAGE_END);
    assert_int_equal(msg->seq, 7);
    assert_int_equal(msg->end_tasks, 7);
    assert_int_equal(msg->end_phases, 3);
    str_clear(&text);
    message_end(&text, RUN, 2, -1, -1, true);
    assert_string_equal(text.data,
                        "{\"run\":\"" RUN "\",\"seq\":2,\"aborted\":true,\"type\":\"end\"}");
    MESSAGE_AUTO *aborted = parsed(text.data);
    assert_true(aborted->aborted);
    str_clear(&text);
    message_end(&text, NULL, -1, 1, 1, false);
    MESSAGE_AUTO *implicit = parsed(text.data);
    assert_string_equal(implicit->run, "");
}

static void quoted_text_parses_back(void **state)
{
    (void)state;
    STR_AUTO out = {0};
    json_quote(&out, "", 0);
    json_quote(&out, "a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\xc3\xa9", 16);
    assert_string_equal(out.data, "\"\"\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xc3\xa9\"");
    str_clear(&out);
    char all[256];
    size_t n = 0;
    for (char c = 1; c < 127; c++)
        all[n++] = c;
    json_quote(&out, all, n);
    struct json json;
    struct err err;
    assert_int_equal(json_parse(out.data, out.len, CAP, &json, &err), RC_OK);
    assert_memory_equal(json.root->valuestring, all, n);
    json_done(&json);
    str_clear(&out);
    json_quote(&out, "a\0b", 3); /* reported by the parser, never cut */
    assert_string_equal(out.data, "\"a\\u0000b\"");
    assert_int_equal(json_parse(out.data, out.len, CAP, &json, &err), RC_REJECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cases_of_the_corpus_hold),
        cmocka_unit_test(the_schema_lists_the_fields_of_the_codec_and_its_examples_parse),
        cmocka_unit_test(every_example_of_the_manual_parses),
        cmocka_unit_test(the_manual_names_every_field_and_reason),
        cmocka_unit_test(an_absent_field_has_its_default),
        cmocka_unit_test(every_field_arrives),
        cmocka_unit_test(params_are_the_text_that_postgresql_takes),
        cmocka_unit_test(each_statement_of_an_array_has_its_own_params),
        cmocka_unit_test(the_end_of_a_run_carries_its_counts),
        cmocka_unit_test(an_empty_value_is_told_from_bad_json),
        cmocka_unit_test(the_size_limit_is_exact_and_checked_before_parsing),
        cmocka_unit_test(bytes_that_are_no_text_are_rejected),
        cmocka_unit_test(deep_nesting_is_rejected_without_growing_the_stack),
        cmocka_unit_test(params_are_counted_as_the_protocol_counts_them),
        cmocka_unit_test(a_tagged_task_parses_to_the_same_with_its_tags),
        cmocka_unit_test(a_written_end_parses),
        cmocka_unit_test(quoted_text_parses_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
