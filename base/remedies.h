/**
 * What: the remedies that the program prints and that contain a command, in one place; those of the database are in lockstep.wait_reason
 *   and lockstep.halt_reason.
 * Invariants: a command begins with "lockstep", its values are filled in, and it ends with the text or with one of . , ; and a
 *   space, so it can be pasted. tests/cli/remedies.bats holds each to the table of commands, tests/e2e/remedies.sh takes them.
 * Threads: any. Ownership: literals. Failure: none.
 */
#ifndef BASE_REMEDIES_H
#define BASE_REMEDIES_H

#define REMEDY_RUN_LIST   "See: lockstep run list"
#define REMEDY_RUN_SHOW   "To see it: lockstep run show %s"
#define REMEDY_RUN_WATCH  "The run continues. To follow it: lockstep run watch %s"
#define REMEDY_RUN_FAILED "To see what failed: lockstep run show %s"
#define REMEDY_RUN_THERE                                                                           \
    "Leave --run out for a new run. To see the one that is there: lockstep run show %s"
#define REMEDY_RUN_RESUME                                                                          \
    "To go on with it: lockstep publish --queue %s --resume %s. The next other run closes it as "  \
    "aborted"
#define REMEDY_RUN_DOUBT                                                                           \
    "Once Kafka answers, to find out and go on: lockstep publish --queue %s --resume %s. The "     \
    "next other run closes it as aborted"
#define REMEDY_RUN_UNFINISHED                                                                      \
    "To go on with it: lockstep publish --queue %s --resume %s. To close it: lockstep run end "    \
    "%s. Publishing with --unfinished close does that first"
#define REMEDY_QUEUE_LIST    "See: lockstep queue list"
#define REMEDY_QUEUE_MISSING "See: lockstep queue list. To make it: lockstep queue create %.63s"
#define REMEDY_QUEUE_SHOW    "See: lockstep queue show %.63s"
#define REMEDY_QUEUE_RESUME  "lockstep queue resume %.63s"
#define REMEDY_QUEUE_EXPLAIN "To see why, and what helps: lockstep queue explain %.63s"
#define REMEDY_TOPIC_SHAPE                                                                         \
    "Order holds within one partition. An executor halts the queue; if its producers still write " \
    "to its partition: lockstep queue resume %.63s --accept-topic"
#define REMEDY_TOPIC_ANEW                                                                          \
    "An executor halts the queue. Then, to read the new topic from its beginning: lockstep queue " \
    "resume %.63s --accept-topic --from-offset earliest"
#define REMEDY_TOPIC_GONE                                                                          \
    "Was the topic deleted, or is this another cluster? Once it is made again: lockstep queue "    \
    "resume %.63s --accept-topic --from-offset earliest"
#define REMEDY_TOPIC_RETENTION                                                                     \
    "What no executor holds in memory is lost: publish those runs again. An executor halts the "   \
    "queue if it is so; then: lockstep queue resume %.63s --accept-topic --from-offset earliest"
#define REMEDY_TOPIC_TRUNCATED                                                                     \
    "The topic was made anew, or the log lost its tail. An executor halts the queue; then, to go " \
    "on from the log's end: lockstep queue resume %.63s --accept-topic --from-offset latest"
#define REMEDY_REPLAY_OTHER                                                                        \
    "To go on with it: lockstep replay --queue %.63s --resume %s. To give it up: lockstep replay " \
    "--queue %.63s --abandon %s"
#define REMEDY_REPLAY_RESUME "Go on with: lockstep replay --queue %.63s --resume %d"
#define REMEDY_REPLAY_LOG    "See: lockstep log --event replay_begun"
#define REMEDY_LOCK_LIST     "See: lockstep lock list"

#endif
