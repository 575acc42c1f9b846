/* The picture's frame: title, time axis, a band for each phase with a line of words, legend. The
 * bands are drawn first into a text of their own, because the axis must know where they end. The
 * document has all figures (lockstep.run_gantt); nothing is computed from tasks here but positions.
 *
 * The same text is a file of its own (file: with the declaration of XML) and a part of the HTML
 * page. Positions have one or two decimals, so that a picture of thousands of bars stays small. */
#include "cli/picture.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH   1200
#define TOP     92  /* of the first band: title and axis are above */
#define NAMED   16  /* a phase with so many attempts has a row for each, with its name, */
#define ROWS    220 /* while the picture has no more rows than that */
#define ROOMY   40  /* with so many phases each has two lines of text */
#define WAITING 9   /* the strip above lanes */

/* Colours for light, and the differences for dark. Classes and no CSS variables, because programs
 * that make a bitmap of an SVG do not know variables. */
static const char *const style =
    "<style>\n"
    ".paper{fill:#fff}.head{font:600 17px system-ui,sans-serif;fill:#1b2126}\n"
    ".text{font:12px system-ui,sans-serif;fill:#2b333b}.small,.name,.tick{font:11px "
    "system-ui,sans-serif;fill:#5b6670}\n"
    ".name{font-size:10.5px}.strong{font-weight:600}.bad{fill:#a3241c;font-weight:600}\n"
    ".grid{stroke:#e3e7eb;fill:none}.band{fill:#5b6670;fill-opacity:.07}.frame{fill:#e3eaf2}.done{"
    "fill:#3a78bd}\n"
    ".running{fill:#23875a}.failed{fill:#c93a31}.lost{fill:#b9862b}.waits{fill:#bfd0e3}"
    ".retries{fill:none;stroke:#b9862b;stroke-dasharray:2 2}\n"
    ".cancelled{fill:url(#hatch);stroke:#7b858e;stroke-width:.7}.hatch{stroke:#7b858e}\n"
    ".cross{stroke:#fff;stroke-width:1.6;fill:none}.beside{stroke:#c93a31}.lostmark{stroke:#5c420f;"
    "stroke-width:2}\n"
    ".straggler{stroke:#1b2126;stroke-width:1.4}.barrier{fill:#dd9a34}\n"
    ".edge{stroke:#8a949d;stroke-dasharray:2 3;fill:none}.now{stroke:#23875a;fill:none}\n"
    "@media(prefers-color-scheme:dark){\n"
    ".paper{fill:#14181c}.head{fill:#eef1f4}.text{fill:#d5dbe1}.small,.name,.tick{fill:#9aa5b0}\n"
    ".bad{fill:#ff8a80}.grid{stroke:#2a3138}.band{fill:#9aa5b0}.frame{fill:#232c36}.done{fill:#"
    "5d9be0}\n"
    ".running{fill:#45b883}.failed{fill:#e8605a}.lost{fill:#d6a548}.waits{fill:#34475c}"
    ".retries{stroke:#d6a548}\n"
    ".cancelled{stroke:#8b96a1}.hatch{stroke:#8b96a1}.cross{stroke:#14181c}.beside{stroke:#e8605a}."
    "lostmark{stroke:#"
    "f3dba9}\n"
    ".straggler{stroke:#eef1f4}.barrier{fill:#e3a848}.edge{stroke:#65707b}.now{stroke:#45b883}}\n"
    "</style>\n";

static void head(struct str *out, const cJSON *document, int phases)
{
    const char *name = picture_word(document, "name");
    str_format(out, "<text class=\"head\" x=\"16\" y=\"28\">%s", *name != '\0' ? "" : "run ");
    picture_text(out, *name != '\0' ? name : picture_word(document, "run_id"), 70);
    str_format(
        out,
        " <tspan class=\"%s\">· %s</tspan></text>\n<text class=\"small\" x=\"16\" y=\"48\">queue ",
        str_same(picture_word(document, "status"), "Failed") ? "bad" : "small",
        picture_word(document, "status"));
    picture_text(out, picture_word(document, "queue"), 63);
    str_format(out, " · %s · began %.19s · %s ", picture_word(document, "run_id"),
               picture_word(document, "started_at"),
               *picture_word(document, "ended_at") != '\0' ? "took" : "so far");
    picture_seconds(out, picture_length(document));
    str_format(out, " · %d phase%s · %.0f reader%s</text>\n", phases, phases == 1 ? "" : "s",
               picture_number(document, "readers", 1),
               picture_number(document, "readers", 1) == 1 ? "" : "s");
}

/* The distance of the lines of the axis: a round number of seconds, minutes or hours, at least an
 * eighth of all. */
static double distance(double length)
{
    static const double round[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                   600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    double least = length / 8, small = 1e-6;
    /* Below half a second the steps are 1, 2 and 5 times a power of ten; above 86,400 s they are
     * whole days. */
    for (size_t i = 0; i < sizeof round / sizeof *round && least > 0.5; i++)
        if (round[i] >= least)
            return round[i];
    if (least > 0.5)
        return ceil(least / 86400) * 86400;
    while (small * 10 < least)
        small *= 10;
    return small >= least       ? small
           : small * 2 >= least ? small * 2
           : small * 5 >= least ? small * 5
                                : small * 10;
}

static void axis(struct str *out, double length, double scale, double bottom)
{
    double each = distance(length);
    for (int i = 0; i * each <= length * 1.0001; i++) {
        double x = PICTURE_LEFT + i * each * scale;
        str_format(out,
                   "<path class=\"grid\" d=\"M%.2f 74V%.1f\"/><text class=\"tick\" x=\"%.2f\" "
                   "y=\"70\" text-anchor=\"middle\">",
                   x, bottom, x);
        if (i == 0)
            str_text(out, "0");
        else
            picture_seconds(out, i * each);
        str_text(out, "</text>\n");
    }
}

/* How many tasks of the phase have this status; 0 if the document names none. */
static double count_of(const cJSON *phase, const char *status)
{
    return picture_number(cJSON_GetObjectItemCaseSensitive(phase, "status"), status, 0);
}

/* "1,000 tasks · 12 failed · 3 cancelled", and how long it took. */
static void say_tasks(struct str *out, const cJSON *phase)
{
    double tasks = picture_number(phase, "tasks", PICTURE_NONE),
           end = picture_number(phase, "end_s", PICTURE_NONE);
    double failed = count_of(phase, "Failed") + count_of(phase, "Terminated") +
                    count_of(phase, "PartiallyCompleted");
    if (isnan(tasks))
        str_text(out, "no tasks");
    else
        str_format(out, "%.0f task%s", tasks, tasks == 1 ? "" : "s");
    if (failed > 0)
        str_format(out, " · <tspan class=\"bad\">✕ %.0f failed</tspan>", failed);
    if (count_of(phase, "Cancelled") > 0)
        str_format(out, " · %.0f cancelled", count_of(phase, "Cancelled"));
    if (count_of(phase, "Processing") > 0)
        str_format(out, " · %.0f running", count_of(phase, "Processing"));
    if (!isnan(end)) {
        str_text(out, " · ");
        picture_seconds(out, end - picture_number(phase, "start_s", end));
    } else {
        str_text(out, cJSON_IsString(cJSON_GetObjectItemCaseSensitive(phase, "opened_at"))
                          ? " · none has begun"
                          : " · not opened");
    }
}

/* The share of reader time that was idle, the barrier, and the task that ended last. */
static void say_lost(struct str *out, const cJSON *phase)
{
    const cJSON *last = cJSON_GetObjectItemCaseSensitive(phase, "straggler");
    double busy = picture_number(phase, "busy_share", PICTURE_NONE),
           barrier = picture_number(phase, "barrier_s", PICTURE_NONE);
    if (!isnan(busy))
        str_format(out, "readers idle %.0f %%", fmax(0, 100 - busy * 100));
    if (!isnan(barrier)) {
        str_text(out, " · barrier ");
        picture_seconds(out, barrier);
    }
    if (!cJSON_IsObject(last) || picture_number(phase, "tasks", 0) < 2)
        return;
    str_text(out, " · last: ");
    if (*picture_word(last, "name") != '\0')
        picture_text(out, picture_word(last, "name"), 14);
    else
        str_format(out, "task %.0f", picture_number(last, "task_id", 0));
    str_text(out, ", ");
    picture_seconds(out, picture_number(last, "seconds", 0));
}

/* The words to the right of the band: one line, or two. */
static void say(struct str *out, const cJSON *phase, double middle, bool roomy)
{
    STR_AUTO lost = {0};
    double busy = picture_number(phase, "busy_share", PICTURE_NONE);
    say_lost(&lost, phase);
    roomy = roomy && lost.len > 0;
    str_format(out, "<text class=\"text\" x=\"%d\" y=\"%.1f\">", PICTURE_RIGHT + 14,
               roomy ? middle - 3 : middle + 4);
    say_tasks(out, phase);
    if (!roomy && !isnan(busy))
        str_format(out, " <tspan class=\"small\">· readers idle %.0f %%</tspan>",
                   fmax(0, 100 - busy * 100));
    str_text(out, "</text>\n");
    if (roomy)
        str_format(out, "<text class=\"small\" x=\"%d\" y=\"%.1f\">%s</text>\n", PICTURE_RIGHT + 14,
                   middle + 12, lost.data);
}

static void band(struct str *out, const struct picture_band *band, bool roomy)
{
    double start = picture_number(band->phase, "start_s", PICTURE_NONE),
           end = picture_number(band->phase, "end_s", PICTURE_NONE),
           barrier = picture_number(band->phase, "barrier_s", PICTURE_NONE);
    double top = band->form == PICTURE_LANES ? band->y - WAITING : band->y,
           middle = top + band->height / 2;
    str_format(out, "<g><rect class=\"band\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
               PICTURE_LEFT, top - 3, PICTURE_PLOT, band->height + 4);
    str_format(out,
               "<text class=\"text strong\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
               PICTURE_LEFT - 10, middle + 4, picture_word(band->phase, "order_text"));
    if (!isnan(barrier) && !isnan(start))
        str_format(out,
                   "<rect class=\"barrier\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
                   "height=\"%.1f\"><title>barrier</title></rect>\n",
                   PICTURE_LEFT + (start - barrier) * band->scale, top - 3,
                   fmax(barrier * band->scale, 1.2), fmin(band->height + 4, 6));
    picture_bars(out, band);
    if (!isnan(end))
        str_format(out, "<path class=\"edge\" d=\"M%.2f %.1fv%.1f\"/>\n",
                   PICTURE_LEFT + end * band->scale, top - 3, band->height + 10);
    say(out, band->phase, middle, roomy);
    str_text(out, "</g>\n");
}

/* How the band of a phase looks, and how high it is. */
static void form(struct picture_band *band, bool named, bool roomy)
{
    const cJSON *bars = cJSON_GetObjectItemCaseSensitive(band->phase, "bars");
    int count = cJSON_GetArraySize(bars), lanes;
    double least = roomy ? 34 : 15;
    if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(band->phase, "density"))) {
        band->form = PICTURE_DENSITY;
        band->row_height = band->height = roomy ? 34 : 15;
    } else if (count == 0 || isnan(picture_number(band->phase, "start_s", PICTURE_NONE))) {
        band->form = PICTURE_EMPTY;
        band->height = least;
    } else if (named && count <= NAMED) {
        band->form = PICTURE_ROWS;
        band->row_height = 14;
        band->height = fmax(picture_number(band->phase, "tasks", count) * 14, least);
    } else {
        band->form = PICTURE_LANES;
        lanes = picture_lanes(band->phase);
        band->row_height = fmin(12, fmax(1.5, (roomy ? 96.0 : 12.0) / lanes));
        band->height = fmax(lanes * band->row_height + WAITING, least);
        band->y += WAITING;
    }
}

static void legend(struct str *out, double y)
{
    static const char *const rows[][2] = {{"done", "ran"},
                                          {"running", "runs"},
                                          {"waits", "waited for a reader"},
                                          {"retries", "waited for its retry"},
                                          {"failed", "failed ✕"},
                                          {"lost", "lost, ran again"},
                                          {"cancelled", "cancelled"},
                                          {"barrier", "barrier"},
                                          {"frame straggler", "ended last (outlined)"}};
    double x = PICTURE_LEFT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str_format(out,
                   "<rect class=\"%s\" x=\"%.0f\" y=\"%.1f\" width=\"14\" height=\"10\"/><text "
                   "class=\"small\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                   rows[i][0], x, y - 9, x + 19, y, rows[i][1]);
        x += 46 + 6.2 * (double)strlen(rows[i][1]);
    }
}

/* Which phases are drawn: the first and the last. */
static bool is_drawn(int phase, int phases)
{
    return phases <= PICTURE_BANDS || phase < PICTURE_BANDS / 2 ||
           phase >= phases - PICTURE_BANDS / 2;
}

static bool is_named(const cJSON *phases, int count)
{
    const cJSON *phase;
    int rows = 0, i = 0;
    cJSON_ArrayForEach(phase, phases)
    {
        int bars = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(phase, "bars"));
        /* Names in a few phases only would look like an error, so either all small phases have
         * them, or none. */
        rows += is_drawn(i++, count) && bars <= NAMED ? bars : 0;
    }
    return rows <= ROWS;
}

/* Returns where the next thing begins. */
static double bands(struct str *out, const cJSON *phases, double scale)
{
    const cJSON *phase;
    int count = cJSON_GetArraySize(phases), i = 0;
    bool named = is_named(phases, count), roomy = count <= ROOMY;
    double y = TOP;
    cJSON_ArrayForEach(phase, phases)
    {
        struct picture_band row = {.phase = phase, .y = y, .scale = scale};
        if (!is_drawn(i++, count)) {
            /* One line of words for the whole gap, at its first phase (i is already one
             * further). */
            if (is_drawn(i - 2, count)) {
                str_format(
                    out,
                    "<text class=\"small\" x=\"%d\" y=\"%.1f\">%d phases are not drawn</text>\n",
                    PICTURE_LEFT + 8, y + 12, count - PICTURE_BANDS);
                y += 24;
            }
            continue;
        }
        form(&row, named, roomy);
        band(out, &row, roomy);
        y += row.height + (roomy ? 10 : 5);
    }
    return y;
}

void picture_svg(struct str *out, const cJSON *document, bool file)
{
    const cJSON *phases = cJSON_GetObjectItemCaseSensitive(document, "phases");
    STR_AUTO body = {0};
    double length = picture_length(document), scale = PICTURE_PLOT / length;
    double bottom = bands(&body, phases, scale), height = bottom + 34;
    str_format(out,
               "%s<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
               "viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>",
               file ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : "", WIDTH, height, WIDTH,
               height);
    str_text(out, "Run ");
    picture_text(out, picture_word(document, "run_id"), 40);
    str_format(out, ": what ran when</title>\n%s", style);
    str_text(
        out,
        "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V5\"/></pattern></defs>\n");
    str_format(out, "<rect class=\"paper\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, height);
    head(out, document, cJSON_GetArraySize(phases));
    str_format(out, "<text class=\"tick\" x=\"%d\" y=\"70\" text-anchor=\"end\">order</text>\n",
               PICTURE_LEFT - 10);
    axis(out, length, scale, bottom - 4);
    str_add(out, body.data != NULL ? body.data : "", body.len);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(document, "times_hidden")))
        str_format(out,
                   "<text class=\"bad\" x=\"%d\" y=\"%.0f\">This run has more than two million "
                   "tasks: its tasks are not drawn.</text>\n",
                   PICTURE_LEFT, bottom);
    legend(out, height - 14);
    str_text(out, "</svg>\n");
}
