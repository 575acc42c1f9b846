/* The entry: three descriptors that must be open, then either the runner of a command
 * (action/runner.h) or the command line. main returns the exit code: no function calls exit(3). */
#include "action/action.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <unistd.h>

/* A closed stdin, stdout or stderr would become a socket of ours, and the output would be sent to a
 * server. Reading and writing these fails, as it does on closed ones. */
static void occupy_closed(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the lowest */
}

int main(int argc, char **argv)
{
    occupy_closed();
    if (action_is_runner(argc, argv))
        return action_runner_main();
    return cli_main(argc, argv);
}
