/* bench_distance PORT ROUND_TRIP_US: a network that is long: listens on a free port of 127.0.0.1,
 * which it prints, and connects to PORT there; bytes that come in are passed on half a round trip
 * later, however many are under way. Ends with its parent. Stands in for a delay in the kernel's
 * network (netem), which is not available everywhere.
 *
 * One thread serves both directions of every connection, in the order in which pieces fall due; its
 * own work adds to the delay. Only the delay is modelled: no loss, no limit of bandwidth, no delay
 * of the first SYN. */
#include "base/clock.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 256 /* connections */

/* 16 kB at a time: a piece keeps the moment at which its bytes came, so that a later one is not
 * early. */
struct piece {
    struct piece *next;
    int64_t due_us;
    size_t len, sent;
    char bytes[16384];
};

/* The bytes from one socket to the other. */
struct way {
    int from, to;
    bool ended; /* nothing more comes */
    struct piece *first, **last;
};

static struct way ways[MOST * 2];
static int way_count;

static int socket_at(uint16_t port, bool listening)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr *address = (const struct sockaddr *)&at;
    if (fd < 0 || (listening ? bind(fd, address, sizeof at) != 0 || listen(fd, MOST) != 0
                             : connect(fd, address, sizeof at) != 0)) {
        perror("bench_distance");
        exit(1);
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void add_way(int from, int to)
{
    ways[way_count] = (struct way){.from = from, .to = to};
    ways[way_count].last = &ways[way_count].first;
    way_count++;
}

static void take(struct way *way, int64_t due_us)
{
    struct piece *piece = xmalloc(sizeof *piece);
    ssize_t n = recv(way->from, piece->bytes, sizeof piece->bytes, MSG_DONTWAIT);
    if (n < 0) { /* nothing after all, or reset: the end of it comes */
        free(piece);
        return;
    }
    /* The end of the stream travels as an empty piece: it must not overtake the bytes before it. */
    way->ended = n == 0;
    piece->next = NULL;
    piece->due_us = due_us;
    piece->len = (size_t)n;
    piece->sent = 0;
    *way->last = piece;
    way->last = &piece->next;
}

/* Passes on the pieces that are due. Returns how long until the next one is. */
static int64_t pass_on(struct way *way, int64_t now_us)
{
    struct piece *piece;
    while ((piece = way->first) != NULL && piece->due_us <= now_us) {
        ssize_t n = piece->len == 0 ? 0
                                    : send(way->to, piece->bytes + piece->sent,
                                           piece->len - piece->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (piece->len == 0)
            (void)shutdown(way->to, SHUT_WR);
        if (n < 0 && piece->len > 0)
            /* The receiver's buffer is full: tried again after a millisecond. */
            return 1000;
        piece->sent += (size_t)n;
        if (piece->sent < piece->len)
            continue;
        way->first = piece->next;
        if (way->first == NULL)
            way->last = &way->first;
        free(piece);
    }
    return piece != NULL ? piece->due_us - now_us : 1000000;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: bench_distance PORT ROUND_TRIP_US\n");
        return 2;
    }
    uint16_t target = (uint16_t)strtoul(argv[1], NULL, 10);
    int64_t half_us = strtoll(argv[2], NULL, 10) / 2;
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    int listener = socket_at(0, true);
    (void)getsockname(listener, (struct sockaddr *)&at, &size);
    (void)printf("%d\n", ntohs(at.sin_port));
    (void)fflush(stdout);
    for (;;) {
        struct pollfd fds[MOST * 2 + 1];
        int64_t left_us = 1000000, now_us = clock_boot_us();
        for (int i = 0; i < way_count; i++) {
            int64_t us = pass_on(&ways[i], now_us);
            left_us = us < left_us ? us : left_us;
            fds[i] = (struct pollfd){.fd = ways[i].ended ? -1 : ways[i].from, .events = POLLIN};
        }
        fds[way_count] =
            (struct pollfd){.fd = way_count < MOST * 2 ? listener : -1, .events = POLLIN};
        const struct timespec left = {.tv_sec = left_us / 1000000,
                                      .tv_nsec = left_us % 1000000 * 1000};
        int known = way_count;
        if (ppoll(fds, (nfds_t)known + 1, &left, NULL) <= 0)
            continue;
        now_us = clock_boot_us();
        /* A piece is due half a round trip after it was read. */
        for (int i = 0; i < known; i++)
            if (fds[i].revents != 0)
                take(&ways[i], now_us + half_us);
        if (fds[known].revents != 0) {
            int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC), one = 1;
            int server = socket_at(target, false);
            (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            add_way(client, server);
            add_way(server, client);
        }
    }
}
