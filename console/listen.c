/* Opens the one socket of a server: for a Unix socket bind and replace an abandoned file, for an
 * address resolve, bind and ask the system what it is bound to, for systemd take descriptor 3.
 * Every error gets the hint for its cause. Whether the address is safe without sign-in or TLS is
 * console/console.c's to judge, by `loopback`. */
#include "console/listen.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG       1024 /* connections; the kernel caps it at net.core.somaxconn */
#define SYSTEMD_FIRST 3    /* sd_listen_fds(3): SD_LISTEN_FDS_START */
#define SYSTEMD_HINT                                                                               \
    "Start it by a unit that has a .socket unit with one ListenStream, and Accept=no."
#define ADDRESS_HINT                                                                               \
    "An address is a port (8330: of this host only), HOST:PORT, [IPV6]:PORT, the absolute path "   \
    "of a Unix socket, or systemd."

static enum rc failed(const char *address, int number, struct err *err)
{
    const char *hint =
        number == EADDRINUSE && *address == '/'
            ? "Another process listens there: ss -lxp shows which. End it, or name another path."
        : number == EADDRINUSE ? "Another process listens there: ss -ltnp shows which. End it, or "
                                 "name another port."
        : number == EADDRNOTAVAIL ? "It is not an address of this host: ip addr shows them."
        : number == EACCES || number == EROFS || number == ENOENT
            ? "The login may not: ports under 1024 belong to root, and the directory of a Unix "
              "socket must exist and be writable. The units have one of their own each, such as "
              "/run/lockstep-console."
            : ADDRESS_HINT;
    char text[128];
    enum rc rc = err_set(err, RC_FATAL, ERR_CONFIG, address, hint, "cannot listen: %s",
                         strerror_r(number, text, sizeof text));
    err_code(err, number == EADDRINUSE ? "EADDRINUSE" : "");
    return rc;
}

/* A socket file that no process serves refuses connections. A process that died cannot unlink its
 * file, and bind(2) never reuses one. */
static bool abandoned(const struct sockaddr_un *name)
{
    struct stat status;
    /* lstat: a link to something else must not be followed, and no other kind of file be
     * removed. */
    if (lstat(name->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 &&
                   errno == ECONNREFUSED;
    if (fd >= 0)
        (void)close(fd);
    return refused;
}

static enum rc open_local(const char *path, struct listener *listener, struct err *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path)
        return err_set(err, RC_FATAL, ERR_CONFIG, path, ADDRESS_HINT,
                       "the path of a Unix socket has at most %zu bytes", sizeof name.sun_path - 1);
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return failed(path, errno, err);
    int bound = bind(fd, (const struct sockaddr *)&name, sizeof name);
    if (bound != 0 && errno == EADDRINUSE && abandoned(&name)) {
        (void)unlink(path);
        bound = bind(fd, (const struct sockaddr *)&name, sizeof name);
    }
    /* A client needs the right to write, which the umask of a service takes away. With it the
     * socket is as open as a port of this host; its directory may be less so. */
    if (bound != 0 || chmod(path, 0666) != 0 || listen(fd, BACKLOG) != 0) {
        int number = errno;
        (void)close(fd);
        return failed(path, number, err);
    }
    *listener = (struct listener){.fd = fd, .loopback = true, .local = true};
    (void)snprintf(listener->path, sizeof listener->path, "%s", path);
    return RC_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* Asks the system for the bound address: for port 0 the system has chosen one, and a socket of
 * systemd has its address from a unit file. */
static void describe(struct listener *listener)
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof bound;
    char port[8] = "0";
    if (getsockname(listener->fd, (struct sockaddr *)&bound, &len) != 0)
        return;
    listener->local = bound.ss_family == AF_UNIX;
    listener->loopback = listener->local || is_loopback((const struct sockaddr *)&bound);
    if (listener->local)
        return;
    if (getnameinfo((const struct sockaddr *)&bound, len, listener->host, sizeof listener->host,
                    port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        listener->port = atoi(port);
}

static enum rc open_address(const char *address, const struct addrinfo *info,
                            struct listener *listener, struct err *err)
{
    const int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return failed(address, errno, err);
    /* Without it a restart fails for a minute, while connections of the process before are in
     * TIME_WAIT. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int number = errno;
        (void)close(fd);
        return failed(address, number, err);
    }
    *listener = (struct listener){.fd = fd};
    describe(listener);
    return RC_OK;
}

/* "HOST:PORT", "[HOST]:PORT" or "PORT" in two parts; false: it is none of these. */
static bool split(char *text, const char **ret_host, const char **ret_port)
{
    char *colon = strrchr(text, ':');
    *ret_host = "127.0.0.1";
    *ret_port = text;
    /* A port alone means loopback: the console must be exposed on purpose. */
    if (colon == NULL)
        return *text != '\0';
    *colon = '\0';
    *ret_port = colon + 1;
    *ret_host = text;
    size_t len = strlen(text);
    if (*text == '[' && len > 2 && text[len - 1] == ']') {
        text[len - 1] = '\0';
        *ret_host = text + 1;
    } else if (len == 0 || strchr(text, ':') != NULL) {
        return false;
    }
    return true;
}

static enum rc open_network(const char *address, struct listener *listener, struct err *err)
{
    FREE_AUTO char *text = xstrdup(address);
    const char *host, *port;
    int64_t number;
    if (!split(text, &host, &port))
        return err_set(err, RC_FATAL, ERR_CONFIG, address, ADDRESS_HINT, "not an address");
    enum rc rc = number_parse(address, "port", port, (struct number_range){0, 65535}, &number, err);
    if (rc != RC_OK) {
        if (err != NULL) {
            err->kind = ERR_CONFIG;
            utf8_copy(err->hint, sizeof err->hint, ADDRESS_HINT);
        }
        return RC_FATAL;
    }
    struct addrinfo *found = NULL;
    const struct addrinfo asked = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
    int answer = getaddrinfo(host, port, &asked, &found);
    if (answer != 0)
        return err_set(err, RC_FATAL, ERR_CONFIG, address, ADDRESS_HINT, "%s: %s", host,
                       gai_strerror(answer));
    rc = open_address(address, found, listener, err);
    freeaddrinfo(found);
    return rc;
}

static bool listens(int fd)
{
    int type = 0, listening = 0;
    socklen_t len = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening != 0;
}

static enum rc take_passed(struct listener *listener, struct err *err)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    /* LISTEN_PID must be this process: a parent that got sockets may have passed its environment
     * on. */
    if (pid == NULL || count == NULL || atol(pid) != (long)getpid() || atoi(count) != 1)
        return err_set(err, RC_FATAL, ERR_CONFIG, "systemd", SYSTEMD_HINT,
                       "systemd has not passed one socket to this process");
    if (!listens(SYSTEMD_FIRST)) /* it may be a file that the process itself has opened */
        return err_set(err, RC_FATAL, ERR_CONFIG, "systemd", SYSTEMD_HINT,
                       "descriptor %d, which systemd has passed, is no socket that listens for "
                       "connections",
                       SYSTEMD_FIRST);
    /* A second server of this process, or a child, must not take the same socket. */
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    *listener = (struct listener){.fd = SYSTEMD_FIRST};
    (void)fcntl(SYSTEMD_FIRST, F_SETFD, FD_CLOEXEC);
    (void)fcntl(SYSTEMD_FIRST, F_SETFL, O_NONBLOCK);
    describe(listener);
    return RC_OK;
}

enum rc listen_open(const char *address, struct listener *ret_listener, struct err *err)
{
    if (strcmp(address, "systemd") == 0)
        return take_passed(ret_listener, err);
    if (*address == '/')
        return open_local(address, ret_listener, err);
    return open_network(address, ret_listener, err);
}

void listen_close(struct listener *listener)
{
    if (listener->fd >= 0)
        (void)close(listener->fd);
    if (*listener->path != '\0')
        (void)unlink(listener->path);
    listener->fd = -1;
}
