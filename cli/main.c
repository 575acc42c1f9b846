#include "action/action.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
    if (action_is_runner(argc, argv))
        return action_runner_main();
    return cli_main(argc, argv);
}
