/* The text format of Prometheus (Exposition formats, version 0.0.4): HELP, TYPE and samples, with
 * \\, newline and " escaped in label values. A name that is not in the table ends the process: the
 * documentation and the tests would not have it either. */
#include "metrics/text.h"

#include "metrics/names.h"

#include <stdio.h>
#include <stdlib.h>

static const struct metric *known(const char *name)
{
    const struct metric *metric = metric_find(name);
    if (metric == NULL)
        abort();
    return metric;
}

void text_family(struct str *text, const char *name)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    const struct metric *metric = known(name);
    str_format(text, "# HELP %s %s\n# TYPE %s %s\n", name, metric->help, name, types[metric->type]);
}

/** separator: the brace before the first label, a comma before the others. It is still the brace
 * when there was none. */
static void label(struct str *text, char *separator, const char *name, const char *value)
{
    str_add(text, separator, 1);
    *separator = ',';
    str_text(text, name);
    str_text(text, "=\"");
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\n')
            str_text(text, "\\n");
        else if (*at == '"' || *at == '\\')
            str_add(text, (const char[]){'\\', *at}, 2);
        else
            str_add(text, at, 1);
    }
    str_text(text, "\"");
}

void text_sample(struct str *text, const char *name, const char *suffix,
                 const struct text_labels *labels, const char *le, const char *value)
{
    const struct metric *metric = known(name);
    char separator = '{';
    str_text(text, name);
    str_text(text, suffix);
    for (int i = 0; labels != NULL && i < METRIC_LABELS && metric->labels[i] != NULL; i++)
        if (labels->values[i] != NULL)
            label(text, &separator, metric->labels[i], labels->values[i]);
    if (le != NULL)
        label(text, &separator, "le", le);
    str_text(text, separator == '{' ? " " : "} ");
    str_text(text, value);
    str_text(text, "\n");
}

void text_number(struct str *text, const char *name, const struct text_labels *labels, double value)
{
    char number[40];
    /* 15 digits are exact for integers below 10^15, and show 0.1 as 0.1. */
    (void)snprintf(number, sizeof number, "%.15g", value);
    text_sample(text, name, "", labels, NULL, number);
}
