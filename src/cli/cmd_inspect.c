/* cmd_inspect.c - attn-mt inspect: describes a model file, or files of sentence pairs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/inspect_data.h"
#include "io/json_write.h"
#include "models/modelfile.h"
#include "models/registry.h"
#include "models/weights_read.h"
#include "tokenizer/reserved_tokens.h"

typedef struct {
    bool json, vocab;
    char *codes, *tensor, *valid, *languages, *columns, *clean, *dropped;
    StrList drop, split_off;
} InspectOptions;

#define FIELD(member) OPT_FIELD(InspectOptions, member)

/* clang-format off */
static const Option INSPECT_OPTIONS[] = {
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print one JSON object", .group = "Models and data"},
    {.flag = "vocab", .type = OPT_BOOL, FIELD(vocab), .default_text = "false", .group = "Models",
     .help = "print the vocabularies instead; one line per id: id, source token, target token"},
    {.flag = "tensor", .type = OPT_STRING, FIELD(tensor), .arg = "NAME",
     .help = "print the numbers of one tensor instead; one row per line, with tabs between the numbers"},
    {.flag = "codes", .type = OPT_STRING, FIELD(codes), .arg = "FILE",
     .help = "write the byte-pair merges to FILE, one per line, for text.bpe_codes; separate vocabularies "
             "go to FILE.source and FILE.target; subword-nmt can apply the merges of models with "
             "text.bpe_marker=suffix; those of other models have U+2581 before words"},
    {.flag = "valid", .type = OPT_STRING, FIELD(valid), .arg = "FILE",
     .help = "also count the pairs that are in FILE, too, and those whose source is in FILE with another "
             "target", .group = "Data"},
    {.flag = "languages", .type = OPT_STRING, FIELD(languages), .arg = "SRC-TRG",
     .help = "languages in place of {}, or names of the columns to read, such as en-de"},
    {.flag = "columns", .type = OPT_STRING, FIELD(columns), .arg = "NAMES",
     .help = "names of the columns, in order and separated by commas, such as -,en,fr; - = not read; "
             "default: the names in the first line, or else the first two columns"},
    {.flag = "clean", .type = OPT_STRING, FIELD(clean), .arg = "FILE",
     .help = "also write the pairs to FILE, a table, without repeated pairs and those of --drop; .gz "
             "compresses it"},
    {.flag = "drop", .type = OPT_LIST, FIELD(drop), .needs = "clean",
     .arg = "NAMES",
     .choices = "none|repeated_pairs|other_translations|in_validation|source_in_validation|same_text|swapped|"
                "mojibake|lengths|placeholders|tags|accelerators|numbers|punctuation|blanks|entities|markup|"
                "soft_hyphens|addresses|tokenized",
     .help = "other findings for which --clean drops a pair; none = keep repeated pairs, too"},
    {.flag = "dropped", .type = OPT_STRING, FIELD(dropped), .arg = "FILE", .needs = "clean",
     .help = "write the dropped pairs to FILE, with reason and line; default: clean.dropped.tsv for --clean "
             "clean.tsv"},
    {.flag = "split-off", .type = OPT_LIST, FIELD(split_off), .arg = "FILE=N", .needs = "clean",
     .help = "write about N of the pairs to this FILE instead, as in valid.tsv=1000,test.tsv=1000; all pairs "
             "of one source go to the same file"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt inspect [OPTION...] MODEL\n"
    "       attn-mt inspect [OPTION...] PAIRS...\n"
    "\n"
    "Shows the configuration, vocabularies, parameters, scores and provenance of a\n"
    "model file. Or describes sentence pairs, of one file or of several together\n"
    "(tables with TABs, CSV, TMX, XLIFF, PO, JSON lines, patterns such as train.{}):\n"
    "their number, lengths and scripts, repeated pairs, and pairs that look wrong,\n"
    "with the first lines of each kind; with --json all lines. --clean writes the\n"
    "pairs without them.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt inspect best.safetensors\n"
                               "  attn-mt inspect --vocab best.safetensors | head\n"
                               "  attn-mt inspect --tensor decoder.attention.v best.safetensors\n"
                               "  attn-mt inspect --codes bpe.codes best.safetensors\n"
                               "  attn-mt inspect mine.tsv memory.tmx app.po --valid mine-dev.tsv\n"
                               "  attn-mt inspect mine.tsv --clean train.tsv --drop placeholders,numbers "
                               "--split-off valid.tsv=500\n";

/* ---- vocabularies ---- */

static void add_token(const Vocab *vocab, int id, StrBuf *out) {
    if (id >= vocab_size(vocab)) return;
    StrView token = vocab_token(vocab, id);
    strbuf_add(out, token);
}

/* The tokens in the order of their ids. */
static void add_tokens_json(const char *name, const Vocab *vocab, StrBuf *out) {
    json_put_array(out, name);
    for (int id = 0; id < vocab_size(vocab); id++) json_write_string(out, vocab_token(vocab, id));
    json_close_array(out);
}

/* One line per id: ID TAB SOURCE TAB TARGET. */
static void add_tokens(const Vocab *source, const Vocab *target, StrBuf *out) {
    int n = vocab_size(source) > vocab_size(target) ? vocab_size(source) : vocab_size(target);
    for (int id = 0; id < n; id++) {
        strbuf_format(out, "%d\t", id);
        add_token(source, id, out);
        strbuf_add_char(out, '\t');
        add_token(target, id, out);
        strbuf_add_char(out, '\n');
    }
}

static Status print_vocab(const Seq2Seq *model, bool json) {
    const Vocab *source = tokenizer_vocab(seq2seq_source(model)),
                *target = tokenizer_vocab(seq2seq_target(model));
    StrBuf out = {0};
    if (json) {
        json_open_object(&out);
        add_tokens_json("source", source, &out);
        json_write_line(&out, 0);
        add_tokens_json("target", target, &out);
        strbuf_add(&out, SV("}\n"));
    } else {
        add_tokens(source, target, &out);
    }
    /* Other programs get the tokens unchanged. */
    Status status =
        isatty(STDOUT_FILENO) == 1 ? command_print_report(&out) : command_print(strbuf_view(&out));
    strbuf_free(&out);
    return status;
}

/* ---- tensors ---- */

static Status fail_tensor(const ParamSet *params, const char *name) {
    size_t count = (size_t)params->count;
    const char **names = mem_alloc(count, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = params->items[i]->name;
    const char *nearest = str_nearest(name, names, count);
    Status status = status_fail(STATUS_USAGE, "the model has no tensor '%s'", name);
    if (nearest)
        status_hint(status, "did you mean '%s'?", nearest);
    else
        status_hint(status, "attn-mt inspect MODEL lists them");
    mem_free(names);
    return status;
}

/* {"name": NAME, "rows": [[...], ...]} */
static void add_tensor_json(const Param *param, const real *data, StrBuf *out) {
    json_open_object(out);
    json_put_string(out, "name", sv(param->name));
    json_write_line(out, 0);
    json_put_array(out, "rows");
    for (int r = 0; r < param->rows; r++) {
        json_write_line(out, 2);
        json_open_array(out);
        for (int c = 0; c < param->columns; c++) json_write_digits(out, (double)*data++, 9);
        json_close_array(out);
    }
    json_close_array(out);
    strbuf_add(out, SV("}\n"));
}

/* One line per row, with tabs between the numbers. */
static void add_tensor(const Param *param, const real *data, StrBuf *out) {
    for (int r = 0; r < param->rows; r++)
        for (int c = 0; c < param->columns; c++)
            strbuf_format(out, "%.9g%c", (double)*data++, c + 1 < param->columns ? '\t' : '\n');
}

/* Prints enough digits to read the same floats back. */
static Status print_tensor(const Seq2Seq *model, const char *name, bool json) {
    const ParamSet *params = seq2seq_params(model);
    const Param *param = params_find(params, name);
    if (!param) return fail_tensor(params, name);
    const real *data = param_data(params, param);
    StrBuf out = {0};
    (json ? add_tensor_json : add_tensor)(param, data, &out);
    Status status = command_print(strbuf_view(&out));
    strbuf_free(&out);
    return status;
}

/* ---- byte-pair merges ---- */

static Status write_codes(const Tokenizer *tokenizer, const char *path) {
    StrBuf codes = {0};
    if (!tokenizer_write_codes(tokenizer, &codes))
        return status_fail(STATUS_USAGE, "this model has no byte-pair merges: its tokenizer is not 'bpe'");
    Status status = file_write_whole(path, strbuf_view(&codes));
    strbuf_free(&codes);
    return status;
}

static Status write_all_codes(const Seq2Seq *model, const char *file, const char *path) {
    Tokenizer *sides[2] = {seq2seq_source(model), seq2seq_target(model)};
    if (sides[0] == sides[1]) return write_codes(sides[0], path);
    if (strcmp(path, "-") == 0) {
        status_fail(STATUS_USAGE, "the merges of two vocabularies cannot both go to standard output");
        return status_hint(STATUS_USAGE, "--codes FILE writes FILE.source and FILE.target");
    }
    for (int side = 0; side < 2; side++) {
        StrBuf name = {0};
        strbuf_format(&name, "%s.%s", path, side ? "target" : "source");
        Status status = command_refuse_overwrite(strbuf_text(&name), file);
        if (status == STATUS_OK) status = write_codes(sides[side], strbuf_text(&name));
        strbuf_free(&name);
        TRY(status);
    }
    return STATUS_OK;
}

/* ---- the report ---- */

static size_t parameter_count(const ParamSet *params) {
    size_t total = 0;
    for (int i = 0; i < params->count; i++) total += param_size(params->items[i]);
    return total;
}

/* Size of the weights in the file. */
static double parameter_bytes(const ParamSet *params) {
    double total = 0;
    for (int i = 0; i < params->count; i++) total += (double)weights_bytes(params->items[i], params->format);
    return total;
}

static void write_tensors_json(const ParamSet *params, StrBuf *out) {
    json_write_line(out, 0);
    json_put_array(out, "tensors");
    for (int i = 0; i < params->count; i++) {
        json_write_line(out, 2);
        json_open_object(out);
        json_put_string(out, "name", sv(params->items[i]->name));
        json_put_array(out, "shape");
        json_write_integer(out, params->items[i]->rows);
        json_write_integer(out, params->items[i]->columns);
        json_close_array(out);
        json_close_object(out);
    }
    json_close_array(out);
}

static void write_json(const Seq2Seq *model, const char *path, StrView provenance, StrBuf *out) {
    const ParamSet *params = seq2seq_params(model);
    const Tokenizer *source = seq2seq_source(model), *target = seq2seq_target(model);
    json_open_object(out);
    json_put_string(out, "file", sv(path));
    json_write_line(out, 0);
    json_write_key(out, "config");
    config_write_json(seq2seq_config(model), out);
    strbuf_add_char(out, ',');
    json_write_line(out, 0);
    json_put_integer(out, "source_vocabulary", vocab_size(tokenizer_vocab(source)));
    json_put_integer(out, "target_vocabulary", vocab_size(tokenizer_vocab(target)));
    json_put_bool(out, "joint", seq2seq_shares_vocabulary(model));
    if (seq2seq_has_reserved(model)) json_put_integer(out, "reserved_tokens", RESERVED_TOKENS);
    json_write_line(out, 0);
    json_put_string(out, "precision", sv(modelfile_precision(model)));
    json_put_integer(out, "parameters", (long long)parameter_count(params));
    if (seq2seq_shortlist(model)) {
        json_write_line(out, 0);
        json_put_integer(out, "shortlist", (long long)shortlist_translations(seq2seq_shortlist(model)));
    }
    write_tensors_json(params, out);
    json_write_line(out, 0);
    json_write_key(out, "provenance");
    strbuf_add(out, provenance.length ? provenance : SV("{}"));
    strbuf_add(out, SV("}\n"));
}

/* Writes the members of an object as "  name      value" lines; strings without quotes. `config`: they are
 * options, whose keys begin with `prefix`, and only those that the model has are written; or NULL. */
static void write_members(const Json *object, int indent, const Config *config, const char *prefix,
                          StrBuf *out) {
    char key[256];
    for (const Json *member = json_first(object); member; member = json_after(member)) {
        snprintf(key, sizeof key, "%s%s%s", prefix, prefix[0] ? "." : "", json_key(member));
        if (config && !config_applies(config, key)) continue;
        strbuf_format(out, "%*s%-24s ", indent, "", json_key(member));
        switch (json_type(member)) {
        case JSON_OBJECT:
            strbuf_add_char(out, '\n');
            write_members(member, indent + 2, config, key, out);
            continue;
        case JSON_STRING:
            strbuf_add(out, sv(json_string(member)));
            break;
        case JSON_NUMBER:
            json_write_number(out, json_number(member));
            break;
        case JSON_BOOL:
            strbuf_add(out, json_bool(member) ? SV("true") : SV("false"));
            break;
        case JSON_ARRAY:
            strbuf_format(out, "(%zu values)", json_count(member));
            break;
        case JSON_NULL:
            strbuf_add_char(out, '-');
        }
        strbuf_add_char(out, '\n');
    }
}

static Status write_config(const Config *config, StrBuf *out) {
    StrBuf json = {0};
    Json *root;
    config_write_json(config, &json);
    Status status = json_parse(&root, strbuf_view(&json), false);
    if (status == STATUS_OK) {
        write_members(root, 2, config, "", out);
        json_free(root);
    }
    strbuf_free(&json);
    return status;
}

/* The tokens that say what language to write, if there are any. */
static void write_languages(const Tokenizer *source, StrBuf *out) {
    const IdList *languages = tokenizer_role(source, TOKENIZER_LANGUAGES);
    if (languages->count == 0) return;
    strbuf_format(out, "  %-24s", "target languages");
    for (size_t i = 0; i < languages->count; i++) {
        strbuf_add_char(out, ' ');
        tokenizer_label(source, languages->ids[i], out);
    }
    strbuf_add_char(out, '\n');
}

/* `provenance`: NULL if the file has none. */
static Status write_text(const Seq2Seq *model, const char *path, const Json *provenance, StrBuf *out) {
    const ParamSet *params = seq2seq_params(model);
    const Tokenizer *source = seq2seq_source(model), *target = seq2seq_target(model);
    char number[32], bytes[32];
    strbuf_format(out, "%s\n\nvocabularies\n", path);
    if (seq2seq_shares_vocabulary(model))
        strbuf_format(out, "  %-24s %s tokens\n", "joint",
                      str_count(vocab_size(tokenizer_vocab(source)), number));
    else {
        strbuf_format(out, "  %-24s %s tokens\n", "source",
                      str_count(vocab_size(tokenizer_vocab(source)), number));
        strbuf_format(out, "  %-24s %s tokens\n", "target",
                      str_count(vocab_size(tokenizer_vocab(target)), number));
    }
    write_languages(source, out);
    if (seq2seq_has_reserved(model))
        strbuf_format(out, "  %-24s %d tokens, in place of placeholders\n", "reserved", RESERVED_TOKENS);
    const Shortlist *shortlist = seq2seq_shortlist(model);
    if (shortlist)
        strbuf_format(out, "  %-24s %s likely translations of source tokens\n", "shortlist",
                      str_count((long long)shortlist_translations(shortlist), number));
    strbuf_add(out, SV("\nconfiguration\n"));
    TRY(write_config(seq2seq_config(model), out));
    strbuf_add(out, SV("\nprovenance\n"));
    if (provenance) write_members(provenance, 2, NULL, "", out);
    strbuf_add(out, SV("\nparameters\n"));
    for (int i = 0; i < params->count; i++) {
        const Param *param = params->items[i];
        char shape[32];
        snprintf(shape, sizeof shape, "%d x %d", param->rows, param->columns);
        strbuf_format(out, "  %-40s %14s %12s\n", param->name, shape,
                      str_count((long long)param->rows * param->columns, number));
    }
    strbuf_format(out, "  %-40s %14s %12s  (%s, %s)\n", "all", "",
                  str_count((long long)parameter_count(params), number), modelfile_precision(model),
                  str_bytes(parameter_bytes(params), bytes));
    return STATUS_OK;
}

/* Only this command needs the provenance to be valid JSON. */
static Status parse_provenance(const char *path, StrView text, Json **provenance) {
    *provenance = NULL;
    if (!text.length) return STATUS_OK;
    Status status = json_parse(provenance, text, false);
    if (status == STATUS_OK && json_type(*provenance) != JSON_OBJECT) {
        json_free(*provenance);
        status = status_fail(STATUS_DATA, "expected an object");
    }
    return status == STATUS_OK ? status : status_context(status, "'%s': metadata 'provenance'", path);
}

static Status report(const Seq2Seq *model, const char *path, StrView text, bool json) {
    Json *provenance;
    TRY(parse_provenance(path, text, &provenance));
    StrBuf out = {0};
    Status status = STATUS_OK;
    if (json)
        write_json(model, path, text, &out);
    else
        status = write_text(model, path, provenance, &out);
    if (status == STATUS_OK) status = command_print_report(&out);
    strbuf_free(&out);
    json_free(provenance);
    return status;
}

static Status inspect(const InspectOptions *options, const char *path) {
    Seq2Seq *model;
    StrBuf provenance = {0};
    TRY(command_refuse_overwrite(options->codes, path));
    Status status = modelfile_load_floats(&model, path, &provenance);
    if (status == STATUS_OK) {
        if (options->codes) status = write_all_codes(model, path, options->codes);
        if (status == STATUS_OK && options->tensor) {
            status = print_tensor(model, options->tensor, options->json);
        } else if (status == STATUS_OK && options->vocab) {
            status = print_vocab(model, options->json);
        } else if (status == STATUS_OK && (!options->codes || options->json)) {
            status = report(model, path, strbuf_view(&provenance), options->json);
        }
        seq2seq_free(model);
    }
    strbuf_free(&provenance);
    return status;
}

static Status inspect_pairs(const InspectOptions *options, const StrList *files) {
    if (!options->vocab && !options->codes && !options->tensor)
        return inspect_data(&(InspectData){.valid = options->valid,
                                           .languages = options->languages,
                                           .columns = options->columns,
                                           .clean = options->clean,
                                           .dropped = options->dropped,
                                           .drop = &options->drop,
                                           .split_off = &options->split_off,
                                           .json = options->json},
                            files);
    status_fail(STATUS_USAGE, "'%s' contains sentence pairs, but %s needs a model", files->items[0],
                options->vocab    ? "--vocab"
                : options->tensor ? "--tensor"
                                  : "--codes");
    return status_hint(STATUS_USAGE,
                       "models are the best.safetensors and last.safetensors of a run directory");
}

static Status inspect_model(const InspectOptions *options, const char *path) {
    if (options->vocab && options->tensor)
        return status_fail(STATUS_USAGE, "--vocab and --tensor cannot be combined");
    bool missing = file_size(path) < 0; /* opening the file reports the error */
    const char *about = options->valid       ? "--valid"
                        : options->languages ? "--languages"
                        : options->columns   ? "--columns"
                        : options->clean     ? "--clean"
                                             : NULL;
    if (missing || !about) return inspect(options, path);
    status_fail(STATUS_USAGE, "'%s' is not text, but %s is for sentence pairs", path, about);
    return status_hint(STATUS_USAGE, "attn-mt inspect mine.tsv --valid mine-dev.tsv");
}

static Status refuse_stream(const char *path) {
    if (strcmp(path, "-") != 0 && !file_is_stream(path)) return STATUS_OK;
    status_fail(STATUS_USAGE, "'%s' is a pipe or a device, but inspect reads files more than once", path);
    return status_hint(STATUS_USAGE, "write it to a file: ... > pairs.tsv; attn-mt inspect pairs.tsv");
}

static Status fail_several(const char *path) {
    if (file_size(path) < 0 && !file_is_stream(path))
        return status_fail(STATUS_RUNTIME, "cannot find '%s'", path);
    status_fail(STATUS_USAGE, "more than one file given, and '%s' does not contain sentence pairs", path);
    return status_hint(STATUS_USAGE, "attn-mt inspect MODEL, or attn-mt inspect PAIRS...");
}

static Status run(const StrList *files, const void *options) {
    if (files->count == 0) {
        status_fail(STATUS_USAGE, "no file given");
        return status_hint(STATUS_USAGE, "attn-mt inspect MODEL, or attn-mt inspect PAIRS...");
    }
    for (size_t i = 0; i < files->count; i++) TRY(refuse_stream(files->items[i]));
    size_t data = 0;
    while (data < files->count && inspect_is_data(files->items[data])) data++;
    if (data == files->count) return inspect_pairs(options, files);
    if (files->count > 1) return fail_several(files->items[data]);
    StrBuf path = {0};
    Status status = registry_path(files->items[0], &path);
    if (status == STATUS_OK) status = inspect_model(options, strbuf_text(&path));
    strbuf_free(&path);
    return status;
}

Status cmd_inspect(int argc, char **argv) {
    InspectOptions options = {0};
    OptionTable tables[] = {{INSPECT_OPTIONS, &options}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
