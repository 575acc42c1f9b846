/**
 * What: an address that a server listens on, and its socket: "8330" (loopback), "HOST:8330",
 *   "[::1]:8330", the absolute path of a Unix socket, or "systemd": the socket that systemd passes
 *   (sd_listen_fds(3)).
 * Invariants: a listening socket is not inherited. A Unix socket that no process serves any more is
 *   replaced; any other file at its path is left alone.
 * Threads: any.
 * Ownership: the caller closes the socket with listen_close.
 * Failure: RC_FATAL + ERR_CONFIG: the address cannot be read, is not one of this host, or is in
 *   use; the hint names the remedy.
 */
#ifndef CONSOLE_LISTEN_H
#define CONSOLE_LISTEN_H

#include "base/err.h"

#include <stdbool.h>

struct listener {
    int fd;
    bool loopback;  /* only processes of this host reach it; a Unix socket, too */
    bool local;     /* a Unix socket */
    int port;       /* the one that was given or chosen; 0: none */
    char host[64];  /* as a Host header names it; "" for a Unix socket */
    char path[108]; /* of a Unix socket that listen_close removes; "" */
};

MUST_CHECK enum rc listen_open(const char *address, struct listener *ret_listener, struct err *err);
void listen_close(struct listener *listener);

#endif
