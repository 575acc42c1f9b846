/* What message_peek finds of run and seq in bytes that need not be a message. */
#include "base/str.h"
#include "task/message.h"
#include "tests/support/rc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUN "7b1f0f5e-9b0a-4a53-8f43-2a8f3bb0c9de"

static void peek_bytes(const char *bytes, size_t len, enum rc want, const char *want_run,
                       int64_t want_seq)
{
    char run[37] = "unset";
    int64_t seq = -7;
    FREE_AUTO char *copy = xmalloc(len);
    memcpy(copy, bytes, len);
    enum rc rc = message_peek(copy, len, run, &seq);
    if (rc != want || strcmp(run, rc == RC_OK ? want_run : "unset") != 0 ||
        seq != (rc == RC_OK ? want_seq : -7))
        fail_msg("%.100s: %s, run %s, seq %lld", bytes, rc_name(rc), run, (long long)seq);
}

static void peeks(const char *text, const char *run, int64_t seq)
{
    peek_bytes(text, strlen(text), RC_OK, run, seq);
}

static void peeks_nothing(const char *text)
{
    peek_bytes(text, strlen(text), RC_NONE, NULL, 0);
}

#define TAGS "\"run\":\"" RUN "\",\"seq\":5"

static void run_and_seq_are_found_in_what_does_not_parse(void **state)
{
    (void)state;
    peeks("{" TAGS ",\"oder\":1}", RUN, 5);
    peeks("{\"sql\":5,\"params\":[{\"run\":1,\"seq\":[\"}]\"]}],\"seq\" : 0 , \"run\":\"" RUN "\"}",
          RUN, 0);
    peeks("{\"run\":\"7B1F0F5E-9B0A-4A53-8F43-2A8F3BB0C9DE\",\"seq\":5}", RUN, 5);
    peeks("{" TAGS ",\"sql\":\"caf\xe9 \x01\",\"order\":01}", RUN, 5);
    peeks("{\"sql\":\"caf\xe9\"," TAGS "}", RUN, 5);
    peeks("\xef\xbb\xbf{" TAGS "}", RUN, 5);
    peeks("{" TAGS "} trailing", RUN, 5);
    peeks("{" TAGS ",\"order\":NaN}", RUN, 5);
    peeks("{" TAGS ",\"order\":1,\"order\":2}", RUN, 5);
    peeks("{" TAGS ",\"sql\":\"cut", RUN, 5);
    peeks("{" TAGS ",", RUN, 5);
    peeks("{\"sql\":\"a\\\",b\"," TAGS "}", RUN, 5);
    peeks("{" TAGS ",\"sql\":\"a\\\"}\",\"x", RUN, 5);
    peeks("{\"run\":\"" RUN "\",\"order\":1}", RUN, -1);
    peeks("{\"run\":\"" RUN "\",\"seq\":", RUN, -1);
    peek_bytes("{" TAGS ",\"sql\":\"a\0b\"}", sizeof "{" TAGS ",\"sql\":\"a\0b\"}" - 1, RC_OK, RUN,
               5);
}

static void a_readable_object_without_run_belongs_to_the_implicit_run(void **state)
{
    (void)state;
    peeks("{}", "", -1);
    peeks(" { \"oder\" : 1 , \"seq\" : 3 }", "", 3);
    peeks("{\"order\":1,\"sql\":[\"a\",{\"b\":\"]\"}]}", "", -1);
}

static void what_may_mislead_gives_no_account(void **state)
{
    (void)state;
    peeks_nothing("");
    peeks_nothing("5");
    peeks_nothing("[{" TAGS "}]");
    peeks_nothing("SELECT 1");
    peeks_nothing("{\"seq\":5,"); /* its run may have followed */
    peeks_nothing("{\"run\":5}"); /* no UUID */
    peeks_nothing("{\"run\":\"" RUN "0\"}");
    peeks_nothing("{\"run\":\"" RUN);     /* cut */
    peeks_nothing("{" TAGS "," TAGS "}"); /* which? */
    peeks_nothing("{" TAGS ",\"seq\":6}");
    peeks_nothing("{" TAGS ",\"run\":\"00000000-9b0a-4a53-8f43-2a8f3bb0c9de\"}");
    peeks_nothing("{\"sql\":\"\\\",\\\"run\\\":\\\"\",\"seq\":7"); /* inside a string */
    peeks_nothing("{\"run\":\"" RUN "\",\"seq\":\"5\"}");
    peeks_nothing("{\"run\":\"" RUN "\",\"seq\":-1}");
    peeks_nothing("{\"run\":\"" RUN "\",\"seq\":-0}");
    peeks_nothing("{\"run\":\"" RUN "\",\"seq\":1.0}");
    peeks_nothing("{\"run\":\"" RUN "\",\"seq\":9223372036854775808}");
    peeks_nothing("{\"seq\":5,\"r\\u0075n\":\"" RUN "\"}"); /* spelt with an escape */
    char run[37];
    int64_t seq;
    assert_int_equal(message_peek(NULL, 0, run, &seq), RC_NONE);
}

static void peeking_is_bounded_and_does_not_recurse(void **state)
{
    (void)state;
    enum { SIZE = 2 * MESSAGE_MAX_BYTES };
    FREE_AUTO char *text = xmalloc(SIZE);
    memset(text, '[', SIZE);
    memcpy(text, "{" TAGS ",\"a\":", sizeof "{" TAGS ",\"a\":" - 1);
    peek_bytes(text, SIZE, RC_OK, RUN, 5);
    memset(text, ' ', SIZE);
    memcpy(text + SIZE - sizeof "{" TAGS "}" + 1, "{" TAGS "}", sizeof "{" TAGS "}" - 1);
    peek_bytes(text, SIZE, RC_NONE, NULL, 0); /* too far behind */
}

static void a_peek_agrees_with_a_parse(void **state)
{
    (void)state;
    const char *text = "{\"order\":2,\"sql\":\"x\"," TAGS ",\"previous_order\":1}";
    MESSAGE_AUTO *msg = NULL;
    assert_int_equal(message_parse(text, strlen(text), MESSAGE_RECORD, &msg, NULL), RC_OK);
    peeks(text, msg->run, msg->seq);
    for (size_t len = 0; len < strlen(text); len++) {
        bool found = len >= strlen("{\"order\":2,\"sql\":\"x\",\"run\":\"" RUN "\"");
        bool seq = len > strlen("{\"order\":2,\"sql\":\"x\"," TAGS);
        peek_bytes(text, len, found ? RC_OK : RC_NONE, RUN, seq ? 5 : -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_and_seq_are_found_in_what_does_not_parse),
        cmocka_unit_test(a_readable_object_without_run_belongs_to_the_implicit_run),
        cmocka_unit_test(what_may_mislead_gives_no_account),
        cmocka_unit_test(peeking_is_bounded_and_does_not_recurse),
        cmocka_unit_test(a_peek_agrees_with_a_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
