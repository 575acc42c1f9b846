/**
 * What: the databases that a console serves, and the list of them: GET clusters, which needs no
 *   sign-in, for the sign-in itself begins with it.
 * Invariants: the first one, by name, is the default: its API is below the console's base path as
 *   well as below clusters/NAME/. A visitor sees the figures of those databases into which it may
 *   look, and of the others whether they answer.
 * Threads: any, once it is open.
 * Ownership: clusters_open gives, clusters_close takes.
 * Failure: RC_FATAL: threads cannot be started.
 */
#ifndef CONSOLE_CLUSTERS_H
#define CONSOLE_CLUSTERS_H

#include "console/cluster.h"

struct clusters;
struct db_server;
struct console_cluster {
    const char *name, *conninfo;
};
struct clusters_options {
    const struct console_cluster *items;
    int count;
    int port;                                /* where the console listens; 0: none */
    const struct db_server *server;          /* of the only one, for its metrics; NULL: any */
    const struct sessions_options *sessions; /* without a connection string */
    const struct api *common;
};

MUST_CHECK enum rc clusters_open(const struct clusters_options *options,
                                 struct clusters **ret_clusters, struct err *err);
void clusters_close(struct clusters *clusters); /* NULL is fine */
struct cluster *clusters_default(const struct clusters *clusters);
/** NULL: there is none of this name. */
struct cluster *clusters_find(const struct clusters *clusters, const char *name);
int clusters_count(const struct clusters *clusters);
/** Whether named answers (NULL: one of them): for a second at most. */
bool clusters_ready(const struct clusters *clusters, struct cluster *named);
/** The list; asked: the API to which the request came. */
void clusters_answer(const struct clusters *clusters, const struct api *asked,
                     struct http_request *request);

#endif
