/* The questions whether those who listen still may: each is asked, whenever it comes, until the
 * order to stop; then the rest is answered without the database. */
#include "console/recheck.h"

#include "base/condition.h"
#include "console/visitor_make.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LATE_MS 30000 /* an answer that did not come until then will not come */

/* Answers "no", so that a question that was not asked is known by its answer. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int came, let; /* questions that began, and that may end */
};

static bool refuse(void *context, struct visitor *visitor)
{
    struct gate *gate = context;
    (void)visitor;
    (void)pthread_mutex_lock(&gate->lock);
    int number = ++gate->came;
    (void)pthread_cond_broadcast(&gate->changed);
    while (gate->let < number)
        (void)pthread_cond_wait(&gate->changed, &gate->lock);
    (void)pthread_mutex_unlock(&gate->lock);
    return false;
}

static void await_question(struct gate *gate, int number)
{
    (void)pthread_mutex_lock(&gate->lock);
    while (gate->came < number)
        (void)pthread_cond_wait(&gate->changed, &gate->lock);
    (void)pthread_mutex_unlock(&gate->lock);
}

static void let(struct gate *gate, int number)
{
    (void)pthread_mutex_lock(&gate->lock);
    gate->let = number;
    (void)pthread_cond_broadcast(&gate->changed);
    (void)pthread_mutex_unlock(&gate->lock);
}

static void gate_init(struct gate *gate)
{
    *gate = (struct gate){0};
    (void)pthread_mutex_init(&gate->lock, NULL);
    condition_init(&gate->changed);
}

static void gate_done(struct gate *gate)
{
    (void)pthread_cond_destroy(&gate->changed);
    (void)pthread_mutex_destroy(&gate->lock);
}

static void ask(struct recheck *recheck, const char *login)
{
    struct visitor *visitor = visitor_new(login, LEVEL_MONITOR, NULL);
    recheck_ask(recheck, visitor);
    visitor_release(visitor);
}

/* All answers that are there: "Z A+": both came, and A may. */
static void take(struct mailbox *answers, char *said)
{
    for (struct mail *mail = mailbox_take(answers), *next; mail != NULL; mail = next) {
        struct rechecked *answer = (struct rechecked *)mail;
        next = mail->next;
        (void)strcat(strcat(said, *said == '\0' ? "" : " "), visitor_login(answer->visitor));
        (void)strcat(said, answer->may ? "+" : "");
        visitor_release(answer->visitor);
        free(answer);
    }
}

static void start(struct recheck *recheck, struct mailbox *answers,
                  bool (*may)(void *, struct visitor *), void *context)
{
    struct err err = {0};
    mailbox_init(answers);
    *recheck = (struct recheck){.answers = answers, .may = may, .context = context};
    assert_int_equal(recheck_start(recheck, &err), RC_OK);
}

static void questions_that_come_while_others_are_answered_are_asked(void **state)
{
    (void)state;
    struct gate gate;
    struct mailbox answers;
    struct recheck recheck;
    char said[40] = "";
    gate_init(&gate);
    start(&recheck, &answers, refuse, &gate);
    ask(&recheck, "Z");
    await_question(&gate, 1);
    ask(&recheck, "A");
    ask(&recheck, "B");
    let(&gate, 1);
    await_question(&gate, 2); /* A; B was taken with it */
    ask(&recheck, "C");
    let(&gate, 4);
    for (bool late = false; strchr(said, 'C') == NULL && !late;) {
        mailbox_wait(&answers, LATE_MS);
        late = !mailbox_waiting(&answers);
        take(&answers, said);
    }
    recheck_stop(&recheck);
    take(&answers, said);
    mailbox_done(&answers);
    gate_done(&gate);
    assert_string_equal(said, "Z A B C");
}

/* The stop comes while a question is asked, and the question behind it has not been: a thread that
 * stops would otherwise wait for as many statements as there are visitors. */
struct ending {
    struct gate *gate;
    struct recheck *recheck;
};

static bool refuse_at_the_end(void *context, struct visitor *visitor)
{
    const struct ending *ending = context;
    bool may = refuse(ending->gate, visitor);
    while (!ending->recheck->ending)
        (void)sched_yield();
    return may;
}

static void at_the_end_the_rest_is_answered_without_being_asked(void **state)
{
    (void)state;
    struct gate gate;
    struct mailbox answers;
    struct recheck recheck;
    struct ending ending = {.gate = &gate, .recheck = &recheck};
    char said[40] = "";
    gate_init(&gate);
    let(&gate, 3);
    start(&recheck, &answers, refuse_at_the_end, &ending);
    ask(&recheck, "A");
    await_question(&gate, 1);
    ask(&recheck, "B");
    ask(&recheck, "C");
    recheck_stop(&recheck);
    take(&answers, said);
    mailbox_done(&answers);
    gate_done(&gate);
    assert_string_equal(said, "A B+ C+");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_that_come_while_others_are_answered_are_asked),
        cmocka_unit_test(at_the_end_the_rest_is_answered_without_being_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
