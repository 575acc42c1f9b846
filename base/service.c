/* One datagram to the socket that the service manager has named in NOTIFY_SOCKET: a path, or a name
 * behind @ in the abstract name space. */
#include "base/service.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t length = path != NULL ? strlen(path) : 0;
    if (length < 2 || length >= sizeof name.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(name.sun_path, path, length);
    if (path[0] == '@')
        name.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
                 (const struct sockaddr *)&name,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    (void)close(fd);
}

void service_ready(void)
{
    notify("READY=1");
}

void service_stopping(void)
{
    notify("STOPPING=1");
}
