/* lockstep completion bash: a script made of the table of commands, so that it never knows less than the program. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

static void option_names(FILE *out, const struct option_spec *specs)
{
    for (; specs != NULL && specs->name != NULL; specs++)
        (void)fprintf(out, " --%s", specs->name);
}

/* The words after --OPTION, where it takes words. */
static void option_cases(FILE *out, const char *command, const struct option_spec *specs)
{
    for (; specs != NULL && specs->name != NULL; specs++) {
        const char *want = specs->argument ? specs->argument : "";
        const char *words = strchr(want, '|');
        if (words == NULL)
            continue;
        bool numeric = *want == 'N' && (want[1] == ':' || want[1] == '|');
        (void)fprintf(out, "    '%s --%s') words='", command, specs->name);
        for (const char *c = numeric ? words + 1 : want; *c != '\0'; c++)
            (void)fputc(*c == '|' ? ' ' : *c, out);
        (void)fputs("' ;;\n", out);
    }
}

static bool first_of_noun(const struct command *row)
{
    for (const struct command *before = commands; before != row; before++)
        if (strcmp(before->noun, row->noun) == 0)
            return false;
    return true;
}

static void tables(FILE *out)
{
    (void)fputs("    case \"$noun $verb\" in\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        (void)fprintf(out, "    '%s %s') options='", row->noun, row->verb);
        option_names(out, row->options);
        (void)fputs("' ;;\n", out);
    }
    (void)fputs("    esac\n    case \"$noun\" in\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        if (!first_of_noun(row) || *row->verb == '\0')
            continue;
        (void)fprintf(out, "    '%s') verbs='", row->noun);
        for (const struct command *verb = row; verb->noun != NULL; verb++)
            if (strcmp(verb->noun, row->noun) == 0)
                (void)fprintf(out, "%s ", verb->verb);
        (void)fputs("' ;;\n", out);
    }
    (void)fputs("    esac\n    case \"$noun $verb $before\" in\n", out);
    for (const struct command *row = commands; row->noun != NULL; row++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s %s", row->noun, row->verb);
        option_cases(out, name, row->options);
    }
    (void)fputs("    *' --output'|*' -o') words='table json jsonl csv' ;;\n    esac\n", out);
}

enum rc command_completion(struct cli *cli, struct err *err)
{
    if (strcmp(cli->arguments[0], "bash") != 0)
        return err_set(err, RC_REJECT, ERR_USAGE, "completion", "lockstep completion bash",
                       "SHELL must be bash, not \"%s\"", cli->arguments[0]);
    (void)fputs("_lockstep() {\n"
                "    local noun='' verb='' verbs='' options='' words=''\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    [ \"$COMP_CWORD\" -gt 1 ] && noun=${COMP_WORDS[1]}\n"
                "    [ \"$COMP_CWORD\" -gt 2 ] && [[ ${COMP_WORDS[2]} != -* ]] && "
                "verb=${COMP_WORDS[2]}\n"
                "    local nouns='",
                stdout);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (first_of_noun(row))
            (void)printf("%s ", row->noun);
    (void)fputs("'\n    case \"$noun\" in ", stdout);
    for (const struct command *row = commands; row->noun != NULL; row++)
        if (*row->verb == '\0')
            (void)printf("%s%s", row == commands ? "" : "|", row->noun);
    (void)fputs(") verb='' ;; esac\n", stdout);
    tables(stdout);
    (void)fputs("    options+='", stdout);
    option_names(stdout, global_options);
    (void)fputs("'\n"
                "    if [ -n \"$words\" ]; then :\n"
                "    elif [ \"$COMP_CWORD\" -eq 1 ]; then words=$nouns\n"
                "    elif [[ $word == -* ]]; then words=$options\n"
                "    elif [ \"$COMP_CWORD\" -eq 2 ]; then words=$verbs\n"
                "    fi\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                "}\n"
                "complete -o default -F _lockstep lockstep\n",
                stdout);
    return table_check(stdout, err);
}
