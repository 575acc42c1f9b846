/* argv to command, options and arguments, by getopt_long in two passes: global options up to the
 * noun, then the options of the command that noun and verb name. Values are checked by
 * cli/option_value.c. An unknown word gets the nearest known one as its hint.
 *
 * getopt_long permutes argv: options may follow arguments, and -- ends them. A new option needs a
 * row in its command's table and nothing here. cli_text, cli_has and cli_int read the values that
 * were kept; a name that no row has is simply not there, so a typing error in a call of them shows
 * only in a test. */
#include "base/nearest.h"
#include "base/remedies.h"
#include "base/str.h"
#include "cli/cli.h"
#include "config/parse.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option_spec global_options[] = {
    {"config", "FILE",
     "configuration file; default ./lockstep.conf, ~/.config/lockstep/, /etc/lockstep/", 0},
    {"dbname", "CONNINFO", "PostgreSQL connection string or URI; empty: libpq's own defaults", 'd'},
    {"brokers", "LIST", "bootstrap.servers of Kafka", 'b'},
    {"property", "KEY=VALUE", "any librdkafka property", 'X'},
    {"set", "SECTION.KEY=VALUE", "any value of the configuration file", 's'},
    {"output", "table|json|jsonl|csv", "form of the result; table is for people and may change",
     'o'},
    {"wide", NULL, "tables with all columns, nothing shortened; other forms always are", 0},
    {"time-zone", "ZONE",
     "time zone of the times shown; the head of their column names it: started+02", 0},
    {"no-color", NULL, "no colours (also: the variable NO_COLOR)", 0},
    {"quiet", NULL, "only results and errors", 'q'},
    {"verbose", NULL, "say more; twice: log debug events", 'v'},
    {"help", NULL, "this help", 'h'},
    {"version", NULL, "the version", 'V'},
    {NULL, NULL, NULL, 0},
};

#define MOST_OPTIONS 64

/* getopt_long's two forms of the same table. Each option's value is its place in specs + 256: above
 * every letter, so that the two cannot be confused. */
struct accepted {
    const struct option_spec *specs[MOST_OPTIONS];
    struct option longs[MOST_OPTIONS + 1];
    char shorts[3 * MOST_OPTIONS + 3];
    int count;
};

static void accept_options(struct accepted *accepted, const struct option_spec *specs)
{
    for (; specs != NULL && specs->name != NULL && accepted->count < MOST_OPTIONS; specs++) {
        int i = accepted->count++;
        accepted->specs[i] = specs;
        accepted->longs[i] = (struct option){
            specs->name, specs->argument ? required_argument : no_argument, NULL, 256 + i};
        if (specs->letter != 0) {
            size_t n = strlen(accepted->shorts);
            accepted->shorts[n++] = specs->letter;
            accepted->shorts[n++] = specs->argument ? ':' : '\0';
            accepted->shorts[n] = '\0';
        }
    }
}

/* getopt_long returns the letter of a short option and our number of a long one. */
static const struct option_spec *spec_of(const struct accepted *accepted, int code)
{
    if (code >= 256)
        return accepted->specs[code - 256];
    for (int i = 0; i < accepted->count; i++)
        if (accepted->specs[i]->letter == code)
            return accepted->specs[i];
    return NULL;
}

const char *cli_command_name(const struct cli *cli, char buffer[64])
{
    const struct command *command = cli->command;
    if (command == NULL)
        return cli->noun ? cli->noun : "";
    (void)snprintf(buffer, 64, "%s%s%s", command->noun, *command->verb ? " " : "", command->verb);
    return buffer;
}

/* Every error of usage names the help of its command as the hint. */
static enum rc usage(const struct cli *cli, struct err *err, const char *text, const char *what)
{
    char name[64], hint[200];
    (void)cli_command_name(cli, name);
    (void)snprintf(hint, sizeof hint, REMEDY_HELP, cli->command ? name : "",
                   cli->command ? " " : "");
    return err_set(err, RC_REJECT, ERR_USAGE, cli->command ? name : "", hint, "%s %s", text, what);
}

static enum rc unknown_option(const struct cli *cli, const struct accepted *accepted,
                              const char *typed, struct err *err)
{
    const char *near = NULL;
    if (strncmp(typed, "--", 2) == 0)
        for (int i = 0; i < accepted->count; i++)
            near = nearest_of(typed + 2, near, accepted->specs[i]->name);
    enum rc rc = usage(cli, err, "unknown option", typed);
    if (near != NULL && err != NULL)
        (void)snprintf(err->hint, sizeof err->hint, "Did you mean --%s?", near);
    return rc;
}

/* An option that could not be read: its text is optopt for a letter, the word itself for a long
 * one. */
static enum rc refuse_option(const struct cli *cli, const struct accepted *accepted, int code,
                             char **argv, struct err *err)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < 256;
    const char *typed = is_letter ? letter : argv[optind - 1];
    if (code == ':')
        return usage(cli, err, "a value is missing after", typed);
    /* getopt_long sets optopt to the option's value when a flag got "=value". */
    if (optopt >= 256)
        return usage(cli, err, "no value belongs to", typed);
    return unknown_option(cli, accepted, typed, err);
}

static enum rc keep(struct cli *cli, const struct option_spec *spec, const char *value,
                    struct err *err)
{
    char *kept = NULL;
    enum rc rc = option_value(cli, spec, value, &kept, err);
    if (rc != RC_OK)
        return rc;
    cli->uses = xrealloc(cli->uses, (size_t)cli->use_count + 1, sizeof *cli->uses);
    cli->uses[cli->use_count++] = (struct option_use){spec, kept};
    return RC_OK;
}

/* Arguments are argv's own and are not freed. */
void options_free(struct cli *cli)
{
    for (int i = 0; i < cli->use_count; i++)
        free(cli->uses[i].value);
    free(cli->uses);
    cli->uses = NULL;
    cli->use_count = 0;
}

/* prefix "+": stops at the first word that is no option. */
static enum rc read_options(struct cli *cli, const char *prefix, const struct option_spec *specs,
                            int argc, char **argv, struct err *err)
{
    struct accepted accepted = {0};
    (void)snprintf(accepted.shorts, sizeof accepted.shorts, "%s:", prefix);
    accept_options(&accepted, specs);
    accept_options(&accepted, global_options);
    opterr = 0;
    optind = 0; /* glibc: start again */
    int code;
    while ((code = getopt_long(argc, argv, accepted.shorts, accepted.longs, NULL)) != -1) {
        if (code == '?' || code == ':')
            return refuse_option(cli, &accepted, code, argv, err);
        enum rc rc = keep(cli, spec_of(&accepted, code), optarg ? optarg : "", err);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

/* Checked by hand where no command was found: its options are not known then. */
static bool asks_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Verbs of other programs. By its letters alone rm would be nearer to run than to delete. */
static bool is_called(const char *verb, const char *typed)
{
    static const char *const words[][2] = {
        {"delete", "rm"},   {"delete", "del"},    {"delete", "remove"}, {"delete", "drop"},
        {"remove", "rm"},   {"remove", "del"},    {"remove", "delete"}, {"list", "ls"},
        {"show", "get"},    {"show", "describe"}, {"show", "status"},   {"create", "add"},
        {"create", "new"},  {"add", "create"},    {"add", "new"},       {"run", "start"},
        {"cancel", "kill"}, {"cancel", "stop"},   {"apply", "create"},  {"apply", "add"},
        {"explain", "why"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], verb) == 0 && strcmp(words[i][1], typed) == 0)
            return true;
    return false;
}

/* An unknown noun gets the nearest noun, a known noun with an unknown verb gets its nearest
 * verb. */
static enum rc unknown_command(const char *noun, const char *verb, struct err *err)
{
    const char *near = NULL;
    bool known = is_noun(noun);
    bool called = false;
    for (const struct command *row = commands; row->noun != NULL && !called; row++)
        if (!known)
            near = nearest_of(noun, near, row->noun);
        else if (strcmp(row->noun, noun) == 0 && verb != NULL) {
            called = is_called(row->verb, verb);
            near = called ? row->verb : nearest_of(verb, near, row->verb);
        }
    char hint[200];
    if (near != NULL && *near != '\0')
        (void)snprintf(hint, sizeof hint, REMEDY_MEANT, known ? noun : near, known ? " " : "",
                       known ? near : "");
    else
        (void)snprintf(hint, sizeof hint, REMEDY_HELP, known ? noun : "", known ? " " : "");
    if (known && verb == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, noun, hint, "a verb is missing");
    return err_set(err, RC_REJECT, ERR_USAGE, "", hint, "unknown command: %s%s%s", noun,
                   known ? " " : "", known ? verb : "");
}

/* The first row that fits; a noun without verbs fits with any second word. */
static const struct command *find_command(const char *noun, const char *verb)
{
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (strcmp(row->noun, noun) == 0 &&
            (*row->verb == '\0' || (verb && strcmp(row->verb, verb) == 0)))
            return row;
    return NULL;
}

static enum rc check_arguments(const struct cli *cli, struct err *err)
{
    const char *form = cli->command->arguments;
    /* "[FILE...]", "JOB NAME": how many arguments a row takes is read from the form that help
     * shows. */
    bool optional = *form == '[';
    bool several = strstr(form, "...") != NULL;
    bool two = strchr(form, ' ') != NULL;
    int least = *form == '\0' || optional ? 0 : two ? 2 : 1;
    int most = *form == '\0' ? 0 : several ? INT_MAX : two ? 2 : 1;
    /* Help for a command must not need its arguments. */
    if (cli->help || cli_has(cli, "version"))
        return RC_OK;
    if (cli->argument_count > most && strcmp(cli->command->noun, "help") != 0)
        return usage(cli, err, "too many arguments:", cli->arguments[most]);
    if (cli->argument_count < least)
        return usage(cli, err, "an argument is missing:", form);
    return RC_OK;
}

enum rc options_parse(struct cli *cli, int argc, char **argv, struct err *err)
{
    enum rc rc = read_options(cli, "+", NULL, argc, argv, err);
    if (rc != RC_OK || optind >= argc)
        return rc;
    int at = optind;
    cli->noun = argv[at];
    /* A noun without verbs (publish) has row->verb "", so the word behind it is its first
     * argument. */
    const char *verb = at + 1 < argc && argv[at + 1][0] != '-' ? argv[at + 1] : NULL;
    cli->command = find_command(cli->noun, verb);
    /* "lockstep queue --help": the noun's own help, not an error about the missing verb. */
    if (cli->command == NULL && verb == NULL && is_noun(cli->noun) && at + 1 < argc &&
        asks_help(argv[at + 1])) {
        cli->help = true;
        return RC_OK;
    }
    if (cli->command == NULL)
        return unknown_command(cli->noun, verb, err);
    int skipped = at + (*cli->command->verb != '\0');
    /* getopt begins behind the first word that it is given: here the last word of the command. */
    rc = read_options(cli, "", cli->command->options, argc - skipped, argv + skipped, err);
    if (rc != RC_OK)
        return rc;
    cli->arguments = argv + skipped + optind;
    cli->argument_count = argc - skipped - optind;
    cli->help = cli_has(cli, "help");
    return check_arguments(cli, err);
}

/* The index-th use of an option, in the order of the command line. */
static const struct option_use *find_use(const struct cli *cli, const char *name, int index)
{
    for (int i = 0; i < cli->use_count; i++)
        if (strcmp(cli->uses[i].spec->name, name) == 0 && index-- == 0)
            return &cli->uses[i];
    return NULL;
}

const char *cli_repeated(const struct cli *cli, const char *name, int index)
{
    const struct option_use *use = find_use(cli, name, index);
    return use ? use->value : NULL;
}

/* The last one counts, so that an alias of a shell can be overridden. */
const char *cli_text(const struct cli *cli, const char *name)
{
    const char *text = NULL;
    for (int i = 0; i < cli->use_count; i++)
        if (strcmp(cli->uses[i].spec->name, name) == 0)
            text = cli->uses[i].value;
    return text;
}

/* Also for options with a value: whether it was given. */
bool cli_has(const struct cli *cli, const char *name)
{
    return cli_text(cli, name) != NULL;
}

/* The value has been checked by option_value, so it parses here. */
int64_t cli_int(const struct cli *cli, const char *name, int64_t fallback)
{
    for (int i = cli->use_count - 1; i >= 0; i--) {
        const struct option_spec *spec = cli->uses[i].spec;
        if (strcmp(spec->name, name) != 0)
            continue;
        const char *value = cli->uses[i].value;
        int64_t number = fallback;
        if (strncmp(spec->argument, "TIME", 4) == 0)
            (void)config_parse_duration(value, "s", &number);
        else
            (void)int64_parse(value, strlen(value), &number);
        return number;
    }
    return fallback;
}
