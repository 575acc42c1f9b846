/* man: pages for man(1) in roff, made of the tables of commands, options, exit codes and keys, so
 * that they never know less than the program. The build writes them with --directory for the
 * packages.
 *
 * A page is a function that prints its parts from the top to the bottom; the requests are those of
 * man(7), which groff formats. The date and version come from the build, so two builds of one
 * source give the same pages. */
#include "cli/commands.h"
#include "cli/exit.h"
#include "config/key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Text as roff reads it (groff_char(7), man(7)). A dot or quote at the begin of a line would be a
 * request; a plain - is a hyphen, which cannot be copied as a minus. Words in backquotes are
 * bold. */
static void text(FILE *out, const char *words)
{
    bool bold = false;
    if (*words == '.' || *words == '\'')
        (void)fputs("\\&", out);
    for (; *words != '\0'; words++) {
        if (*words == '\\')
            (void)fputs("\\e", out);
        else if (*words == '-')
            (void)fputs("\\-", out);
        else if (*words == '`')
            (void)fputs((bold = !bold) ? "\\fB" : "\\fR", out);
        else if (*words == '~')
            (void)fputs("\\(ti", out);
        else if (*words == '^')
            (void)fputs("\\(ha", out);
        else if (*words == '\n')
            (void)fputc(' ', out);
        else
            (void)fputc(*words, out);
    }
    if (bold)
        (void)fputs("\\fR", out);
}

/* A word in bold (B) or italics (I), and back to roman. */
static void font(FILE *out, char letter, const char *words)
{
    (void)fprintf(out, "\\f%c", letter);
    text(out, words);
    (void)fputs("\\fR", out);
}

static void line(FILE *out, const char *words)
{
    text(out, words);
    (void)fputc('\n', out);
}

/* The title line and NAME, from which apropos(1) and whatis(1) read. */
static void head(FILE *out, const char *name, char section, const char *what)
{
    (void)fputs(".TH ", out);
    /* By hand, because toupper(3) depends on the locale. */
    for (const char *c = name; *c != '\0'; c++)
        (void)fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, out);
    (void)fprintf(
        out, " %c " LOCKSTEP_DATE " \"lockstep " LOCKSTEP_VERSION "\" \"Lockstep\"\n.SH NAME\n",
        section);
    text(out, name);
    (void)fputs(" \\- ", out);
    line(out, what);
}

/* A command's words are bold and its arguments italic, as man-pages(7) has it. */
static void synopsis(FILE *out, const struct command *row)
{
    (void)fputs(".B lockstep ", out);
    text(out, row->noun);
    (void)fprintf(out, "%s", *row->verb ? " " : "");
    text(out, row->verb);
    (void)fputc('\n', out);
    if (*row->arguments != '\0')
        (void)fprintf(out, ".I \"%s\"\n", row->arguments);
    (void)fputs(".RI [ options ]\n", out);
}

/* The same row gives the line of --help (cli/help.c): name, argument, meaning, words. */
static void options(FILE *out, const struct option_spec *spec)
{
    for (; spec != NULL && spec->name != NULL; spec++) {
        char long_name[60], letter[3] = {'-', spec->letter, '\0'}, name[40], list[200];
        const char *words = option_words(spec, list);
        (void)snprintf(long_name, sizeof long_name, "--%s", spec->name);
        (void)fputs(".TP\n", out);
        if (spec->letter != 0) {
            font(out, 'B', letter);
            (void)fputs(", ", out);
        }
        font(out, 'B', long_name);
        if (spec->argument != NULL) {
            (void)fputc(' ', out);
            font(out, 'I', option_argument(spec, name));
        }
        (void)fputc('\n', out);
        text(out, spec->help);
        if (*words != '\0') {
            (void)fputs(": ", out);
            text(out, words);
        }
        (void)fputc('\n', out);
    }
}

/* Several kinds of errors share one code; only the first row of a code has a meaning. */
static void exits(FILE *out)
{
    (void)fputs(".SH \"EXIT STATUS\"\n.TP\n0\ndone\n", out);
    for (const struct exit_code *row = exit_codes; row->meaning != NULL; row++) {
        if (*row->meaning == '\0')
            continue;
        (void)fprintf(out, ".TP\n%d\n", row->code);
        line(out, row->meaning);
    }
}

static void see_also(FILE *out, const char *but)
{
    (void)fputs(".SH \"SEE ALSO\"\n", out);
    if (strcmp(but, "lockstep") != 0)
        (void)fputs(".BR lockstep (1),\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (first_of_noun(row) && strcmp(row->noun, but) != 0)
            (void)fprintf(out, ".BR lockstep\\-%s (1)%s\n", row->noun,
                          /* The last entry has no comma: lockstep.conf(5) follows, unless this is
                           * its own page. */
                          strcmp(but, "lockstep.conf") == 0 && row[1].noun == NULL ? "" : ",");
    if (strcmp(but, "lockstep.conf") != 0)
        (void)fputs(".BR lockstep.conf (5)\n", out);
}

static void page_of_program(FILE *out)
{
    head(out, "lockstep", '1', "runs tasks from a Kafka partition in strictly ordered phases");
    (void)fputs(
        ".SH SYNOPSIS\n.B lockstep\n.I NOUN\n.RI [ VERB ]\n.RI [ options ]\n"
        ".SH DESCRIPTION\n"
        "Tasks are published to one partition of a Kafka topic, each tagged with its order and the "
        "order "
        "before. Executors on any number of hosts run them in phases and record each effect "
        "in PostgreSQL.\n.SH COMMANDS\n",
        out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        (void)fputs(".TP\n", out);
        font(out, 'B', row->noun);
        if (*row->verb != '\0') {
            (void)fputc(' ', out);
            font(out, 'B', row->verb);
        }
        if (*row->arguments != '\0') {
            (void)fputc(' ', out);
            font(out, 'I', row->arguments);
        }
        (void)fputc('\n', out);
        line(out, row->summary);
    }
    (void)fputs(".SH OPTIONS\nEvery command takes these.\n", out);
    options(out, global_options);
    exits(out);
    see_also(out, "lockstep");
}

/* One page for a noun with all its verbs, as git has a page for each command: people search by the
 * noun. */
static void page_of_noun(FILE *out, const char *noun)
{
    char name[64], what[200] = "";
    int verbs = 0;
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (strcmp(row->noun, noun) == 0 && verbs++ == 0)
            (void)snprintf(what, sizeof what, "%s", row->summary);
    (void)snprintf(name, sizeof name, "lockstep-%s", noun);
    /* A noun with one command has that command's summary as its description. */
    if (verbs > 1)
        (void)snprintf(what, sizeof what, "the commands of lockstep %s", noun);
    head(out, name, '1', what);
    (void)fputs(".SH SYNOPSIS\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (strcmp(row->noun, noun) == 0) {
            synopsis(out, row);
            (void)fputs(--verbs > 0 ? ".br\n" : "", out);
        }
    (void)fputs(".SH DESCRIPTION\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        if (strcmp(row->noun, noun) != 0)
            continue;
        (void)fprintf(out, ".SS \"%s%s%s\"\n", row->noun, *row->verb ? " " : "", row->verb);
        line(out, row->summary);
        options(out, row->options);
        if (row->example != NULL) {
            (void)fputs(".PP\nExample:\n.PP\n.RS\n.B \"\\&", out);
            for (const char *c = row->example; *c != '\0'; c++)
                /* The example is an argument of .B in quotes, so a quote inside it needs its
                 * name. */
                (void)fputs(*c == '"' ? "\\(dq" : *c == '-' ? "\\-" : (char[]){*c, '\0'}, out);
            (void)fputs("\"\n.RE\n", out);
        }
    }
    (void)fputs(".PP\nThe options of every command are in\n.BR lockstep (1).\n", out);
    exits(out);
    see_also(out, noun);
}

/* One key of lockstep.conf: its type or its words, its default, its meaning.
 * docs/reference/configuration.md has the same from the same table. */
static void key(FILE *out, const struct config_key *row)
{
    (void)fputs(".TP\n", out);
    font(out, 'B', row->key);
    (void)fputs(" (", out);
    text(out, row->choices != NULL ? row->choices : config_type_name(row->type));
    if (row->initial != NULL && *row->initial != '\0') {
        (void)fputs("; default ", out);
        text(out, row->initial);
    }
    (void)fputs(")\n", out);
    line(out, row->meaning);
}

static void page_of_configuration(FILE *out)
{
    int count;
    const char *section = "";
    const struct config_key *rows = config_keys(&count);
    head(out, "lockstep.conf", '5', "configuration of lockstep");
    (void)fputs(
        ".SH DESCRIPTION\n"
        "The file has sections and lines\n.IB key \" = \" value .\n"
        "A comment begins with ; or #. Durations and sizes take units (200ms, 5s, 64MB). "
        "A file with a password or another secret must be readable by its owner alone.\n.PP\n"
        "A default gives way to the file, the file to the variable\n"
        ".BI LOCKSTEP_ SECTION _ KEY ,\n"
        "this to the options \\fB\\-X\\fR and \\fB\\-s\\fR, these to an option of its own. "
        "\\fBlockstep config show \\-\\-origin\\fR says where each value comes from.\n",
        out);
    for (int i = 0; i < count; i++) {
        /* A section whose keys are free, like [commands]: its rows have no key to describe. */
        if (*rows[i].key == '\0')
            continue;
        if (strcmp(section, rows[i].section) != 0)
            (void)fprintf(out, ".SH \"[%s%s]\"\n", rows[i].section,
                          strchr(rows[i].section, ':') == NULL    ? ""
                          : strcmp(rows[i].section, "http:") == 0 ? "HOST"
                                                                  : "NAME");
        section = rows[i].section;
        key(out, &rows[i]);
    }
    (void)fputs(
        ".SH FILES\n"
        "The first that is there, unless \\fB\\-\\-config\\fR or LOCKSTEP_CONFIG names one:\n"
        ".PP\n.I ./lockstep.conf\n.br\n.I \\(ti/.config/lockstep/lockstep.conf\n.br\n"
        ".I /etc/lockstep/lockstep.conf\n",
        out);
    see_also(out, "lockstep.conf");
}

/* page: "lockstep", "lockstep.conf" or a noun. false: there is no such page. */
static bool print_page(FILE *out, const char *page)
{
    if (strcmp(page, "lockstep") == 0) {
        page_of_program(out);
        return true;
    }
    if (strcmp(page, "lockstep.conf") == 0) {
        page_of_configuration(out);
        return true;
    }
    if (!is_noun(page))
        return false;
    page_of_noun(out, page);
    return true;
}

/* Overwrites: the build runs it again after each change of a table. */
static enum rc write_page(const char *dir, const char *page, struct err *err)
{
    STR_AUTO path = {0};
    bool five = strcmp(page, "lockstep.conf") == 0, program = strcmp(page, "lockstep") == 0;
    str_format(&path, "%s/man%c", dir, five ? '5' : '1');
    /* The layout of MANPATH: man1 and man5 below one directory. */
    bool made = (mkdir(dir, 0755) == 0 || errno == EEXIST) &&
                (mkdir(path.data, 0755) == 0 || errno == EEXIST);
    str_format(&path, "/%s%s.%c", five || program ? "" : "lockstep-", page, five ? '5' : '1');
    FILE *out = made ? fopen(path.data, "w") : NULL;
    if (out == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, path.data, "", "cannot be written: %s",
                       strerror(errno));
    (void)print_page(out, page);
    if (ferror(out) || fclose(out) != 0)
        return err_set(err, RC_REJECT, ERR_USAGE, path.data, "", "cannot be written");
    return RC_OK;
}

static enum rc write_all(const char *dir, struct err *err)
{
    enum rc rc = write_page(dir, "lockstep", err);
    if (rc == RC_OK)
        rc = write_page(dir, "lockstep.conf", err);
    for (const struct command *row = commands; row->noun != NULL && rc == RC_OK; row++)
        if (first_of_noun(row))
            rc = write_page(dir, row->noun, err);
    return rc;
}

enum rc command_man(struct cli *cli, struct err *err)
{
    const char *dir = cli_text(cli, "directory");
    if (dir != NULL)
        return write_all(dir, err);
    const char *page = cli->argument_count > 0 ? cli->arguments[0] : "lockstep";
    if (!print_page(stdout, page))
        return err_set(err, RC_REJECT, ERR_USAGE, "man", "lockstep help",
                       "PAGE must be lockstep, lockstep.conf or a noun, not \"%s\"", page);
    return table_check(stdout, err);
}
