/* libFuzzer target: no byte string breaks the codec or the splitter of task SQL, and their promises
 * to each other hold. Not part of the build; clang only:
 *   clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined -o message_fuzz \
 *     tests/fuzz/message_fuzz.c base/err.c base/str.c base/utf8.c task/json*.c task/message*.c
 *     task/uuid.c \ task/statement.c -lcjson -luuid -lm && ./message_fuzz -max_total_time=60 */
#include "base/utf8.h"
#include "task/json.h"
#include "task/message.h"
#include "task/message_text.h"
#include "task/statement.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

/** A record that parses has the same fields in message_peek; one that does not has a reason and a
 * place. */
static void check_record(const char *text, size_t size)
{
    MESSAGE_AUTO *msg = NULL;
    struct err err = {0};
    char run[37];
    int64_t seq;
    enum rc rc = message_parse(text, size, MESSAGE_RECORD, &msg, &err);
    enum rc peeked = message_peek(text, size, run, &seq);
    if (rc != RC_OK) {
        promise(rc == RC_REJECT && msg == NULL && err.code[0] != '\0' && err.object[0] == '$' &&
                err.message[0] != '\0');
        promise(utf8_prefix(err.message, strlen(err.message)) == strlen(err.message) &&
                utf8_prefix(err.object, strlen(err.object)) == strlen(err.object));
        return;
    }
    promise(msg->type == MESSAGE_END || msg->order > msg->previous_order);
    promise(msg->type != MESSAGE_SQL || msg->statement_count > 0 || msg->step_count > 0);
    if (peeked == RC_OK)
        promise(strcmp(run, msg->run) == 0 && seq == msg->seq);
    else
        promise(memchr(text, '\\', size) != NULL); /* a key spelt with an escape */
}

/** A staged task that parses does so with its tags, too. */
static void check_staged(const char *text, size_t size)
{
    MESSAGE_AUTO *staged = NULL, *record = NULL;
    if (message_parse(text, size, MESSAGE_STAGED, &staged, NULL) != RC_OK)
        return;
    STR_AUTO tagged = {0};
    message_tag(&tagged, text, size, "7b1f0f5e-9b0a-4a53-8f43-2a8f3bb0c9de", 3, staged->order - 1);
    promise(message_parse(tagged.data, tagged.len, MESSAGE_RECORD, &record, NULL) == RC_OK);
    promise(record->seq == 3 && record->order == staged->order &&
            record->statement_count == staged->statement_count);
}

/** Statements are slices of the text, in order and not empty; each alone is one statement again. */
static void check_sql(const char *sql)
{
    FREE_AUTO struct statement *statements = NULL;
    int count = 0;
    struct err err = {0};
    if (statement_split(sql, &statements, &count, &err) != RC_OK) {
        promise(err.message[0] != '\0' && err.hint[0] != '\0');
        return;
    }
    const char *end = sql;
    for (int i = 0; i < count; i++) {
        promise(statements[i].text >= end && statements[i].len > 0);
        end = statements[i].text + statements[i].len;
        FREE_AUTO struct statement *again = NULL;
        int one = 0;
        FREE_AUTO char *alone = strndup(statements[i].text, statements[i].len);
        promise(statement_split(alone, &again, &one, NULL) == RC_OK && one == 1);
        promise(again->plain == statements[i].plain &&
                again->changes_session == statements[i].changes_session);
    }
    promise(end <= sql + strlen(sql));
}

/** What is quoted reads back, if it is text at all. */
static void check_quote(const char *text, size_t size)
{
    STR_AUTO out = {0};
    json_quote(&out, text, size);
    struct json json;
    if (json_parse(out.data, out.len, MESSAGE_MAX_BYTES, &json, NULL) == RC_OK)
        json_done(&json);
    str_clear(&out);
    str_text(&out, "{\"order\":1,\"previous_order\":0,\"sql\":\"x\",\"name\":");
    json_quote(&out, text, size);
    str_text(&out, "}");
    MESSAGE_AUTO *msg = NULL;
    if (message_parse(out.data, out.len, MESSAGE_RECORD, &msg, NULL) == RC_OK)
        promise(strlen(msg->name) == size && memcmp(msg->name, text, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    check_record(text, size);
    check_staged(text, size);
    check_quote(text, size);
    FREE_AUTO char *sql = xmalloc(size + 1);
    memcpy(sql, data, size);
    sql[size] = '\0';
    check_sql(sql);
    return 0;
}
