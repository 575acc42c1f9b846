/**
 * What: the state that the control thread keeps in memory: the executor, its lanes (one per
 *   queue), the phases and tasks in their hands. For the files of executor/ only.
 * Invariants: everything here can be lost at any moment; the database knows better. All of it
 *   belongs to the control thread; readers, gates and the liveness thread get messages
 *   (base/mailbox.h) and send messages back.
 * Threads: control only, but for the two mailboxes.
 * Ownership: executor owns lanes, readers, gates; lane owns phases and buffer; phase owns its
 *   waiting work; a work that a reader runs belongs to the reader until it returns.
 * Failure: -
 */
#ifndef EXECUTOR_LANE_H
#define EXECUTOR_LANE_H

#include "executor/claims.h"
#include "executor/control.h"
#include "executor/drain.h"
#include "executor/gate.h"
#include "executor/identity.h"
#include "executor/idle.h"
#include "executor/incarnation.h"
#include "executor/judging.h"
#include "executor/lag.h"
#include "executor/late.h"
#include "executor/notifications.h"
#include "executor/orphans.h"
#include "executor/output.h"
#include "executor/pace.h"
#include "executor/phases.h"
#include "executor/queue.h"
#include "executor/readers.h"
#include "executor/requests.h"
#include "executor/services.h"
#include "executor/share.h"
#include "executor/stream.h"
#include "executor/turn.h"

/** What reaches the control thread. */
enum control_mail { MAIL_WORK_DONE, MAIL_GATE, MAIL_ALIVE, MAIL_TOPIC };

struct lane {
    struct executor *ex;
    struct queue queue;
    struct stream stream;
    struct lag lag;
    struct identity identity;

    struct phases phases;
    struct claims claims;
    struct pace pace;

    struct orphans orphans;
    struct notifications notifications;
    struct paused_runs paused;
    struct share share;
    struct gates gates;
    struct late late;
    struct idling idling;
};

struct executor {
    const struct executor_options *options;
    struct server_memory *memory; /* server.h; outlives the incarnation */
    struct incarnation incarnation;
    struct control control;
    struct services services;
    struct mailbox inbox;
    struct turn turn;
    struct lane *lanes;
    int lane_count;
    struct line line;
    struct readers readers;
    struct drain drain;
    struct judging judging;
    struct output output;
};

#endif
