/* demo_attention.c - attn-mt demo attention: scores, weights and contexts of queries over ten keys.
 * Dive into Deep Learning, sections 11.1 and 11.3: eq. 11.1.1 (attention pooling), 11.1.3 (softmax of the
 * scores), 11.3.1 (Gaussian), 11.3.2 (scaled dot product), 11.3.7 (additive score)
 */
#include "base/mem.h"
#include "textbook/toy_attention.h"

typedef struct {
    int score, keys, cell;
    long long seed;
    char *lengths, *output;
    bool quiet;
} AttentionOptions;

typedef enum { KEYS_EQUAL, KEYS_RANDOM } Keys;

#define ATTENTION(member) OPT_FIELD(AttentionOptions, member)

/* clang-format off */
static const Option ATTENTION_OPTIONS[] = {
    {.flag = "score", .type = OPT_CHOICE, ATTENTION(score), .default_text = "additive",
     .choices = ATTENTION_CHOICES,
     .arg = "NAME", .help = "attention score function", .group = "demo attention"},
    {.flag = "keys", .type = OPT_CHOICE, ATTENTION(keys), .default_text = "equal", .choices = "equal|random",
     .arg = "KIND",
     .help = "all keys equal, so that their weights are equal too, or random keys"},
    {.flag = "lengths", .type = OPT_STRING, ATTENTION(lengths), .default_text = "2,6", .arg = "LENGTHS",
     .help = "number of valid keys of each example, or of each query, as in 1,3;2,4"},
    {.flag = "seed", .type = OPT_LONG, ATTENTION(seed), .default_text = "1", .max = 9e15, .arg = "N",
     .help = "seed of all random numbers"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, ATTENTION(output),
     .arg = "PREFIX", .help = "write the weights to PREFIX.csv, PREFIX.pgm and PREFIX.svg"},
    {.flag = "cell", .type = OPT_INT, ATTENTION(cell), .default_text = "16", .min = 1, .max = 256, .arg = "N",
     .help = "pgm: width and height of a weight in pixels"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, ATTENTION(quiet), .default_text = "false",
     .help = "do not print the names of written files"},
    {0}};
/* clang-format on */

static const char *kind(const AttentionOptions *options) {
    return options->keys == KEYS_EQUAL ? "equal" : "random";
}

static void describe(const AttentionOptions *options, const DemoLengths *lengths, const ToyAttention *toy,
                     StrBuf *out) {
    const AttentionScore *score = &ATTENTION_SCORES[options->score];
    strbuf_format(out, "%s: %s\n%d quer%s of %d numbers, %d %s keys of %d, of which ", score->name,
                  score->formula, demo_lengths_rows(lengths), demo_lengths_rows(lengths) == 1 ? "y" : "ies",
                  toy->query_size, TOY_KEYS, kind(options), TOY_KEY_SIZE);
    demo_write_lengths(lengths, out);
    strbuf_add(out, SV(" count\n"));
    if (!toy->sees_keys)
        strbuf_add(out, SV("this score looks at the positions of the keys, not at the keys\n"));
}

static DemoRows query_rows(const char *title, const DemoLengths *lengths, int columns, const real *numbers) {
    return (DemoRows){title, "query", lengths->batch, lengths->queries, columns, numbers, NULL};
}

static Status demo_attention(const void *user_options) {
    static const char *const SUFFIXES[] = {".csv", ".pgm", ".svg", NULL};
    const AttentionOptions *options = user_options;
    DemoLengths lengths;
    DemoOutput out;
    TRY(demo_lengths_parse(options->lengths, 1, TOY_KEYS, &lengths));
    Status status = demo_begin(&out, options->output, SUFFIXES);
    if (status == STATUS_OK) {
        ToyAttention *toy = mem_alloc(1, sizeof *toy);
        StrBuf title = {0}, parameters = {0};
        toy_attention_run(options->score, &lengths, options->keys == KEYS_EQUAL, (uint64_t)options->seed, toy,
                          &parameters);
        DemoRows weights = query_rows("weights", &lengths, TOY_KEYS, toy->weights[0]);
        DemoRows scores = query_rows("scores", &lengths, TOY_KEYS, toy->scores[0]);
        DemoRows queries = query_rows("queries", &lengths, toy->query_size, toy->queries);
        DemoRows contexts = query_rows("contexts", &lengths, TOY_VALUE_SIZE, toy->contexts[0]);
        DemoRows keys = {"keys", "key", lengths.batch, TOY_KEYS, TOY_KEY_SIZE, toy->keys[0][0], NULL};
        DemoRows values = {"values",       "value",           lengths.batch, TOY_KEYS,
                           TOY_VALUE_SIZE, toy->values[0][0], NULL};
        weights.used = lengths.row;
        describe(options, &lengths, toy, &out.text);
        const DemoRows *const inputs[] = {&queries, &keys, &values};
        const DemoRows *const outputs[] = {&scores, &weights, &contexts};
        for (int i = 0; i < 3; i++) demo_write_rows(inputs[i], &out.text);
        strbuf_add(&out.text, strbuf_view(&parameters));
        for (int i = 0; i < 3; i++) demo_write_rows(outputs[i], &out.text);
        strbuf_format(&title, "%s attention, %s keys", ATTENTION_SCORES[options->score].name, kind(options));
        demo_draw_weights(&weights, strbuf_text(&title), options->cell, &out);
        strbuf_free(&title);
        strbuf_free(&parameters);
        mem_free(toy);
    }
    return demo_finish(&out, status, options->quiet);
}

const Demo DEMO_ATTENTION = {"attention", ATTENTION_OPTIONS, sizeof(AttentionOptions), demo_attention};
