/* completion bash, zsh: one script made of the table of commands, so that it never knows less than
 * the program. Both shells get the same case statements (tables); bash() and zsh() only read the
 * words that are typed and offer the lists in their own way.
 *
 * The script is made of three case statements: the options of a command, the verbs of a noun, and
 * the words of an option. Everything is written at build time or by the user's own call, so a
 * completion never starts lockstep and never asks a database: names of queues and runs are
 * therefore not completed. */
#include "cli/commands.h"

#include "base/remedies.h"

#include <stdio.h>
#include <string.h>

/* How a shell writes a list of words, each with its description. */
struct shell {
    const char *open, *close;
    void (*word)(FILE *out, const char *start, const char *word, const char *text);
};

static void bash_word(FILE *out, const char *start, const char *word, const char *text)
{
    (void)text;
    (void)fprintf(out, " %s%s", start, word);
}

/* 'word:description' in single quotes, as _describe reads it: the first colon ends the word. */
static void zsh_word(FILE *out, const char *start, const char *word, const char *text)
{
    (void)fprintf(out, " '%s%s:", start, word);
    for (; *text != '\0'; text++)
        (void)fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
    (void)fputc('\'', out);
}

static const struct shell bash_lists = {"'", "'", bash_word}, zsh_lists = {"(", ")", zsh_word};

/* Long forms only: a letter is faster typed than completed. */
static void option_list(FILE *out, const struct shell *shell, const struct option_spec *specs)
{
    (void)fputs(shell->open, out);
    for (; specs != NULL && specs->name != NULL; specs++)
        shell->word(out, "--", specs->name, specs->help);
    (void)fputs(shell->close, out);
}

/* The words after --OPTION, where it takes words. */
static void option_cases(FILE *out, const char *command, const struct option_spec *specs)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        const char *form = specs->argument ? specs->argument : "";
        const char *words = strchr(form, '|');
        if (words == NULL)
            continue;
        /* The words behind a number's range: "N:0:1000|default" offers default. */
        bool numeric = *form == 'N' && (form[1] == ':' || form[1] == '|');
        (void)fprintf(out, "    '%s --%s') words_of='", command, specs->name);
        for (const char *c = numeric ? words + 1 : form; *c != '\0'; c++)
            (void)fputc(*c == '|' ? ' ' : *c, out);
        (void)fputs("' ;;\n", out);
    }
}

/* The verbs of one noun, with their summaries where the shell shows them. */
static void verb_list(FILE *out, const struct shell *shell, const char *noun)
{
    (void)fputs(shell->open, out);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (strcmp(row->noun, noun) == 0)
            shell->word(out, "", row->verb, row->summary);
    (void)fputs(shell->close, out);
}

/* Sets nouns, verb (to nothing behind a noun that is a command), options, verbs and words_of. */
static void tables(FILE *out, const struct shell *shell)
{
    const char *between = "";
    (void)fprintf(out, "    nouns=%s", shell->open);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (first_of_noun(row))
            shell->word(out, "", row->noun, *row->verb == '\0' ? row->summary : "several commands");
    (void)fprintf(out, "%s\n    case \"$noun\" in ", shell->close);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (*row->verb == '\0') {
            (void)fprintf(out, "%s%s", between, row->noun);
            between = "|";
        }
    (void)fputs(") verb='' ;; esac\n    case \"$noun $verb\" in\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        (void)fprintf(out, "    '%s %s') options=", row->noun, row->verb);
        option_list(out, shell, row->options);
        (void)fputs(" ;;\n", out);
    }
    (void)fputs("    esac\n    case \"$noun\" in\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        if (!first_of_noun(row) || *row->verb == '\0')
            continue;
        (void)fprintf(out, "    '%s') verbs=", row->noun);
        verb_list(out, shell, row->noun);
        (void)fputs(" ;;\n", out);
    }
    (void)fputs("    esac\n    case \"$noun $verb $before\" in\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s %s", row->noun, row->verb);
        option_cases(out, name, row->options);
    }
    (void)fputs("    *' --output'|*' -o') words_of='table json jsonl csv' ;;\n    esac\n"
                "    options+=",
                out);
    option_list(out, shell, global_options);
    (void)fputc('\n', out);
}

/* compgen takes the list in one word and filters it by the word that is typed; -o default leaves
 * file names where the list is empty. */
static void bash(void)
{
    (void)fputs("_lockstep() {\n"
                "    local noun='' verb='' nouns verbs='' options='' words_of=''\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    [ \"$COMP_CWORD\" -gt 1 ] && noun=${COMP_WORDS[1]}\n"
                "    [ \"$COMP_CWORD\" -gt 2 ] && [[ ${COMP_WORDS[2]} != -* ]] && "
                "verb=${COMP_WORDS[2]}\n",
                stdout);
    tables(stdout, &bash_lists);
    (void)fputs("    if [ -n \"$words_of\" ]; then :\n"
                "    elif [ \"$COMP_CWORD\" -eq 1 ]; then words_of=$nouns\n"
                "    elif [[ $word == -* ]]; then words_of=$options\n"
                "    elif [ \"$COMP_CWORD\" -eq 2 ]; then words_of=$verbs\n"
                "    fi\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$words_of\" -- \"$word\")\n"
                "}\n"
                "complete -o default -F _lockstep lockstep\n",
                stdout);
}

/* The last lines let the script work in both ways that zsh has: autoloaded from fpath as _lockstep,
 * or sourced. */
static void zsh(void)
{
    (void)fputs("#compdef lockstep\n_lockstep() {\n"
                "    local noun='' verb='' words_of='' before=${words[CURRENT-1]}\n"
                "    local -a nouns verbs options\n"
                "    (( CURRENT > 2 )) && noun=${words[2]}\n"
                "    (( CURRENT > 3 )) && [[ ${words[3]} != -* ]] && verb=${words[3]}\n",
                stdout);
    tables(stdout, &zsh_lists);
    (void)fputs("    if [[ -n $words_of ]]; then compadd -- ${=words_of}\n"
                "    elif (( CURRENT == 2 )); then _describe command nouns\n"
                "    elif [[ ${words[CURRENT]} == -* ]]; then _describe option options\n"
                "    elif (( CURRENT == 3 && $#verbs )); then _describe command verbs\n"
                "    else _files\n    fi\n}\n"
                "if [[ ${funcstack[1]} == _lockstep ]]; then _lockstep \"$@\"; "
                "else compdef _lockstep lockstep; fi\n",
                stdout);
}

enum rc command_completion(struct cli *cli, struct err *err)
{
    bool is_bash = strcmp(cli->arguments[0], "bash") == 0;
    if (!is_bash && strcmp(cli->arguments[0], "zsh") != 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "completion", REMEDY_COMPLETION,
                       "SHELL must be bash or zsh, not \"%s\"", cli->arguments[0]);
    if (is_bash)
        bash();
    else
        zsh();
    return table_check(stdout, err);
}
