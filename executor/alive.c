#include "executor/alive.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE_FACTOR 5

struct alive {
    pthread_t thread;
    struct mailbox inbox; /* anything in it means: look again */
    struct mailbox *control;
    struct db *db;
    int executor_no, heartbeat_ms;
    _Atomic bool busy, stopping;
    struct mail stop;
};

static void tell(struct alive *alive, enum alive_news news, const struct err *err)
{
    struct alive_mail *mail = xcalloc(1, sizeof *mail);
    mail->mail.kind = MAIL_ALIVE;
    mail->news = news;
    if (err != NULL)
        mail->err = *err;
    mailbox_put(alive->control, &mail->mail);
}

static enum rc beat(struct alive *alive, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(alive->db, &sql_executor_heartbeat,
                        (const char *const[]){DB_INT(alive->executor_no)}, &row, err);
    if (rc == RC_OK && db_rows(row) == 0)
        return err_set(err, RC_LOST, ERR_DB, "executor", NULL,
                       "another executor has declared this one dead");
    if (rc == RC_OK && db_int(row, 0, 0) > 0)
        tell(alive, ALIVE_OTHERS_DIED, NULL);
    return rc;
}

static void *alive_main(void *context)
{
    struct alive *alive = context;
    struct err err = {0};
    enum rc rc = RC_OK;
    int64_t confirmed_us = clock_boot_us();
    while (!alive->stopping && rc != RC_LOST) {
        mailbox_wait(&alive->inbox, alive->heartbeat_ms * (alive->busy ? 1 : IDLE_FACTOR));
        (void)mailbox_take(&alive->inbox);
        if (alive->stopping)
            break;
        rc = beat(alive, &err);
        int64_t now_us = clock_boot_us();
        if (rc == RC_OK)
            confirmed_us = now_us;
        else if (now_us - confirmed_us > ALIVE_T1_MS * 1000LL)
            rc = RC_LOST;
    }
    if (!alive->stopping)
        tell(alive, ALIVE_LOST, &err);
    return NULL;
}

static enum rc enroll(struct executor *ex, struct alive *alive, struct err *err)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    STR_AUTO queues = {0};
    db_array_start(&queues);
    for (int i = 0; i < ex->options->queue_count; i++)
        db_array_text(&queues, ex->options->queues[i], strlen(ex->options->queues[i]));
    db_array_end(&queues);
    uuid_new(ex->id);
    DB_RESULT_AUTO *row = NULL;
    const char *const params[] = {
        ex->id,     host, DB_INT(getpid()), LOCKSTEP_VERSION, DB_INT(ex->options->readers),
        queues.data};
    enum rc rc = db_run(alive->db, &sql_executor_register, params, &row, err);
    if (rc != RC_OK)
        return rc;
    ex->executor_no = alive->executor_no = (int)db_int(row, 0, 0);
    if (!db_bool(row, 0, 1))
        return err_set(err, RC_FATAL, ERR_INTERNAL, ex->id, "Please report this.",
                       "a new executor's lock is not free");
    return RC_OK;
}

enum rc alive_start(struct executor *ex, struct alive **ret_alive, struct err *err)
{
    struct alive *alive = xcalloc(1, sizeof *alive);
    alive->control = &ex->inbox;
    alive->heartbeat_ms = ex->options->heartbeat_ms;
    mailbox_init(&alive->inbox);
    enum rc rc = db_open(ex->options->conninfo, DB_LIVENESS, &alive->db, err);
    if (rc == RC_OK)
        rc = enroll(ex, alive, err);
    int failed = rc == RC_OK ? pthread_create(&alive->thread, NULL, alive_main, alive) : 0;
    if (failed != 0)
        rc = err_set(err, RC_FATAL, ERR_INTERNAL, "liveness", NULL, "cannot start a thread: %s",
                     strerror(failed));
    if (rc == RC_OK) {
        *ret_alive = alive;
        return rc;
    }
    db_close(alive->db);
    mailbox_done(&alive->inbox);
    free(alive);
    return rc;
}

void alive_busy(struct alive *alive, bool busy)
{
    if (alive->busy == busy)
        return;
    alive->busy = busy;
    if (busy) /* the others look for the dead, too, from now on */
        mailbox_poke(&alive->inbox);
}

void alive_stop(struct alive *alive, const char *why)
{
    if (alive == NULL)
        return;
    alive->stopping = true;
    mailbox_put(&alive->inbox, &alive->stop);
    (void)pthread_join(alive->thread, NULL);
    enum rc rc = db_run(alive->db, &sql_executor_end,
                        (const char *const[]){DB_INT(alive->executor_no), why}, NULL, NULL);
    if (rc != RC_OK)
        log_event(LOG_WARN, "executor_not_signed_off", "executor", LOG_INT(alive->executor_no),
                  NULL);
    db_close(alive->db);
    mailbox_done(&alive->inbox);
    free(alive);
}
