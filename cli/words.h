/**
 * What: the words that options take as filters: statuses and kinds of events.
 * Invariants: RUN_STATUSES are the statuses that lockstep.run_status shows, EVENTS those that the
 *   SQL writes to the event log (tests/unit/words.sh compares both), TASK_STATUS_WORDS those of the
 *   type lockstep.status (tests/unit/words.sh), REJECTED_REASONS those of task/message.h.
 * Threads: constants.
 * Ownership: nothing.
 * Failure: none.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "task/message.h"

#define RUN_STATUSES                                                                               \
    "Publishing|Published|Running|Paused|Completed|PartiallyCompleted|Failed|Cancelled"

#define TASK_STATUS_WORDS                                                                          \
    "Pending|Processing|Error|Failed|Completed|Cancelled|Paused|Terminated|PartiallyCompleted"

/* The words of the list in task/message.h, with a bar between them. */
#define WORD_OF_REASON(name, text) "|" text
#define REJECTED_REASONS           (&(MESSAGE_REASONS(WORD_OF_REASON))[1])

#define EVENTS                                                                                     \
    "alert_acknowledged|alert_closed|alert_opened|"                                                \
    "executor_changed|executor_died|executor_drain|executor_frozen|"                               \
    "failed_over|halt_lifted|message_rejected|messages_redriven|"                                  \
    "phase_opened|publish_aborted|publish_failed|publish_resumed|publish_started|"                 \
    "queue_changed|queue_created|queue_deleted|queue_halted|queue_paused|queue_resumed|"           \
    "replay_abandoned|replay_begun|replay_completed|replay_resumed|"                               \
    "run_cancelled|run_closed|run_ended|run_enqueued|run_paused|run_published|run_reopened|run_"   \
    "resumed|"                                                                                     \
    "run_retried|run_started|run_stopped|server_accepted|"                                         \
    "session_ended|"                                                                               \
    "task_cancelled|task_completed|task_failed|task_left|task_retried|task_stopping|"              \
    "task_terminated|tasks_reopened|token_created|token_revoked|topic_accepted"

#endif
