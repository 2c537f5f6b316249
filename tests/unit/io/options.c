/* options.c - the option table on the command line, in configurations and in --help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "io/options.h"

typedef struct {
    int hidden, layers, cell;
    bool tied, quiet, verbose;
    double dropout;
    long long seed;
    char *name, *path;
    StrList files, formats;
} ModelOptions;

typedef struct {
    int beam, nbest, alignment;
} DecodeOptions;

static const Option MODEL_ROWS[] = {
    {.key = "model.hidden",
     .type = OPT_INT,
     OPT_FIELD(ModelOptions, hidden),
     .default_text = "256",
     .min = 1,
     .max = 4096,
     .help = "size of the hidden state",
     .group = "Model"},
    {.key = "model.layers",
     .type = OPT_INT,
     OPT_FIELD(ModelOptions, layers),
     .default_text = "2",
     .min = 1,
     .max = 8,
     .help = "layers"},
    {.key = "model.cell",
     .type = OPT_CHOICE,
     OPT_FIELD(ModelOptions, cell),
     .default_text = "gru",
     .choices = "gru|lstm|rnn",
     .help = "kind of cell"},
    {.key = "model.tied",
     .type = OPT_BOOL,
     OPT_FIELD(ModelOptions, tied),
     .default_text = "true",
     .help = "tie embeddings"},
    {.key = "model.dropout",
     .letter = 'd',
     .type = OPT_REAL,
     OPT_FIELD(ModelOptions, dropout),
     .default_text = "0.2",
     .max = 0.9,
     .help = "rate"},
    {.key = "train.seed",
     .type = OPT_LONG,
     OPT_FIELD(ModelOptions, seed),
     .default_text = "1",
     .help = "random seed",
     .group = "Training"},
    {.key = "model.name", .letter = 'n', .type = OPT_STRING, OPT_FIELD(ModelOptions, name), .help = "name"},
    {.key = "train.path",
     .type = OPT_STRING,
     OPT_FIELD(ModelOptions, path),
     .default_text = "run",
     .help = "folder"},
    {.key = "train.files",
     .letter = 'f',
     .type = OPT_LIST,
     OPT_FIELD(ModelOptions, files),
     .default_text = "a.tsv,b.tsv",
     .arg = "FILE",
     .help = "files"},
    {.flag = "format",
     .letter = 'm',
     .type = OPT_LIST,
     OPT_FIELD(ModelOptions, formats),
     .choices = "csv|pgm|svg",
     .help = "formats"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, OPT_FIELD(ModelOptions, quiet), .help = "say nothing"},
    {.flag = "verbose",
     .alias = "vv",
     .letter = 'v',
     .type = OPT_BOOL,
     OPT_FIELD(ModelOptions, verbose),
     .help = "say more"},
    {0}};

static const Option DECODE_ROWS[] = {{.key = "decode.beam_size",
                                      .letter = 'b',
                                      .type = OPT_INT,
                                      OPT_FIELD(DecodeOptions, beam),
                                      .default_text = "5",
                                      .min = 1,
                                      .max = 1000,
                                      .arg = "N",
                                      .help = "hypotheses kept per sentence; 1 = greedy",
                                      .group = "Decoding"},
                                     {.key = "decode.n_best",
                                      .type = OPT_INT,
                                      OPT_FIELD(DecodeOptions, nbest),
                                      .default_text = "0",
                                      .implied_value = "5",
                                      .min = 1,
                                      .max = 100,
                                      .help = "best translations"},
                                     {.flag = "alignment",
                                      .type = OPT_CHOICE,
                                      OPT_FIELD(DecodeOptions, alignment),
                                      .default_text = "none",
                                      .implied_value = "hard",
                                      .choices = "none|hard|soft",
                                      .help = "alignments"},
                                     {0}};

typedef struct {
    ModelOptions model;
    DecodeOptions decode;
    OptionTable tables[3];
    StrList positional;
    HelpKind help;
} Fixture;

static Fixture *fresh(void) {
    Fixture *f = mem_alloc(1, sizeof *f);
    f->tables[0] = (OptionTable){MODEL_ROWS, &f->model};
    f->tables[1] = (OptionTable){DECODE_ROWS, &f->decode};
    options_defaults(f->tables);
    return f;
}

static void release(Fixture *f) {
    options_free(f->tables);
    mem_free(f->positional.items);
    mem_free(f);
}

/* Arguments between blanks. */
static Status parse(Fixture *f, const char *line) {
    char *copy = mem_strdup(line), *argv[64] = {(char *)"prog"};
    int argc = 1;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    mem_free(f->positional.items);
    Status status = options_parse_config(f->tables, argc, argv, &f->positional, &f->help, NULL);
    for (size_t i = 0; i < f->positional.count; i++)
        assert_true(f->positional.items[i] >= copy); /* not copied */
    if (f->positional.count == 0) {
        mem_free(copy);
        return status;
    }
    /* The strings must live as long as argv: a static ring owns the copies. */
    static char *kept[8];
    static int turn;
    turn = (turn + 1) % 8;
    mem_free(kept[turn]);
    kept[turn] = copy;
    return status;
}

static void accept(Fixture *f, const char *line) {
    if (parse(f, line) != STATUS_OK) fail_msg("%s: %s", line, status_message());
}

static void refuse(const char *line, const char *message, const char *hint) {
    Fixture *f = fresh();
    if (parse(f, line) != STATUS_USAGE) fail_msg("accepted: %s", line);
    assert_string_equal(status_message(), message);
    assert_string_equal(status_hint_text(), hint);
    release(f);
}

static void assert_list(const StrList *list, size_t count, const char *const *items) {
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) assert_string_equal(list->items[i], items[i]);
}

#define ITEMS(...)                                                                                           \
    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]) { __VA_ARGS__ }

static void defaults_come_from_the_table(void **state) {
    (void)state;
    Fixture *f = fresh();
    assert_int_equal(f->model.hidden, 256);
    assert_int_equal(f->model.layers, 2);
    assert_int_equal(f->model.cell, 0);
    assert_true(f->model.tied);
    assert_false(f->model.quiet);
    assert_true(f->model.dropout == 0.2);
    assert_int_equal(f->model.seed, 1);
    assert_null(f->model.name);
    assert_string_equal(f->model.path, "run");
    assert_list(&f->model.files, ITEMS("a.tsv", "b.tsv"));
    assert_int_equal(f->model.formats.count, 0);
    assert_int_equal(f->decode.beam, 5);
    assert_int_equal(f->decode.nbest, 0); /* a default outside its range is allowed */
    assert_int_equal(f->decode.alignment, 0);
    release(f);
}

static void parses_every_form(void **state) {
    (void)state;
    Fixture *f = fresh();
    accept(f,
           "--hidden 512 in.txt --cell=lstm -d0.5 --seed 9007199254740993 -b 7 --name=x=y - --quiet out.txt");
    assert_int_equal(f->model.hidden, 512);
    assert_int_equal(f->model.cell, 1);
    assert_true(f->model.dropout == 0.5);
    assert_true(f->model.seed == 9007199254740993LL);
    assert_int_equal(f->decode.beam, 7);
    assert_string_equal(f->model.name, "x=y");
    assert_true(f->model.quiet);
    assert_false(f->help);
    assert_list(&f->positional, ITEMS("in.txt", "-", "out.txt"));
    accept(f, "--hidden 1 -d 0");
    assert_int_equal(f->model.hidden, 1);
    assert_true(f->model.dropout == 0);
    accept(f, "--hidden 4096 -d 0.9");
    assert_int_equal(f->model.hidden, 4096);
    assert_true(f->model.dropout == 0.9);
    accept(f, "--no-tied --beam-size 9 -qv -n=z");
    assert_false(f->model.tied);
    assert_int_equal(f->decode.beam, 9);
    assert_true(f->model.verbose);
    assert_string_equal(f->model.name, "z");
    accept(f, "--tied --quiet=no -beam-size 3 -vv -- --hidden -x");
    assert_true(f->model.tied);
    assert_false(f->model.quiet);
    assert_int_equal(f->decode.beam, 3);
    assert_list(&f->positional, ITEMS("--hidden", "-x"));
    accept(f, "-b4 --seed -5 --name= --tied=off -qb6");
    assert_int_equal(f->model.seed, -5);
    assert_string_equal(f->model.name, "");
    assert_false(f->model.tied);
    assert_int_equal(f->decode.beam, 6);
    accept(f, "x --help");
    assert_true(f->help);
    accept(f, "-h");
    assert_true(f->help);
    accept(f, "");
    assert_false(f->help);
    assert_int_equal(f->positional.count, 0);
    release(f);
}

static void optional_values_are_taken_when_they_fit(void **state) {
    (void)state;
    Fixture *f = fresh();
    accept(f, "--n-best in.txt");
    assert_int_equal(f->decode.nbest, 5);
    assert_list(&f->positional, ITEMS("in.txt"));
    accept(f, "--n-best 3 --alignment soft in.txt");
    assert_int_equal(f->decode.nbest, 3);
    assert_int_equal(f->decode.alignment, 2);
    assert_list(&f->positional, ITEMS("in.txt"));
    accept(f, "--alignment software --n-best=7");
    assert_int_equal(f->decode.alignment, 1);
    assert_int_equal(f->decode.nbest, 7);
    assert_list(&f->positional, ITEMS("software"));
    accept(f, "--alignment=none --n-best");
    assert_int_equal(f->decode.alignment, 0);
    assert_int_equal(f->decode.nbest, 5);
    release(f);
}

static void lists_collect(void **state) {
    (void)state;
    Fixture *f = fresh();
    accept(f, "--files one --quiet -f two,three --files=f\\,our -m csv svg file pgm");
    assert_list(&f->model.files, ITEMS("one", "two", "three", "f,our"));
    assert_list(&f->model.formats, ITEMS("csv", "svg"));
    assert_list(&f->positional, ITEMS("file", "pgm"));
    accept(f, "--set train.files=x,y --set train.files=z");
    assert_list(&f->model.files, ITEMS("z"));
    accept(f, "--set train.files=");
    assert_int_equal(f->model.files.count, 0);
    accept(f, "--files=\\a\\b\\"); /* a backslash escapes only a comma */
    assert_list(&f->model.files, ITEMS("\\a\\b\\"));
    release(f);
    refuse("--files a,,b", "option '--files': an empty item in 'a,,b'", "");
    refuse("--format sgv", "option '--format': 'sgv' is not csv, pgm or svg", "did you mean 'svg'?");
}

static void wrong_values_are_named(void **state) {
    (void)state;
    refuse("--hidden 0", "option '--hidden': 0 is not in the range 1 to 4096", "");
    refuse("--hidden 4097", "option '--hidden': 4097 is not in the range 1 to 4096", "");
    refuse("--hidden 9223372036854775808", "option '--hidden': 9223372036854775808 is too large", "");
    refuse("--hidden 12x", "option '--hidden': '12x' is not a whole number", "");
    refuse("--hidden=", "option '--hidden': '' is not a whole number", "");
    refuse("--hidden 1.5", "option '--hidden': '1.5' is not a whole number", "");
    refuse("--hidden=-", "option '--hidden': '-' is not a whole number", "");
    refuse("--hidden=0x10", "option '--hidden': '0x10' is not a whole number", "");
    refuse("--seed 9223372036854775808", "option '--seed': 9223372036854775808 is too large", "");
    refuse("-d 0.95", "option '-d': 0.95 is not in the range 0 to 0.9", "");
    refuse("-d -0.1", "option '-d': -0.1 is not in the range 0 to 0.9", "");
    refuse("-d nan", "option '-d': 'nan' is not a number", "");
    refuse("-d inf", "option '-d': 'inf' is not a number", "");
    refuse("-d 0x1p-3", "option '-d': '0x1p-3' is not a number", "");
    refuse("-d 1e999", "option '-d': 1e999 is too large", "");
    refuse("-d 1e-400", "option '-d': 1e-400 is too close to 0", "");
    refuse("-d -0", "option '-d': '-0' is not a number: 0 has no sign", "");
    refuse("-d=", "option '-d': '' is not a number", "");
    refuse("--seed -9223372036854775809", "option '--seed': -9223372036854775809 is too large", "");
    refuse("--seed -0", "option '--seed': '-0' is not a whole number", "");
    refuse("--seed +", "option '--seed': '+' is not a whole number", "");
    refuse("--seed -", "option '--seed': '-' is not a whole number", "");
    refuse("-d +", "option '-d': '+' is not a number", "");
    refuse("-d 0.1.2", "option '-d': '0.1.2' is not a number", "");
    refuse("--cell lstn", "option '--cell': 'lstn' is not gru, lstm or rnn", "did you mean 'lstm'?");
    refuse("--cell transformer", "option '--cell': 'transformer' is not gru, lstm or rnn", "");
    refuse("--tied=maybe", "option '--tied': 'maybe' is not true or false", "");
    refuse("--no-tied=true", "option '--no-tied' takes no value", "");
    refuse("--n-best=0", "option '--n-best': 0 is not in the range 1 to 100", "");
    refuse("--hidden", "option '--hidden' needs a value", "");
    refuse("-b", "option '-b' needs a value", "");
    refuse("-n --quiet", "option '-n' needs a value", "");
    refuse("--set", "option '--set' needs a value", "");
    refuse("--config", "option '--config' needs a value", "");
    refuse("--name --quiet", "option '--name' needs a value", "write --name=--quiet if that is the value");
}

static void unknown_names_get_a_hint(void **state) {
    (void)state;
    refuse("--beam-szie 5", "unknown option '--beam-szie'", "did you mean '--beam-size'?");
    refuse("--hiden=5", "unknown option '--hiden'", "did you mean '--hidden'?");
    refuse("--no-tie", "unknown option '--no-tie'", "did you mean '--tied'?");
    refuse("--no-hidden", "unknown option '--no-hidden'", "did you mean '--hidden'?");
    refuse("--model.layers 3", "unknown option '--model.layers'", "did you mean '--layers'?");
    refuse("--beam_size 3", "unknown option '--beam_size'", "did you mean '--beam-size'?");
    refuse("--quiet-translation", "unknown option '--quiet-translation'", "did you mean '--quiet'?");
    refuse("--cpu-threads 3", "unknown option '--cpu-threads'",
           "--help lists the options"); /* nor --threads */
    refuse("--help=some", "--help takes no value but 'all'", "--help all lists every option");
    refuse("--hepl", "unknown option '--hepl'", "did you mean '--help'?");
    refuse("--quantise", "unknown option '--quantise'", "--help lists the options");
    refuse("-x", "unknown option '-x'", "");
    refuse("-qx", "unknown option '-x'", "");
    refuse("--set model.hiden=1", "unknown key 'model.hiden'", "did you mean 'model.hidden'?");
    refuse("--set hidden=1", "unknown key 'hidden'", "did you mean 'model.hidden'?");
    refuse("--set decode.hidden=1", "unknown key 'decode.hidden'", "did you mean 'model.hidden'?");
    refuse("--set layer=1", "unknown key 'layer'", "did you mean 'model.layers'?");
    refuse("--set zebra.crossing=1", "unknown key 'zebra.crossing'", "");
    refuse("--set modle=1", "unknown key 'modle'", "did you mean the section 'model'?");
    refuse("--set modle.crossing=1", "unknown key 'modle.crossing'", "did you mean the section 'model'?");
    refuse("--set model.crossing=1", "unknown key 'model.crossing'", "");
    refuse("--set model.hidden", "--set: no '=' in 'model.hidden'", "write --set section.key=value");
    refuse("--set model.hidden=x", "key 'model.hidden': 'x' is not a whole number", "");
}

static void set_and_config_belong_to_some_commands(void **state) {
    (void)state;
    Fixture *f = fresh();
    char *argv[] = {(char *)"prog", (char *)"--set", (char *)"model.hidden=5"};
    assert_int_equal(options_parse(f->tables, 3, argv, &f->positional, &f->help, NULL), STATUS_USAGE);
    assert_string_equal(status_message(), "unknown option '--set'");
    release(f);
}

static char config_path[] = "/tmp/attn-mt-config-XXXXXX";

static void write_config(const char *text) {
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_config(void **state) {
    (void)state;
    int fd = mkstemp(config_path);
    return fd < 0 || close(fd) != 0 ? -1 : 0;
}

static int remove_config(void **state) {
    (void)state;
    return unlink(config_path);
}

static void configurations_are_read_in_order(void **state) {
    (void)state;
    write_config(
        "// a recipe\n{ \"model\": { \"hidden\": 300, /* not 256 */ \"cell\": \"rnn\", \"tied\": false,\n"
        "\"dropout\": 0.1, \"name\": \"\xC3\xA9t\xC3\xA9\"},\n"
        "\"train\": {\"files\": [\"x,1\", \"y\"], \"seed\": \"9007199254740993\", \"path\": null},\n"
        "\"decode\": {\"beam_size\": 12, \"n_best\": 4} }\n");
    Fixture *f = fresh();
    char line[200];
    snprintf(line, sizeof line, "--hidden 100 --beam-size 1 --config %s --set decode.beam_size=2",
             config_path);
    accept(f, line);
    assert_int_equal(f->model.hidden, 300);
    assert_int_equal(f->model.cell, 2);
    assert_false(f->model.tied);
    assert_true(f->model.dropout == 0.1);
    assert_string_equal(f->model.name, "\xC3\xA9t\xC3\xA9");
    assert_null(f->model.path);
    assert_true(f->model.seed == 9007199254740993LL);
    assert_list(&f->model.files, ITEMS("x,1", "y"));
    assert_int_equal(f->decode.beam, 2);
    assert_int_equal(f->decode.nbest, 4);
    snprintf(line, sizeof line, "-c %s --hidden 77 --files z", config_path);
    accept(f, line);
    assert_int_equal(f->model.hidden, 77);
    assert_list(&f->model.files, ITEMS("z"));
    snprintf(line, sizeof line, "-c%s", config_path);
    accept(f, line);
    assert_int_equal(f->model.hidden, 300);
    release(f);
}

static void refuse_config(const char *text, const char *message, const char *hint) {
    write_config(text);
    Fixture *f = fresh();
    Status status = options_read_file(f->tables, config_path, NULL);
    if (status != STATUS_USAGE) fail_msg("accepted: %s", text);
    char expected[500];
    snprintf(expected, sizeof expected, "config '%s'%s", config_path, message);
    assert_string_equal(status_message(), expected);
    assert_string_equal(status_hint_text(), hint);
    release(f);
}

static void wrong_configurations_are_located(void **state) {
    (void)state;
    refuse_config("{\n \"model\": {\n  \"hiden\": 3}}", " line 3: unknown key 'model.hiden'",
                  "did you mean 'model.hidden'?");
    refuse_config("{\"modle\": {\n  \"hidden\": 3}}", " line 2: unknown key 'modle.hidden'",
                  "did you mean 'model.hidden'?");
    refuse_config("{\n\"hidden\": 3}", " line 2: unknown key 'hidden'", "did you mean 'model.hidden'?");
    refuse_config("{\"model\": {\"hidden\": 0.1}}",
                  " line 1: key 'model.hidden': 0.1 is not a whole number below 2^53", "");
    refuse_config("{\"model\": {\"hidden\": 0}}",
                  " line 1: key 'model.hidden': 0 is not in the range 1 to 4096", "");
    refuse_config("{\"model\": {\"hidden\": \"3\"}}",
                  " line 1: key 'model.hidden': expected a whole number, found a string", "");
    refuse_config("{\"model\": {\"hidden\": [3]}}",
                  " line 1: key 'model.hidden': expected a whole number, found a list", "");
    refuse_config("{\"model\": {\"tied\": 1}}",
                  " line 1: key 'model.tied': expected true or false, found a number", "");
    refuse_config("{\"model\": {\"dropout\": \"0.1\"}}",
                  " line 1: key 'model.dropout': expected a number, found a string", "");
    refuse_config("{\"model\": {\"dropout\": 1}}",
                  " line 1: key 'model.dropout': 1 is not in the range 0 to 0.9", "");
    refuse_config("{\"model\": {\"cell\": \"gruu\"}}",
                  " line 1: key 'model.cell': 'gruu' is not gru, lstm or rnn", "did you mean 'gru'?");
    refuse_config("{\"model\": {\"cell\": 1}}",
                  " line 1: key 'model.cell': expected a string, found a number", "");
    refuse_config("{\"model\": {\"hidden\": -0}}", " line 1: key 'model.hidden': '-0' is not a whole number",
                  "");
    refuse_config("{\"model\": {\"hidden\": 1e16}}",
                  " line 1: key 'model.hidden': 1e+16 is not a whole number below 2^53", "");
    refuse_config("{\"model\": {\"dropout\": -0.0}}",
                  " line 1: key 'model.dropout': '-0' is not a number: 0 has no sign", "");
    refuse_config("{\"train\": {\"files\": 1}}",
                  " line 1: key 'train.files': expected a list of strings, found a number", "");
    refuse_config("{\"train\": {\"seed\": 1.5}}",
                  " line 1: key 'train.seed': 1.5 is not a whole number below 2^53", "");
    refuse_config("{\"model\": {\"name\": true}}",
                  " line 1: key 'model.name': expected a string, found true or false", "");
    refuse_config("{\"train\": {\"files\": [1]}}",
                  " line 1: key 'train.files': expected a list of strings, found a number", "");
    refuse_config("{\"train\": {\"seed\": 9007199254740994}}",
                  " line 1: key 'train.seed': 9007199254740994 is not a whole number below 2^53",
                  "write it as a string");
    refuse_config("{\"train\": {\"seed\": \"12z\"}}",
                  " line 1: key 'train.seed': '12z' is not a whole number", "");
    refuse_config("{\"model\": {\"hidden\": 3, \"hidden\": 4}}", ": line 1: key 'hidden' occurs twice", "");
    refuse_config("{\"train\": [1]}", " line 1: section 'train' must be an object",
                  "write \"train\": {\"NAME\": VALUE, ...}");
    refuse_config("{\n\"model\": 5}", " line 2: section 'model' must be an object",
                  "write \"model\": {\"NAME\": VALUE, ...}");
    refuse_config("{\"mode\": 5}", " line 1: unknown key 'mode'", "did you mean 'model.hidden'?");
    refuse_config("{\n\"modle\": {}}", " line 2: unknown key 'modle'", "did you mean the section 'model'?");
    refuse_config("{\"model\": {\n\"hidden\": {}}}",
                  " line 2: key 'model.hidden': expected a whole number, found an object", "");
    refuse_config("[]", ": a configuration must be an object of sections", "");
    refuse_config("{\"model\": {\"hidden\": 3},}", ": line 1 column 24: a comma before '}': remove it", "");
    refuse_config("", ": the text is empty", "");
    Fixture *f = fresh();
    assert_int_equal(options_read_file(f->tables, "/nowhere/x.json", NULL), STATUS_RUNTIME);
    assert_string_equal(status_message(), "cannot open '/nowhere/x.json': No such file or directory");
    release(f);
}

static void a_failed_list_leaves_the_old_one(void **state) {
    (void)state;
    Fixture *f = fresh();
    assert_int_equal(options_set(f->tables, SV("train.files"), SV("c,,d")), STATUS_USAGE);
    assert_list(&f->model.files, ITEMS("a.tsv", "b.tsv"));
    release(f);
}

static void dumps_read_back(void **state) {
    (void)state;
    Fixture *f = fresh(), *g = fresh();
    accept(f, "--hidden 99 --cell rnn --no-tied -d 0.30000000000000004 --seed 9007199254740995 --files "
              "q\"\\,\xC3\xA9 --n-best --set train.path=a\\b");
    StrBuf text = {0};
    options_write_json(f->tables, false, &text);
    write_config(strbuf_text(&text));
    assert_int_equal(options_read_file(g->tables, config_path, NULL), STATUS_OK);
    assert_int_equal(g->model.hidden, 99);
    assert_int_equal(g->model.layers, 2);
    assert_int_equal(g->model.cell, 2);
    assert_false(g->model.tied);
    assert_true(g->model.dropout == 0.30000000000000004);
    assert_true(g->model.seed == 9007199254740995LL);
    assert_null(g->model.name);
    assert_string_equal(g->model.path, "a\\b");
    assert_list(&g->model.files, ITEMS("q\",\xC3\xA9"));
    assert_int_equal(g->decode.nbest, 5);
    StrBuf again = {0};
    options_write_json(g->tables, false, &again);
    assert_string_equal(strbuf_text(&again), strbuf_text(&text));
    strbuf_free(&text);
    strbuf_free(&again);
    release(f);
    release(g);
}

static void dumps_have_the_expected_shape(void **state) {
    (void)state;
    Fixture *f = fresh();
    StrBuf text = {0};
    options_write_json(f->tables, false, &text);
    assert_string_equal(strbuf_text(&text),
                        "{\n"
                        "  \"model\": {\n    \"hidden\": 256,\n    \"layers\": 2,\n    \"cell\": \"gru\",\n  "
                        "  \"tied\": true,\n"
                        "    \"dropout\": 0.2,\n    \"name\": null\n  },\n"
                        "  \"train\": {\n    \"seed\": 1,\n    \"path\": \"run\",\n    \"files\": "
                        "[\"a.tsv\", \"b.tsv\"]\n  },\n"
                        "  \"decode\": {\n    \"beam_size\": 5,\n    \"n_best\": 0\n  }\n}\n");
    strbuf_clear(&text);
    options_write_json(f->tables, true, &text);
    assert_string_equal(strbuf_text(&text), "{\n}\n");
    accept(f, "--beam-size 6 --tied --files a.tsv --files c");
    strbuf_clear(&text);
    options_write_json(f->tables, true, &text);
    assert_string_equal(strbuf_text(&text), "{\n  \"train\": {\n    \"files\": [\"a.tsv\", \"c\"]\n  },\n"
                                            "  \"decode\": {\n    \"beam_size\": 6\n  }\n}\n");
    strbuf_free(&text);
    release(f);
}

static void help_shows_every_row(void **state) {
    (void)state;
    Fixture *f = fresh();
    StrBuf text = {0};
    options_write_help(f->tables, 72, HELP_ALL, &text);
    static const char *const PARTS[] = {
        "Model:\n      --hidden N              size of the hidden state (model.hidden;\n",
        "      --layers N              layers (model.layers; default: 2)\n",
        "      --cell gru|lstm|rnn     kind of cell (model.cell; default: gru)\n",
        "      --[no-]tied             tie embeddings (model.tied; default: on)\n",
        "  -d, --dropout X             rate (model.dropout; default: 0.2)\n",
        "\nTraining:\n      --seed N                random seed (train.seed; default: 1)\n",
        "  -n, --name TEXT             name (model.name)\n",
        "  -f, --files FILE            files (train.files; may be repeated;\n                              "
        "default: a.tsv,b.tsv)\n",
        "  -q, --quiet                 say nothing\n",
        "\nDecoding:\n  -b, --beam-size N           hypotheses kept per sentence; 1 = greedy\n               "
        "               (decode.beam_size; default: 5)\n",
        "      --n-best[=N]            best translations (decode.n_best; default:\n",
        "      --alignment[=none|hard|soft]\n                              alignments (default: none)\n",
    };
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (!strstr(strbuf_text(&text), PARTS[i]))
            fail_msg("not in the help: %s\n%s", PARTS[i], strbuf_text(&text));
    StrView rest = strbuf_view(&text), line;
    while (sv_next(&rest, '\n', &line)) assert_true(line.length <= 72);
    strbuf_free(&text);
    release(f);
}

/* The short help has the common rows; a table with none, or only common rows, has no short help. */
static void short_help(void **state) {
    (void)state;
    static const Option ROWS[] = {{.key = "a.x",
                                   .type = OPT_INT,
                                   .default_text = "3",
                                   .common = true,
                                   .help = "first &nbsp;; rest",
                                   .group = "Group"},
                                  {.key = "a.y", .type = OPT_INT, .help = "second"},
                                  {0}};
    const OptionTable both[] = {{ROWS, NULL}, {0}}, rest[] = {{ROWS + 1, NULL}, {0}};
    StrBuf text = {0};
    assert_true(options_have_short_help(both) && !options_have_short_help(rest));
    options_write_help(both, 80, HELP_SHORT, &text);
    assert_string_equal(strbuf_text(&text), "      --x N                   first &nbsp; (default: 3)\n");
    strbuf_free(&text);
    Fixture *f = fresh();
    static const struct {
        const char *line;
        HelpKind kind;
        size_t words;
    } CASES[] = {{"all", HELP_NONE, 1},       {"--help", HELP_SHORT, 0}, {"--help all", HELP_ALL, 0},
                 {"--help=all", HELP_ALL, 0}, {"-h all", HELP_ALL, 0},   {"--help word", HELP_SHORT, 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        accept(f, CASES[i].line);
        if (f->help != CASES[i].kind || f->positional.count != CASES[i].words) fail_msg("%s", CASES[i].line);
    }
    release(f);
}

/* The last part of the key; the last two where keys end alike. */
static void flags_follow_from_keys(void **state) {
    (void)state;
    static const Option ROWS[] = {{.key = "model.encoder.layers", .type = OPT_INT},
                                  {.key = "model.decoder.layers", .type = OPT_INT},
                                  {.key = "model.input_feeding", .type = OPT_BOOL},
                                  {.key = "most", .type = OPT_INT},
                                  {.flag = "n-best", .type = OPT_INT},
                                  {0}};
    static const char *const FLAGS[] = {"encoder-layers", "decoder-layers", "input-feeding", "most",
                                        "n-best"};
    const OptionTable tables[] = {{ROWS, NULL}, {0}};
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        assert_string_equal(option_flag(tables, &ROWS[i]).text, FLAGS[i]);
}

static void help_uses_the_width_to_the_last_column(void **state) {
    (void)state;
    static const Option ROWS[] = {
        {.flag = "x", .type = OPT_BOOL, .help = "123456789 123456789 123456789 1234567890 a"},
        {.flag = "y", .type = OPT_BOOL, .help = "123456789 123456789 ééé456789 1234567890 1234567890"},
        {0}};
    const OptionTable tables[] = {{ROWS, NULL}, {0}};
    StrBuf text = {0};
    options_write_help(tables, 70, HELP_ALL, &text);
    assert_string_equal(strbuf_text(&text),
                        "      --x                     123456789 123456789 123456789 1234567890\n"
                        "                              a\n"
                        "      --y                     123456789 123456789 ééé456789 1234567890\n"
                        "                              1234567890\n");
    strbuf_clear(&text);
    options_write_help(tables, 60, HELP_ALL, &text); /* too narrow for two columns */
    assert_string_equal(strbuf_text(&text), "      --x\n"
                                            "        123456789 123456789 123456789 1234567890 a\n"
                                            "      --y\n"
                                            "        123456789 123456789 ééé456789 1234567890 1234567890\n");
    strbuf_free(&text);
}

/* Text of 80 columns in fewer: lines that were full are joined with their rest, tables and indents stay. */
static void text_is_wrapped(void **state) {
    (void)state;
    static const char TEXT[] =
        "Usage: attn-mt test [OPTION...] A-LONG-ARGUMENT ANOTHER-LONG-ARGUMENT [> OUTPUT]\n"
        "       attn-mt test FILE\n"
        "\n"
        "123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789\n"
        "abc def.\n"
        "A new line.\n"
        "  name   123456789 123456789 123456789 123456789 123456789 123456789 1234567890\n"
        "         abc\n";
    StrBuf text = {0};
    options_add_text(sv(TEXT), 80, &text);
    assert_string_equal(strbuf_text(&text), TEXT);
    strbuf_clear(&text);
    options_add_text(sv(TEXT), 60, &text);
    assert_string_equal(strbuf_text(&text), "Usage: attn-mt test [OPTION...] A-LONG-ARGUMENT\n"
                                            "       ANOTHER-LONG-ARGUMENT [> OUTPUT]\n"
                                            "       attn-mt test FILE\n"
                                            "\n"
                                            "123456789 123456789 123456789 123456789 123456789 123456789\n"
                                            "123456789 123456789 abc def.\n"
                                            "A new line.\n"
                                            "  name   123456789 123456789 123456789 123456789 123456789\n"
                                            "         123456789 1234567890 abc\n");
    strbuf_free(&text);
}

/* Keys without a section, choices with a name for their value, numbers beyond 2^53. */
static void unusual_rows_work_too(void **state) {
    (void)state;
    struct {
        int mode, level, depth, most;
        long long big;
        StrList kinds;
    } values;
    const Option rows[] = {
        {.key = "s.inner.depth",
         .type = OPT_INT,
         .offset = (size_t)((char *)&values.depth - (char *)&values)},
        {.key = "s.level", .type = OPT_INT, .offset = (size_t)((char *)&values.level - (char *)&values)},
        {.key = "mode",
         .type = OPT_CHOICE,
         .offset = (size_t)((char *)&values.mode - (char *)&values),
         .default_text = "a",
         .choices = "a|b",
         .arg = "MODE",
         .help = "how"},
        {.key = "big",
         .type = OPT_LONG,
         .offset = (size_t)((char *)&values.big - (char *)&values),
         .default_text = "-9223372036854775808"},
        {.key = "s.kinds",
         .type = OPT_LIST,
         .offset = (size_t)((char *)&values.kinds - (char *)&values),
         .default_text = "",
         .choices = "a|b"},
        {.key = "size.most", /* of another section, whose name begins like the first */
         .type = OPT_INT,
         .offset = (size_t)((char *)&values.most - (char *)&values),
         .default_text = "7"},
        {0}};
    const OptionTable tables[] = {{rows, &values}, {0}};
    options_defaults(tables);
    StrBuf text = {0};
    options_write_json(tables, false, &text);
    assert_string_equal(
        strbuf_text(&text),
        "{\n  \"s\": {\n    \"inner\": {\n      \"depth\": 0\n    },\n"
        "    \"level\": 0,\n    \"kinds\": []\n  },\n"
        "  \"mode\": \"a\",\n  \"big\": \"-9223372036854775808\",\n  \"size\": {\n    \"most\": 7\n  }\n}\n");
    write_config(
        "{\"mode\": \"b\", \"big\": -9007199254740992, \"s\": {\"level\": -3, \"inner\": {\"depth\": 7}}}");
    assert_int_equal(options_read_file(tables, config_path, NULL), STATUS_OK);
    assert_int_equal(values.depth, 7);
    assert_int_equal(values.mode, 1);
    assert_true(values.big == -9007199254740992LL);
    assert_int_equal(values.level, -3);
    strbuf_clear(&text);
    values.mode = 0, values.big = INT64_MIN, values.level = 0;
    options_write_json(tables, true, &text);
    assert_string_equal(strbuf_text(&text),
                        "{\n  \"s\": {\n    \"inner\": {\n      \"depth\": 7\n    }\n  }\n}\n");
    strbuf_clear(&text);
    write_config("{\n\"s\": {\n\"inner\": {\n\"dept\": 1}}}");
    assert_int_equal(options_read_file(tables, config_path, NULL), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "line 4"));
    assert_non_null(strstr(status_message(), "unknown key 's.inner.dept'"));
    options_write_help(tables, 80, HELP_ALL, &text);
    assert_non_null(
        strstr(strbuf_text(&text), "      --mode MODE             how (mode: a, b; default: a)\n"));
    assert_null(strstr(strbuf_text(&text), "(default: )"));
    write_config("{\"s\": {\"level\": 2147483648}}");
    assert_int_equal(options_read_file(tables, config_path, NULL), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "key 's.level': 2147483648 is too large"));
    assert_int_equal(options_set(tables, SV("s.level"), SV("2147483648")), STATUS_USAGE);
    assert_int_equal(options_set(tables, SV("s.level"), SV("-2147483649")), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "-2147483649 is too large"));
    write_config("{\"s\": {\"kinds\": [\"b\", \"a\"]}}");
    assert_int_equal(options_read_file(tables, config_path, NULL), STATUS_OK);
    assert_list(&values.kinds, ITEMS("b", "a"));
    static const char *const WRONG[] = {"[\"a\", \"c\"]", "\"c\""};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        strbuf_clear(&text);
        strbuf_format(&text, "{\"s\": {\"kinds\": %s}}", WRONG[i]);
        write_config(strbuf_text(&text));
        assert_int_equal(options_read_file(tables, config_path, NULL), STATUS_USAGE);
        assert_non_null(strstr(status_message(), "key 's.kinds': 'c' is not a or b"));
        assert_list(&values.kinds, ITEMS("b", "a"));
    }
    options_free(tables);
    strbuf_free(&text);
}

/* Values that the user gave stay; the others come from another struct, not from the defaults. */
static void others_are_laid_under(void **state) {
    (void)state;
    Fixture *f = fresh();
    char *argv[] = {(char *)"prog", (char *)"--beam-size", (char *)"5", (char *)"--n-best", (char *)"word"};
    DecodeOptions other = {.beam = 12, .nbest = 7, .alignment = 2};
    UserOptions given = {0};
    assert_int_equal(options_parse(f->tables, 5, argv, &f->positional, &f->help, &given), STATUS_OK);
    options_apply_defaults(&f->tables[1], &given, &other);
    assert_int_equal(given.count, 2);
    assert_int_equal(f->decode.beam, 5);
    assert_int_equal(f->decode.nbest, 5);
    assert_int_equal(f->decode.alignment, 2);
    assert_int_equal(f->positional.count, 1);
    mem_free(given.rows);
    release(f);
}

/* option_is_given is true for options from flags, --set and files, and false for others. */
static void what_was_given_is_known(void **state) {
    (void)state;
    Fixture *f = fresh();
    char *argv[] = {(char *)"prog",           (char *)"--beam-size", (char *)"5",         (char *)"--set",
                    (char *)"model.hidden=7", (char *)"--config",    (char *)config_path, (char *)"-q"};
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    fputs("{\"model\": {\"dropout\": 0.5}}", file);
    fclose(file);
    UserOptions given = {0};
    if (options_parse_config(f->tables, 8, argv, &f->positional, &f->help, &given) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_int_equal(given.count, 4);
    assert_true(option_is_given(&given, "decode.beam_size") && option_is_given(&given, "model.hidden"));
    assert_true(option_is_given(&given, "model.dropout") && !option_is_given(&given, "model.cell"));
    assert_true(option_is_given(&given, "quiet") && !option_is_given(&given, "verbose")); /* flags */
    mem_free(given.rows);
    release(f);
}

/* An option without effect is refused, in each way to write it. */
static void others_are_needed(void **state) {
    (void)state;
    static const Option ROWS[] = {
        {.flag = "beam", .letter = 'b', .type = OPT_INT, OPT_FIELD(DecodeOptions, beam), .arg = "N"},
        {.flag = "best", .type = OPT_INT, OPT_FIELD(DecodeOptions, nbest), .implied_value = "1", .arg = "N"},
        {.flag = "scale",
         .alias = "by",
         .letter = 's',
         .type = OPT_INT,
         OPT_FIELD(DecodeOptions, alignment),
         .needs = "beam|best"},
        {0}};
    static const struct {
        const char *line;
        bool fine;
    } CASES[] = {{"", true},           {"-s 2", false},  {"--by 2", false}, {"--scale 2 -b 3", true},
                 {"--best -s2", true}, {"-s 2 -h", true}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        DecodeOptions options = {0};
        const OptionTable tables[] = {{ROWS, &options}, {0}};
        char line[64], *argv[8] = {(char *)"prog"};
        StrList positional;
        HelpKind help;
        int argc = 1;
        snprintf(line, sizeof line, "%s", CASES[i].line);
        for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        Status status = options_parse(tables, argc, argv, &positional, &help, NULL);
        assert_int_equal(status, CASES[i].fine ? STATUS_OK : STATUS_USAGE);
        mem_free(positional.items);
        if (CASES[i].fine) continue;
        assert_string_equal(status_message(), "option '--scale' does nothing without '--beam'");
        assert_string_equal(status_hint_text(), "add --beam N, or leave --scale out");
    }
}

static void choices_have_names(void **state) {
    (void)state;
    const char *choices = MODEL_ROWS[2].choices;
    assert_true(sv_equal(option_choice_name(choices, 0), SV("gru")));
    assert_true(sv_equal(option_choice_name(choices, 2), SV("rnn")));
    assert_true(sv_equal(option_choice_name(choices, 3), SV("?")));
    assert_true(sv_equal(option_choice_name(choices, -1), SV("?")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_table),
        cmocka_unit_test(parses_every_form),
        cmocka_unit_test(optional_values_are_taken_when_they_fit),
        cmocka_unit_test(lists_collect),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(unknown_names_get_a_hint),
        cmocka_unit_test(set_and_config_belong_to_some_commands),
        cmocka_unit_test(configurations_are_read_in_order),
        cmocka_unit_test(wrong_configurations_are_located),
        cmocka_unit_test(a_failed_list_leaves_the_old_one),
        cmocka_unit_test(dumps_read_back),
        cmocka_unit_test(dumps_have_the_expected_shape),
        cmocka_unit_test(help_shows_every_row),
        cmocka_unit_test(short_help),
        cmocka_unit_test(flags_follow_from_keys),
        cmocka_unit_test(help_uses_the_width_to_the_last_column),
        cmocka_unit_test(text_is_wrapped),
        cmocka_unit_test(unusual_rows_work_too),
        cmocka_unit_test(others_are_laid_under),
        cmocka_unit_test(what_was_given_is_known),
        cmocka_unit_test(others_are_needed),
        cmocka_unit_test(choices_have_names),
    };
    return cmocka_run_group_tests(tests, make_config, remove_config);
}
