/* A visitor's session with PostgreSQL: the requests that wait for it, and the state in which it is
 * returned. */
#include "tests/support/support.h"

#include "base/condition.h"
#include "console/visitor_make.h"
#include "db/backend.h"
#include "db/task_session.h"
#include "sql/sql.h"

#include <pthread.h>
#include <string.h>

static const struct visitor_patience at_once = {0};

/* A request that keeps the session until it is let go. */
struct holder {
    struct visitor *visitor;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_it, let_go;
    enum rc rc;
};

static enum rc hold(struct db *db, void *context, struct err *err)
{
    struct holder *holder = context;
    (void)db;
    (void)err;
    (void)pthread_mutex_lock(&holder->lock);
    holder->has_it = true;
    (void)pthread_cond_broadcast(&holder->changed);
    while (!holder->let_go)
        (void)pthread_cond_wait(&holder->changed, &holder->lock);
    (void)pthread_mutex_unlock(&holder->lock);
    return RC_OK;
}

static void *holder_main(void *context)
{
    struct holder *holder = context;
    struct err err = {0};
    holder->rc = visitor_use(holder->visitor, NULL, hold, holder, &err);
    return NULL;
}

static void a_session_that_is_in_use_is_not_waited_for_by_who_will_not_wait(void **state)
{
    (void)state;
    struct holder holder = {.visitor = visitor_new("tester", LEVEL_NONE, support_database())};
    struct err err = {0};
    pthread_t thread;
    (void)pthread_mutex_init(&holder.lock, NULL);
    condition_init(&holder.changed);
    assert_ok(visitor_ask(holder.visitor, at_once, &sql_console_groups, NULL, NULL, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, holder_main, &holder), 0);
    (void)pthread_mutex_lock(&holder.lock);
    while (!holder.has_it)
        (void)pthread_cond_wait(&holder.changed, &holder.lock);
    (void)pthread_mutex_unlock(&holder.lock);
    /* It returns although no request returns the session. */
    enum rc rc = visitor_ask(holder.visitor, at_once, &sql_console_groups, NULL, NULL, &err);
    (void)pthread_mutex_lock(&holder.lock);
    bool kept = !holder.let_go;
    holder.let_go = true;
    (void)pthread_cond_broadcast(&holder.changed);
    (void)pthread_mutex_unlock(&holder.lock);
    (void)pthread_join(thread, NULL);
    assert_rc(rc, RC_RETRY, &err);
    assert_true(kept);
    assert_int_equal(holder.rc, RC_OK);
    assert_ok(visitor_ask(holder.visitor, at_once, &sql_console_groups, NULL, NULL, &err), &err);
    visitor_release(holder.visitor);
    (void)pthread_cond_destroy(&holder.changed);
    (void)pthread_mutex_destroy(&holder.lock);
}

struct leaving {
    const char *script;
    bool in_transaction; /* when it got the session */
    int backend;
};

static enum rc leave(struct db *db, void *context, struct err *err)
{
    struct leaving *leaving = context;
    leaving->in_transaction = db_in_transaction(db);
    leaving->backend = db_backend_pid(db);
    return leaving->script != NULL ? db_script(db, leaving->script, NULL, err) : RC_OK;
}

static void a_transaction_that_a_request_leaves_open_ends_with_it(void **state)
{
    (void)state;
    static const char *const scripts[] = {"BEGIN", "BEGIN; SELECT 1 / 0"};
    struct visitor *visitor = visitor_new("tester", LEVEL_NONE, support_database());
    for (size_t i = 0; i < 2; i++) {
        struct leaving first = {.script = scripts[i]}, next = {0};
        struct err err = {0};
        enum rc rc = visitor_use(visitor, NULL, leave, &first, &err);
        assert_int_equal(rc == RC_OK, i == 0);
        assert_ok(visitor_use(visitor, NULL, leave, &next, &err), &err);
        assert_false(next.in_transaction);
        assert_int_equal(next.backend, first.backend);
    }
    visitor_release(visitor);
}

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_session_that_is_in_use_is_not_waited_for_by_who_will_not_wait,
                                  teardown),
        cmocka_unit_test_teardown(a_transaction_that_a_request_leaves_open_ends_with_it, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
