/* bleu_table.c - a grid of box-drawing characters, a LaTeX table, or JSON. */
#include "cli/bleu_table.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

enum { CELL_LINES = 2, HEADER_MARGIN = 2 };

/* Text of one cell: up to two lines, each in one colour or none. */
typedef struct {
    StrBuf lines[CELL_LINES];
    const char *colours[CELL_LINES];
    int count;
} Cell;

typedef struct {
    Cell *cells; /* [row][column], row 0 is the header */
    size_t rows, columns;
    size_t *widths;
} Grid;

static Cell *grid_cell(const Grid *grid, size_t row, size_t column) {
    return &grid->cells[row * grid->columns + column];
}

static size_t text_width(StrView text) {
    size_t width = 0;
    for (size_t position = 0; position < text.length;)
        width += (size_t)unicode_width(utf8_next(text, &position));
    return width;
}

static void fill_score(Cell *cell, const TableCell *known, int width, bool two_lines) {
    cell->count = 1;
    strbuf_format(&cell->lines[0], "%.*f", width, known->score);
    if (known->has_interval)
        strbuf_format(&cell->lines[0], " (%.*f ± %.*f)", width, known->interval.mean, width,
                      known->interval.half_width);
    if (!known->has_p_value) return;
    StrBuf *line = &cell->lines[two_lines ? 1 : 0];
    if (two_lines) cell->count = 2;
    bool by_chance = known->p_value > 0.05;
    strbuf_format(line, "%s(p = %.4f)%s", two_lines ? "" : " ", known->p_value, by_chance ? "" : "*");
    if (two_lines && by_chance) cell->colours[1] = COLOUR_RED;
}

static void fill_grid(Grid *grid, const ScoreTable *table, int width, bool two_lines) {
    bool has_intervals = table->cells[0].has_interval;
    bool named_baseline = sv_starts(sv(table->systems[0]), SV("Baseline:"));
    strbuf_add(&grid->cells[0].lines[0], SV("System"));
    for (size_t m = 0; m < table->metric_count; m++)
        strbuf_format(&grid->cells[m + 1].lines[0], "%s%s", table->metrics[m],
                      has_intervals ? " (μ ± 95% CI)" : "");
    for (size_t c = 0; c < grid->columns; c++) {
        grid->cells[c].count = 1;
        grid->cells[c].colours[0] = COLOUR_CYAN;
    }
    for (size_t s = 0; s < table->system_count; s++) {
        Cell *name = grid_cell(grid, s + 1, 0);
        name->count = 1;
        strbuf_add(&name->lines[0], sv_trim(sv(table->systems[s])));
        for (size_t m = 0; m < table->metric_count; m++)
            fill_score(grid_cell(grid, s + 1, m + 1), &table->cells[s * table->metric_count + m], width,
                       two_lines);
    }
    for (size_t c = 0; c < grid->columns && named_baseline; c++)
        grid_cell(grid, 1, c)->colours[0] = COLOUR_YELLOW;
}

static Grid grid_new(const ScoreTable *table, int width, bool two_lines) {
    Grid grid = {.rows = table->system_count + 1, .columns = table->metric_count + 1};
    grid.cells = mem_alloc(grid.rows * grid.columns, sizeof(Cell));
    grid.widths = mem_alloc(grid.columns, sizeof *grid.widths);
    fill_grid(&grid, table, width, two_lines);
    for (size_t r = 0; r < grid.rows; r++) {
        for (size_t c = 0; c < grid.columns; c++) {
            const Cell *cell = grid_cell(&grid, r, c);
            for (int i = 0; i < cell->count; i++) {
                size_t need = text_width(strbuf_view(&cell->lines[i])) + (r == 0 ? HEADER_MARGIN : 0);
                if (need > grid.widths[c]) grid.widths[c] = need;
            }
        }
    }
    return grid;
}

static void grid_free(Grid *grid) {
    for (size_t i = 0; i < grid->rows * grid->columns; i++)
        for (int j = 0; j < CELL_LINES; j++) strbuf_free(&grid->cells[i].lines[j]);
    mem_free(grid->cells);
    mem_free(grid->widths);
}

static void add_repeated(StrBuf *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) strbuf_add(out, sv(text));
}

/* The first column stands to the right, the others in the middle. */
static void add_padded(StrBuf *out, const Cell *cell, int line, size_t width, bool right, bool colour) {
    StrView text = line < cell->count ? strbuf_view(&cell->lines[line]) : SV("");
    size_t space = width - text_width(text), before = right ? space : space / 2;
    const char *shade = line < cell->count && colour ? cell->colours[line] : NULL;
    add_repeated(out, " ", before);
    if (shade) strbuf_add(out, sv(shade));
    strbuf_add(out, text);
    if (shade) strbuf_add(out, SV(COLOUR_RESET));
    add_repeated(out, " ", space - before);
}

static void add_rule(StrBuf *out, const Grid *grid, const char *const marks[4]) {
    for (size_t c = 0; c < grid->columns; c++) {
        strbuf_add(out, sv(marks[c == 0 ? 0 : 2]));
        add_repeated(out, marks[1], grid->widths[c] + 2);
    }
    strbuf_format(out, "%s\n", marks[3]);
}

static void write_boxes(const Grid *grid, bool colour, StrBuf *out) {
    static const char *const ABOVE[] = {"╒", "═", "╤", "╕"}, *const BELOW_HEADER[] = {"╞", "═", "╪", "╡"},
                             *const BETWEEN[] = {"├", "─", "┼", "┤"}, *const BELOW[] = {"╘", "═", "╧", "╛"};
    for (size_t r = 0; r < grid->rows; r++) {
        add_rule(out, grid, r == 0 ? ABOVE : r == 1 ? BELOW_HEADER : BETWEEN);
        int lines = 1;
        for (size_t c = 0; c < grid->columns; c++)
            if (grid_cell(grid, r, c)->count > lines) lines = grid_cell(grid, r, c)->count;
        for (int line = 0; line < lines; line++) {
            for (size_t c = 0; c < grid->columns; c++) {
                strbuf_add(out, SV("│ "));
                add_padded(out, grid_cell(grid, r, c), line, grid->widths[c], c == 0, colour);
                strbuf_add_char(out, ' ');
            }
            strbuf_add(out, SV("│\n"));
        }
    }
    add_rule(out, grid, BELOW);
}

static void add_latex(StrBuf *out, StrView text) {
    static const char SPECIAL[] = "&%$#_{}";
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        switch (c) {
        case '^':
            strbuf_add(out, SV("\\^{}"));
            continue;
        case '~':
            strbuf_add(out, SV("\\textasciitilde{}"));
            continue;
        case '\\':
            strbuf_add(out, SV("\\textbackslash{}"));
            continue;
        case '<':
            strbuf_add(out, SV("\\ensuremath{<}"));
            continue;
        case '>':
            strbuf_add(out, SV("\\ensuremath{>}"));
            continue;
        default:
            break;
        }
        if (c != '\0' && strchr(SPECIAL, c)) strbuf_add_char(out, '\\');
        strbuf_add_char(out, c);
    }
}

static void write_latex(const Grid *grid, StrBuf *out) {
    strbuf_add(out, SV("\\begin{tabular}{r"));
    add_repeated(out, "c", grid->columns - 1);
    strbuf_add(out, SV("}\n\\toprule\n"));
    for (size_t r = 0; r < grid->rows; r++) {
        for (size_t c = 0; c < grid->columns; c++) {
            StrBuf cell = {0};
            add_padded(&cell, grid_cell(grid, r, c), 0, grid->widths[c], c == 0, false);
            strbuf_add(out, c ? SV("& ") : SV(" "));
            add_latex(out, strbuf_view(&cell));
            strbuf_add_char(out, ' ');
            strbuf_free(&cell);
        }
        strbuf_add(out, r == 0 ? SV("\\\\\n\\midrule\n") : SV("\\\\\n"));
    }
    strbuf_add(out, SV("\\bottomrule\n\\end{tabular}\n"));
}

/* A JSON string in ASCII: the rest as \uXXXX, in surrogate pairs where one is not enough. */
static void add_ascii_string(StrBuf *out, StrView text) {
    static const char NAMED[] = "\"\\\b\f\n\r\t", LETTERS[] = "\"\\bfnrt";
    strbuf_add_char(out, '"');
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        const char *named = c > 0 && c < 0x80 ? strchr(NAMED, c) : NULL;
        if (named)
            strbuf_format(out, "\\%c", LETTERS[named - NAMED]);
        else if (c >= 0x20 && c < 0x7F)
            strbuf_add_char(out, (char)c);
        else if (c < 0x10000)
            strbuf_format(out, "\\u%04x", (unsigned)c);
        else
            strbuf_format(out, "\\u%04x\\u%04x", 0xD800u + (((unsigned)c - 0x10000) >> 10),
                          0xDC00u + (((unsigned)c - 0x10000) & 0x3FF));
    }
    strbuf_add_char(out, '"');
}

static void add_member(StrBuf *out, const char *name, bool known, double value) {
    strbuf_format(out, "            \"%s\": ", name);
    if (known)
        bleu_report_write_repr(value, out);
    else
        strbuf_add(out, SV("null"));
}

static void add_json_cell(StrBuf *out, const TableCell *cell, bool compared, int width) {
    if (!compared) {
        strbuf_format(out, "\"%.*f\"", width, cell->score);
        return;
    }
    strbuf_add(out, SV("{\n"));
    add_member(out, "score", true, cell->score);
    strbuf_add(out, SV(",\n"));
    add_member(out, "p_value", cell->has_p_value, cell->p_value);
    strbuf_add(out, SV(",\n"));
    add_member(out, "mean", cell->has_interval, cell->interval.mean);
    strbuf_add(out, SV(",\n"));
    add_member(out, "ci", cell->has_interval, cell->interval.half_width);
    strbuf_add(out, SV("\n        }"));
}

static void write_json(const ScoreTable *table, int width, StrBuf *out) {
    strbuf_add(out, SV("[\n"));
    for (size_t s = 0; s < table->system_count; s++) {
        strbuf_add(out, SV("    {\n        \"system\": "));
        add_ascii_string(out, sv(table->systems[s]));
        for (size_t m = 0; m < table->metric_count; m++) {
            strbuf_format(out, ",\n        \"%s\": ", table->metrics[m]);
            add_json_cell(out, &table->cells[s * table->metric_count + m], table->test != RESAMPLING_NONE,
                          width);
        }
        strbuf_add(out, s + 1 < table->system_count ? SV("\n    },\n") : SV("\n    }\n"));
    }
    strbuf_add(out, SV("]\n"));
}

static const char *shade(bool colour, const char *code) { return colour ? code : ""; }

/* What the test was and how to read it, in sacreBLEU's words, which people's scripts and papers quote. */
static void write_test(const ScoreTable *table, bool colour, StrBuf *out) {
    bool bootstrap = table->test == RESAMPLING_BOOTSTRAP;
    char title[160];
    const char *name = table->systems[0];
    const char *yellow = shade(colour, COLOUR_YELLOW), *green = shade(colour, COLOUR_GREEN),
               *red = shade(colour, COLOUR_RED), *end = shade(colour, COLOUR_RESET);
    snprintf(title, sizeof title, "Paired %s test with %d %s",
             bootstrap ? "bootstrap resampling" : "approximate randomization", table->trials,
             bootstrap ? "resampling trials" : "trials");
    add_repeated(out, "-", strlen(title));
    strbuf_format(out, "\n%s\n", title);
    add_repeated(out, "-", strlen(title));
    strbuf_format(out, "\n - Each system is pairwise compared to %s%s%s.\n", yellow,
                  sv_starts(sv(name), SV("Baseline:")) ? name : "", end);
    strbuf_add(out,
               bootstrap
                   ? SV("   Actual system score / bootstrap estimated true mean / 95% CI are provided for "
                        "each metric.\n\n")
                   : SV("   Actual system score is provided for each metric.\n\n"));
    strbuf_format(
        out,
        " - %sNull hypothesis%s: the system and the %sbaseline%s translations are essentially\n"
        "   generated by the same underlying process. For a given system and the %sbaseline%s,\n"
        "   the p-value is roughly the probability of the absolute score difference (delta)\n"
        "   or higher occurring due to chance, under the assumption that the %snull hypothesis%s is "
        "correct.\n\n",
        green, end, yellow, end, yellow, end, green, end);
    strbuf_format(
        out,
        " - Assuming a significance threshold of 0.05, the %snull hypothesis%s can be rejected\n"
        "   for p-values < 0.05 (marked with \"*\"). This means that the delta is unlikely to be attributed\n"
        "   to chance, hence the system is significantly \"different\" than the %sbaseline%s.\n"
        "   Otherwise, the p-values are %shighlighted in red%s.\n\n",
        green, end, yellow, end, red, end);
    strbuf_format(
        out,
        " - NOTE: Significance does not tell whether a system is \"better\" than the %sbaseline%s but "
        "rather\n"
        "   emphasizes the \"difference\" of the systems in terms of the replicability of the delta.\n\n",
        yellow, end);
}

static void write_signatures(const ScoreTable *table, bool abbreviated, StrBuf *out) {
    strbuf_add(out, SV("-----------------\nMetric signatures\n-----------------\n"));
    for (size_t m = 0; m < table->metric_count; m++) {
        strbuf_format(out, " - %-10s ", table->metrics[m]);
        bleu_metric_write_signature(&table->signatures[m], abbreviated, out);
        strbuf_add_char(out, '\n');
    }
}

void bleu_table_write(const ScoreTable *table, const ReportStyle *style, BleuFormat format, StrBuf *out) {
    if (format == BLEU_FORMAT_JSON) {
        write_json(table, style->width, out);
        return;
    }
    bool boxes = format == BLEU_FORMAT_TEXT;
    Grid grid = grid_new(table, style->width, boxes);
    if (boxes)
        write_boxes(&grid, style->colour, out);
    else
        write_latex(&grid, out);
    strbuf_add_char(out, '\n');
    if (table->test != RESAMPLING_NONE) write_test(table, style->colour, out);
    write_signatures(table, style->abbreviated, out);
    grid_free(&grid);
}
