/* A claim that the database refuses for its data may cost only the message that is the cause. The
 * claim is undone where it was made: the transaction is rolled back, S of the phase that it may
 * have taken is released on the same session (executor/locks.h), and the next claim takes half as
 * many messages, until the one is alone; that one is kept as rejected. A rejection that is refused
 * is sent again with less of the record: each claim is made at most nine times (256 messages,
 * halved) and then three times. */
#include "executor/refusal.h"

#include "executor/lane.h"
#include "executor/locks.h"
#include "executor/receive.h"

#include "base/log.h"
#include "base/utf8.h"
#include "db/db.h"
#include "db/parameter.h"
#include "task/message.h"

#include <stdio.h>
#include <string.h>

static const char FIXED_DETAIL[] = "the server refused to keep what was said of this record";

/* What the data of messages can cause: data exceptions, constraints, limits of the server. */
static bool by_data(const struct err *err)
{
    static const char *const states[] = {"22", "23", "54"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(err->code, states[i], strlen(states[i])) == 0)
            return true;
    return false;
}

/* From here on it is no message. */
static void reject(struct buffered *buffered, const struct err *why)
{
    char text[401];
    utf8_copy(text, sizeof text, why->message);
    message_free(buffered_take_message(buffered));
    (void)err_set(&buffered->why, RC_REJECT, ERR_DB, "", NULL, "%s: %s", why->code, text);
    err_code(&buffered->why, message_reason_name(MESSAGE_REFUSED));
}

/* A rejection was refused. The rejection itself has three parts that the database may refuse: the
 * message of the parser, the reason, and the bytes of the record. Each refusal drops the next part.
 * The record is never skipped: if even the bare offset is refused, the queue halts
 * (tests/e2e/refused.sh). */
static enum rc reject_with_less(struct lane *lane, struct buffered *buffered, const struct err *why,
                                struct err *err)
{
    if (buffered->detail < DETAIL_NONE) {
        if (buffered->detail++ == DETAIL_ALL) {
            char code[sizeof buffered->why.code];
            utf8_copy(code, sizeof code, buffered->why.code);
            (void)err_set(&buffered->why, RC_REJECT, ERR_DB, "", NULL, "%s", FIXED_DETAIL);
            err_code(&buffered->why, code);
        } else {
            err_code(&buffered->why, message_reason_name(MESSAGE_REFUSED));
        }
        return RC_OK;
    }
    STR_AUTO detail = {0};
    str_format(&detail,
               "the database refuses even the rejection of the record at offset %lld: %s: %s",
               (long long)buffered->offset, why->code, why->message);
    return lane_halt(lane, "rejection_refused", detail.data, err);
}

enum rc claim_refused(struct lane *lane, int count, struct err *err)
{
    struct buffered *head = stream_head(&lane->stream, 0);
    int64_t last = stream_head(&lane->stream, count - 1)->offset;
    const struct err why = *err;
    /* Any other refusal is not the fault of a message, and halving the claim would reject good
     * messages one by one. Nor is a refused commit: the data was accepted then, and no constraint
     * of a row that a claim writes is deferred. A full queue of notifications, for one, has the
     * SQLSTATE of a limit that data exceeds, 54000 (tests/e2e/commit_refused.sh). */
    if (why.at_commit || (head->msg != NULL && !by_data(&why)))
        return RC_REJECT;
    enum rc rc = locks_settle(lane->ex, err);
    if (rc != RC_OK)
        return rc;
    log_event(LOG_WARN, "claim_refused", "queue", lane->queue.name, "messages", LOG_INT(count),
              "last", LOG_INT(last), "code", why.code, "error", why.message, NULL);
    if (head->msg == NULL && count == 1)
        return reject_with_less(lane, head, &why, err);
    /* Until the end of the refused claim every claim is small; behind it the messages have not been
     * refused, so claims are whole again. */
    claims_limit(&lane->claims, count > 1 ? count / 2 : 1, last);
    if (count == 1)
        reject(head, &why);
    return RC_OK;
}
