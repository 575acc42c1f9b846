/* The picture as a page of its own, with its figures as a table for readers who cannot, or do not
 * want to, look at a picture. The page has no script and forbids itself everything but its own
 * style (CSP), because it may be sent by mail with names of users in it.
 *
 * The table repeats the figures of the drawing, so the page is complete without seeing it, and its
 * columns can be copied into a spreadsheet. A new figure of a phase needs a cell in row() and a
 * heading in picture_html(). */
#include "cli/picture.h"

#include <math.h>

static const char *const head =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" "
    "content=\"light dark\">\n<style>\n"
    "body{font:14px/1.45 "
    "system-ui,sans-serif;margin:0;padding:16px;background:#fff;color:#1b2126}\n"
    "main{max-width:1200px;margin:0 auto}svg{max-width:100%;height:auto;display:block}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;margin:16px "
    "0;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;padding:4px 0}th,td{padding:3px 12px 3px "
    "0;text-align:right;border-bottom:1px solid #e3e7eb;white-space:nowrap}\n"
    "th{font-weight:600;color:#5b6670}th:last-child,td:last-child{text-align:left}\n"
    "@media(prefers-color-scheme:dark){body{background:#14181c;color:#d5dbe1}th,td{border-color:#"
    "2a3138}"
    "th{color:#9aa5b0}}\n"
    "@media(max-width:700px){svg{max-width:none}}\n</style>\n<title>";

/* An empty cell where the time is not known: 0 would be a statement. */
static void cell_seconds(struct str *out, double seconds)
{
    str_text(out, "<td>");
    if (!isnan(seconds))
        picture_seconds(out, seconds);
    str_text(out, "</td>");
}

/* The figures that the picture shows by lengths and colours, as text. */
static void row(struct str *out, const cJSON *phase)
{
    const cJSON *last = cJSON_GetObjectItemCaseSensitive(phase, "straggler"),
                *counts = cJSON_GetObjectItemCaseSensitive(phase, "status");
    double busy = picture_number(phase, "busy_share", PICTURE_NONE),
           start = picture_number(phase, "start_s", PICTURE_NONE);
    /* The three statuses of a final failure. */
    double failed = picture_number(counts, "Failed", 0) + picture_number(counts, "Terminated", 0) +
                    picture_number(counts, "PartiallyCompleted", 0);
    str_format(out, "<tr><td>%s</td><td>%.0f</td><td>%.0f</td><td>%.0f</td>",
               picture_word(phase, "order_text"), picture_number(phase, "tasks", 0), failed,
               picture_number(counts, "Cancelled", 0));
    cell_seconds(out, picture_number(phase, "barrier_s", PICTURE_NONE));
    cell_seconds(out, start);
    cell_seconds(out, picture_number(phase, "end_s", PICTURE_NONE) - start);
    if (isnan(busy))
        str_text(out, "<td></td><td>");
    else
        str_format(out, "<td>%.0f %%</td><td>", fmax(0, 100 - busy * 100));
    if (cJSON_IsObject(last)) {
        str_format(out, "task %.0f ", picture_number(last, "task_id", 0));
        picture_text(out, picture_word(last, "name"), 60);
        str_text(out, ", ");
        picture_seconds(out, picture_number(last, "seconds", 0));
    }
    str_text(out, "</td></tr>\n");
}

void picture_html(struct str *out, const cJSON *document)
{
    const cJSON *phase;
    str_text(out, head);
    str_text(out, "Run ");
    picture_text(out, picture_word(document, "run_id"), 40);
    str_text(out, "</title>\n</head>\n<body>\n<main>\n<div class=\"wide\" tabindex=\"0\">\n");
    /* Part of an HTML document: without the declaration of XML. */
    picture_svg(out, document, false);
    str_text(
        out,
        "</div>\n<div class=\"wide\" "
        "tabindex=\"0\">\n<table>\n<caption>Phases</caption>\n<thead><tr><th "
        "scope=\"col\">order</th><th "
        "scope=\"col\">tasks</th><th scope=\"col\">failed</th><th scope=\"col\">cancelled</th><th "
        "scope=\"col\">barrier before it</th><th scope=\"col\">began after</th><th "
        "scope=\"col\">took</th><th "
        "scope=\"col\">readers idle</th><th scope=\"col\">ended last</th></tr></thead>\n<tbody>\n");
    cJSON_ArrayForEach(phase, cJSON_GetObjectItemCaseSensitive(document, "phases"))
    {
        row(out, phase);
    }
    str_text(out, "</tbody>\n</table>\n</div>\n</main>\n</body>\n</html>\n");
}
