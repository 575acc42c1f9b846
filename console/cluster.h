/**
 * What: one database that the console serves, with all that belongs to it: its web sessions, the
 *   answers that are kept, its event stream, and its line in the list of all databases.
 * Invariants: clusters share no session, no answer and no lock, so a database that is down holds up
 *   no other one. At most CLUSTER_REQUESTS requests at a time wait for one database, so it does not
 *   take the workers of the others. A thread of the cluster asks the database whether it answers,
 *   one question for all who wait, and only while the list or readyz is asked for. When the groups
 *   of a person for whom the list is made are to be read, it does that, too: a request does not
 *   wait for a database that hangs.
 * Threads: any.
 * Ownership: borrows its name and connection string. cluster_open gives, cluster_close takes.
 * Failure: only its threads can fail to start. cluster_open succeeds while the database is down.
 */
#ifndef CONSOLE_CLUSTER_H
#define CONSOLE_CLUSTER_H

#include "console/api.h"

#define CLUSTER_REQUESTS 16
#define CLUSTER_NAMELESS "postgres" /* of the only one, which is that of [postgres] */

struct cluster;
struct db_server;
struct cluster_options {
    const char *name;
    const struct db_server *server; /* no other one is asked for metrics; NULL: any */
    struct sessions_options sessions;
    const struct api *common; /* what all have; copied */
};

MUST_CHECK enum rc cluster_open(const struct cluster_options *options, struct cluster **ret_cluster,
                                struct err *err);
void cluster_close(struct cluster *cluster); /* NULL is fine */
const char *cluster_name(const struct cluster *cluster);
/** The API with its sessions, answers and stream. */
const struct api *cluster_api(const struct cluster *cluster);
/** False: as many requests as may wait for it do. */
bool cluster_enter(struct cluster *cluster);
void cluster_leave(struct cluster *cluster);
/** Asks the database whether it answers, unless it is being asked or its last answer is at most
 * known_us old. visitor: a person with a web session there (NULL: none), whose groups are read
 * again if that is due. */
void cluster_ask(struct cluster *cluster, struct visitor *visitor, int64_t known_us);
/** Whether it answers; its figures, JSON, are added. Waits for the answer to cluster_ask until
 * until_us of clock_boot_us: a database that is silent until then does not answer. */
bool cluster_answers(struct cluster *cluster, int64_t until_us, struct str *figures);

#endif
