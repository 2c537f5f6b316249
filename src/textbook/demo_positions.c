/* demo_positions.c - attn-mt demo positions: the sinusoidal encoding, the binary numbers that it resembles,
 * and the rotation from one position to another. Dive into Deep Learning, section 11.6.3: eq. 11.6.2;
 * 11.6.3.1 (binary numbers), 11.6.3.2 (rotation)
 */
#include <math.h>
#include "base/mem.h"
#include "layers/positions.h"
#include "textbook/demo.h"
#include "viz/heatmap.h"
#include "viz/plot.h"

typedef struct {
    int length, size, offset;
    char *output;
    bool quiet;
} PositionOptions;

enum { MAX_POSITIONS = 512, FIRST_COLUMN = 6, CURVES = 4, BITS = 3, NUMBERS = 1 << BITS };
enum {
    FILE_CURVES,
    FILE_MATRIX,
    FILE_MATRIX_CSV,
    FILE_BINARY,
    FILE_BINARY_CSV,
    FILE_ROTATION,
    FILE_ROTATION_CSV
};

#define POSITION(member) OPT_FIELD(PositionOptions, member)

/* clang-format off */
static const Option POSITION_OPTIONS[] = {
    {.flag = "length", .type = OPT_INT, POSITION(length), .default_text = "60", .min = 2,
     .max = MAX_POSITIONS,
     .arg = "N",
     .help = "number of positions, the rows of the matrix", .group = "demo positions"},
    {.flag = "size", .type = OPT_INT, POSITION(size), .default_text = "32", .min = FIRST_COLUMN + CURVES,
     .max = MAX_POSITIONS, .arg = "N",
     .help = "size of the encoding, the columns of the matrix"},
    {.flag = "offset", .type = OPT_INT, POSITION(offset), .default_text = "1", .min = 0,
     .max = MAX_POSITIONS,
     .arg = "N",
     .help = "distance between the two positions of the rotation"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, POSITION(output),
     .arg = "PREFIX",
     .help = "write PREFIX-curves.svg, and PREFIX-matrix, -binary and -rotation as .svg and .csv"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, POSITION(quiet), .default_text = "false",
     .help = "do not print the names of written files"},
    {0}};
/* clang-format on */

static void draw_curves(const PositionOptions *options, const real *matrix, StrBuf *out) {
    size_t n = (size_t)options->length;
    double *x = mem_alloc(n * (CURVES + 1), sizeof *x);
    StrList names = {0};
    PlotSeries series[CURVES];
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    for (int c = 0; c < CURVES; c++) {
        double *y = x + (size_t)(c + 1) * n;
        strlist_format(&names, "column %d", FIRST_COLUMN + c);
        for (size_t i = 0; i < n; i++)
            y[i] = (double)matrix[i * (size_t)options->size + (size_t)(FIRST_COLUMN + c)];
        series[c] = (PlotSeries){names.items[c], x, y, options->length, false};
    }
    Plot plot = {.title = "Sinusoidal encoding of positions",
                 .x = {.title = "position", .whole = true},
                 .left = {.title = "value"},
                 .series = series,
                 .count = CURVES};
    plot_write_svg(&plot, out);
    strlist_free(&names);
    mem_free(x);
}

/* The labels of rows and columns count from 0. */
static void draw_matrix(const char *title, const real *matrix, int rows, int columns, double low, StrBuf *svg,
                        StrBuf *csv) {
    StrList numbers = {0};
    for (int i = 0; i < rows || i < columns; i++) strlist_format(&numbers, "%d", i);
    Heatmap map = {.rows = rows,
                   .columns = columns,
                   .row_labels = (const char *const *)numbers.items,
                   .column_labels = (const char *const *)numbers.items,
                   .weights = matrix,
                   .title = title};
    heatmap_write_svg_range(&map, low, 1, svg);
    heatmap_write_csv(&map, csv);
    strlist_free(&numbers);
}

/* ---- binary numbers: the lower the bit, the faster it alternates ---- */

static void show_binary(DemoOutput *out) {
    real bits[NUMBERS][BITS];
    for (int i = 0; i < NUMBERS; i++) {
        strbuf_format(&out->text, "%d in binary is ", i);
        for (int b = 0; b < BITS; b++) {
            int bit = i >> (BITS - 1 - b) & 1;
            bits[i][b] = (real)bit;
            strbuf_format(&out->text, "%d", bit);
        }
        strbuf_add_char(&out->text, '\n');
    }
    draw_matrix("Binary numbers: a row for each", bits[0], NUMBERS, BITS, 0, &out->content[FILE_BINARY],
                &out->content[FILE_BINARY_CSV]);
}

/* ---- the rotation ----
 * P[i + d, 2j] = cos(d w_j) P[i, 2j] + sin(d w_j) P[i, 2j + 1], P[i + d, 2j + 1] = -sin(d w_j) P[i, 2j] +
 * cos(d w_j) P[i, 2j + 1] with w_j = 1 / 10000^(2j / size), for any i: Dive into Deep Learning, 11.6.3.2.
 * The last column of an odd size has no partner and is left out. */

static real *rotation(const PositionOptions *options, int size) {
    real *turn = mem_alloc((size_t)size * (size_t)size, sizeof *turn);
    for (int j = 0; j + 1 < size; j += 2) {
        double angle = options->offset / pow(10000, j / (double)options->size);
        real *above = turn + (size_t)j * (size_t)size + j, *below = above + size;
        above[0] = below[1] = (real)cos(angle);
        above[1] = (real)sin(angle);
        below[0] = -above[1];
    }
    return turn;
}

/* The largest difference between a rotated encoding and the encoding `offset` positions later. */
static double greatest_difference(const PositionOptions *options, const real *matrix, const real *turn,
                                  int size) {
    size_t columns = (size_t)options->size;
    real *later = mem_alloc((size_t)options->length * columns, sizeof *later);
    double greatest = 0;
    positions_sinusoidal(options->offset, options->length, options->size, later);
    for (size_t i = 0; i < (size_t)options->length; i++)
        for (int row = 0; row < size; row++) {
            double sum = 0;
            for (int c = 0; c < size; c++)
                sum += (double)turn[(size_t)row * (size_t)size + (size_t)c] *
                       (double)matrix[i * columns + (size_t)c];
            greatest = fmax(greatest, fabs(sum - (double)later[i * columns + (size_t)row]));
        }
    mem_free(later);
    return greatest;
}

static void show_rotation(const PositionOptions *options, const real *matrix, DemoOutput *out) {
    int size = options->size - options->size % 2;
    real *turn = rotation(options, size);
    strbuf_format(&out->text,
                  "\noffset %d: a rotation of each pair of columns 2j, 2j + 1:\n   j   angle d w_j"
                  "       cos       sin\n",
                  options->offset);
    for (int j = 0; j < size; j += 2) {
        const real *row = turn + (size_t)j * (size_t)size + j;
        strbuf_format(&out->text, "%4d %13.9f %9.6f %9.6f\n", j / 2,
                      options->offset / pow(10000, j / (double)options->size), (double)row[0],
                      (double)row[1]);
    }
    strbuf_format(&out->text, "rotated, rows 0 to %d are rows %d to %d: the greatest difference is %.1e\n",
                  options->length - 1, options->offset, options->offset + options->length - 1,
                  greatest_difference(options, matrix, turn, size));
    draw_matrix("Rotation from each position to a later one", turn, size, size, -1,
                &out->content[FILE_ROTATION], &out->content[FILE_ROTATION_CSV]);
    mem_free(turn);
}

static Status demo_positions(const void *user_options) {
    static const char *const SUFFIXES[] = {"-curves.svg", "-matrix.svg",   "-matrix.csv",   "-binary.svg",
                                           "-binary.csv", "-rotation.svg", "-rotation.csv", NULL};
    const PositionOptions *options = user_options;
    DemoOutput out;
    Status status = demo_begin(&out, options->output, SUFFIXES);
    if (status == STATUS_OK) {
        real *matrix = mem_alloc((size_t)options->length * (size_t)options->size, sizeof *matrix);
        positions_sinusoidal(0, options->length, options->size, matrix);
        draw_curves(options, matrix, &out.content[FILE_CURVES]);
        draw_matrix("Sinusoidal encoding: a row for each position", matrix, options->length, options->size,
                    -1, &out.content[FILE_MATRIX], &out.content[FILE_MATRIX_CSV]);
        show_binary(&out);
        show_rotation(options, matrix, &out);
        mem_free(matrix);
    }
    return demo_finish(&out, status, options->quiet);
}

const Demo DEMO_POSITIONS = {"positions", POSITION_OPTIONS, sizeof(PositionOptions), demo_positions};
