/* Mail comes out in the order it was put in, returned mail before it, and the descriptor signals
 * it. */
#include "base/mailbox.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool readable(const struct mailbox *box)
{
    struct pollfd fd = {.fd = box->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

/* Links mails[0..count), their kinds 1, 2, ... */
static struct mail *chain(struct mail *mails, int count, int first_kind)
{
    for (int i = 0; i < count; i++)
        mails[i] =
            (struct mail){.next = i + 1 < count ? &mails[i + 1] : NULL, .kind = first_kind + i};
    return mails;
}

static void assert_kinds(struct mailbox *box, const int *kinds)
{
    struct mail *mail = mailbox_take(box);
    for (; *kinds != 0; kinds++, mail = mail->next) {
        assert_non_null(mail);
        assert_int_equal(mail->kind, *kinds);
    }
    assert_null(mail);
    assert_false(readable(box));
    assert_false(mailbox_waiting(box));
}

static void several_come_together_behind_what_was_there(void **state)
{
    (void)state;
    struct mailbox box;
    struct mail one = {.kind = 1}, last = {.kind = 5}, three[3];
    mailbox_init(&box);
    assert_kinds(&box, (const int[]){0});
    mailbox_put(&box, &one);
    mailbox_put_all(&box, chain(three, 3, 2));
    mailbox_put_all(&box, NULL);
    mailbox_put(&box, &last);
    assert_true(readable(&box));
    assert_kinds(&box, (const int[]){1, 2, 3, 4, 5, 0});
    mailbox_done(&box);
}

static void what_is_put_back_comes_first_and_wakes_again(void **state)
{
    (void)state;
    struct mailbox box;
    struct mail news = {.kind = 3}, later = {.kind = 4}, old[2];
    mailbox_init(&box);
    mailbox_put_back(&box, NULL);
    assert_false(readable(&box));
    mailbox_put_all(&box, chain(old, 2, 1));
    struct mail *taken = mailbox_take(&box);
    mailbox_put(&box, &news);
    mailbox_put_back(&box, taken);
    mailbox_put(&box, &later);
    assert_true(mailbox_waiting(&box));
    assert_kinds(&box, (const int[]){1, 2, 3, 4, 0});
    mailbox_put_back(&box, chain(old, 2, 1)); /* into an empty one: later mail goes behind it */
    assert_true(readable(&box));
    mailbox_put(&box, &news);
    assert_kinds(&box, (const int[]){1, 2, 3, 0});
    mailbox_done(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_come_together_behind_what_was_there),
        cmocka_unit_test(what_is_put_back_comes_first_and_wakes_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
