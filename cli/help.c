/* help and --help, from the table of commands: the program, a noun, a command. cli/man.c makes the
 * manual pages from the same table, cli/completion.c the completions.
 *
 * The order of the table is the order of the help: a new command is a row of cli/commands.c, and
 * nothing here changes. Help goes to stdout, because the user has asked for it; after an error only
 * its hint goes to stderr. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/exit.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>

/* The words of an option follow its help, so they need not be repeated in it. */
static void option_lines(FILE *out, const struct option_spec *specs)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        char left[80], name[40], list[200];
        const char *words = option_words(specs, list);
        (void)snprintf(left, sizeof left, "%c%c%s--%s%s%s", specs->letter ? '-' : ' ',
                       specs->letter ? specs->letter : ' ', specs->letter ? ", " : "  ",
                       specs->name, specs->argument ? " " : "",
                       specs->argument ? option_argument(specs, name) : "");
        (void)fprintf(out, "  %-32s %s%s%s\n", left, specs->help, *words ? ": " : "", words);
    }
}

/* One line of a list: how the command is typed, then its summary. */
static void command_line(FILE *out, const struct command *command)
{
    char left[80];
    (void)snprintf(left, sizeof left, "%s%s%s%s%s", command->noun, *command->verb ? " " : "",
                   command->verb, *command->arguments ? " " : "", command->arguments);
    (void)fprintf(out, "  %-26s %s\n", left, command->summary);
}

void help_program(FILE *out)
{
    (void)fputs("lockstep runs tasks from a Kafka partition in strictly ordered phases, recorded "
                "in PostgreSQL.\n\n"
                "usage: lockstep NOUN [VERB] [options]\n\ncommands\n",
                out);
    for (const struct command *row = commands; row->noun != NULL; row++)
        command_line(out, row);
    (void)fputs("\noptions of every command\n", out);
    option_lines(out, global_options);
    (void)fputs("\nexit codes\n   0  done\n", out);
    for (const struct exit_code *row = exit_codes; row->meaning != NULL; row++)
        if (*row->meaning != '\0')
            (void)fprintf(out, "  %2d  %s\n", row->code, row->meaning);
    (void)fputs("\nlockstep NOUN VERB --help lists the options of one command.\n", out);
}

void help_noun(FILE *out, const char *noun)
{
    (void)fprintf(out, "usage: lockstep %s VERB [options]\n\ncommands\n", noun);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (strcmp(row->noun, noun) == 0)
            command_line(out, row);
    (void)fprintf(out, "\nlockstep %s VERB --help lists the options of one command.\n", noun);
}

void help_command(FILE *out, const struct command *command)
{
    (void)fprintf(out, "usage: lockstep %s%s%s%s%s [options]\n\n%s\n", command->noun,
                  *command->verb ? " " : "", command->verb, *command->arguments ? " " : "",
                  command->arguments, command->summary);
    if (command->options != NULL) {
        (void)fputs("\noptions\n", out);
        option_lines(out, command->options);
    }
    (void)fputs("\noptions of every command\n", out);
    option_lines(out, global_options);
    if (command->example != NULL)
        (void)fprintf(out, "\nexample\n  %s\n", command->example);
}

/* lockstep help [NOUN [VERB]] */
enum rc command_help(struct cli *cli, struct err *err)
{
    if (cli->argument_count == 0) {
        help_program(stdout);
        return table_check(stdout, err);
    }
    const char *noun = cli->arguments[0],
               *verb = cli->argument_count > 1 ? cli->arguments[1] : NULL;
    const struct command *found = NULL;
    int same_noun = 0;
    for (const struct command *row = commands; row->noun != NULL; row++) {
        if (strcmp(row->noun, noun) != 0)
            continue;
        same_noun++;
        /* "help publish FILE" means the command publish: the rest is ignored. */
        if (*row->verb == '\0' || (verb != NULL && strcmp(row->verb, verb) == 0))
            found = row;
    }
    if (found != NULL)
        help_command(stdout, found);
    else if (same_noun > 0 && verb == NULL)
        help_noun(stdout, noun);
    else
        return err_set(err, RC_REJECT, ERR_USAGE, "help", REMEDY_HELP_ALL,
                       "there is no command %s%s%s", noun, verb ? " " : "", verb ? verb : "");
    return table_check(stdout, err);
}
