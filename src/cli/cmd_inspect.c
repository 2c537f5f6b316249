/* cmd_inspect.c - attn-mt inspect: what is in a model file. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "models/modelfile.h"

typedef struct {
    bool json, vocab;
    char *codes;
} InspectOptions;

#define FIELD(member) OPT_FIELD(InspectOptions, member)

/* clang-format off */
static const Option INSPECT_OPTIONS[] = {
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .fallback = "false",
     .help = "print one JSON object", .group = "Options"},
    {.flag = "vocab", .type = OPT_BOOL, FIELD(vocab), .fallback = "false",
     .help = "list the tokens with their numbers instead: id, source token, target token"},
    {.flag = "codes", .type = OPT_STRING, FIELD(codes), .arg = "FILE",
     .help = "write the byte-pair merges in subword-nmt's format; of separate ones FILE.source and "
             "FILE.target"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt inspect [OPTION...] MODEL\n"
    "\n"
    "Shows configuration, vocabularies, parameters, scores and provenance of a model file.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt inspect best.safetensors\n"
                               "  attn-mt inspect --vocab best.safetensors | head\n"
                               "  attn-mt inspect --codes bpe.codes best.safetensors\n";

/* What the file says of itself must not command a terminal. */
static Status print(StrBuf *out) {
    if (isatty(STDOUT_FILENO) == 1) log_disarm(out->data, out->length);
    return command_print(strbuf_view(out));
}

/* ---- vocabularies ---- */

static void add_token(const Vocab *vocab, int id, StrBuf *out) {
    if (id >= vocab_size(vocab)) return;
    StrView token = vocab_token(vocab, id);
    strbuf_add(out, token);
}

static Status print_vocab(const Seq2Seq *model) {
    const Vocab *source = segmenter_vocab(seq2seq_source(model)),
                *target = segmenter_vocab(seq2seq_target(model));
    int n = vocab_size(source) > vocab_size(target) ? vocab_size(source) : vocab_size(target);
    StrBuf out = {0};
    for (int id = 0; id < n; id++) {
        strbuf_format(&out, "%d\t", id);
        add_token(source, id, &out);
        strbuf_add_char(&out, '\t');
        add_token(target, id, &out);
        strbuf_add_char(&out, '\n');
    }
    Status status = print(&out);
    strbuf_free(&out);
    return status;
}

static Status write_codes(const Segmenter *segmenter, const char *path) {
    StrBuf codes = {0};
    if (!segmenter_write_codes(segmenter, &codes))
        return status_fail(STATUS_USAGE, "this model has no byte-pair merges: its tokenizer is 'word'");
    Status status = file_put(path, strbuf_view(&codes));
    strbuf_free(&codes);
    return status;
}

static Status write_all_codes(const Seq2Seq *model, const char *path) {
    Segmenter *sides[2] = {seq2seq_source(model), seq2seq_target(model)};
    if (sides[0] == sides[1]) return write_codes(sides[0], path);
    for (int side = 0; side < 2; side++) {
        StrBuf name = {0};
        strbuf_format(&name, "%s.%s", path, side ? "target" : "source");
        Status status = write_codes(sides[side], strbuf_text(&name));
        strbuf_free(&name);
        TRY(status);
    }
    return STATUS_OK;
}

/* ---- the report ---- */

static size_t parameter_count(const ParamSet *params) {
    size_t total = 0;
    for (int i = 0; i < params->count; i++)
        total += (size_t)params->items[i]->rows * (size_t)params->items[i]->columns;
    return total;
}

static void write_json(const Seq2Seq *model, const char *path, StrView provenance, StrBuf *out) {
    const ParamSet *params = seq2seq_params(model);
    strbuf_add(out, SV("{\"file\": "));
    json_write_string(out, sv(path));
    strbuf_add(out, SV(",\n\"config\": "));
    config_write_json(seq2seq_config(model), out);
    strbuf_format(
        out,
        ",\n\"source_vocabulary\": %d, \"target_vocabulary\": %d, \"joint\": %s,\n\"parameters\": %zu,\n",
        vocab_size(segmenter_vocab(seq2seq_source(model))),
        vocab_size(segmenter_vocab(seq2seq_target(model))),
        seq2seq_source(model) == seq2seq_target(model) ? "true" : "false", parameter_count(params));
    strbuf_add(out, SV("\"tensors\": ["));
    for (int i = 0; i < params->count; i++) {
        strbuf_add(out, i ? SV(",\n  {\"name\": ") : SV("\n  {\"name\": "));
        json_write_string(out, sv(params->items[i]->name));
        strbuf_format(out, ", \"shape\": [%d, %d]}", params->items[i]->rows, params->items[i]->columns);
    }
    strbuf_add(out, SV("],\n\"provenance\": "));
    strbuf_add(out, provenance.length ? provenance : SV("{}"));
    strbuf_add(out, SV("}\n"));
}

/* Members of an object as "  name      value" lines; strings without quotes. */
static void write_members(const Json *object, int indent, StrBuf *out) {
    for (const Json *member = json_first(object); member; member = json_after(member)) {
        strbuf_format(out, "%*s%-24s ", indent, "", json_key(member));
        switch (json_type(member)) {
        case JSON_OBJECT:
            strbuf_add_char(out, '\n');
            write_members(member, indent + 2, out);
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

static Status write_json_as_text(StrView json, int indent, StrBuf *out) {
    Json *root;
    TRY(json_parse(&root, json, false));
    if (json_type(root) == JSON_OBJECT) write_members(root, indent, out);
    json_free(root);
    return STATUS_OK;
}

static Status write_text(const Seq2Seq *model, const char *path, StrView provenance, StrBuf *out) {
    const ParamSet *params = seq2seq_params(model);
    const Segmenter *source = seq2seq_source(model), *target = seq2seq_target(model);
    char number[32], bytes[32];
    StrBuf config = {0};
    strbuf_format(out, "%s\n\nvocabularies\n", path);
    if (source == target)
        strbuf_format(out, "  %-24s %s tokens\n", "joint",
                      str_count(vocab_size(segmenter_vocab(source)), number));
    else {
        strbuf_format(out, "  %-24s %s tokens\n", "source",
                      str_count(vocab_size(segmenter_vocab(source)), number));
        strbuf_format(out, "  %-24s %s tokens\n", "target",
                      str_count(vocab_size(segmenter_vocab(target)), number));
    }
    strbuf_add(out, SV("\nconfiguration\n"));
    config_write_json(seq2seq_config(model), &config);
    Status status = write_json_as_text(strbuf_view(&config), 2, out);
    strbuf_free(&config);
    TRY(status);
    strbuf_add(out, SV("\nprovenance\n"));
    if (provenance.length) TRY(write_json_as_text(provenance, 2, out));
    strbuf_add(out, SV("\nparameters\n"));
    for (int i = 0; i < params->count; i++) {
        const Param *param = params->items[i];
        char shape[32];
        snprintf(shape, sizeof shape, "%d x %d", param->rows, param->columns);
        strbuf_format(out, "  %-40s %14s %12s\n", param->name, shape,
                      str_count((long long)param->rows * param->columns, number));
    }
    size_t total = parameter_count(params);
    strbuf_format(out, "  %-40s %14s %12s  (%s)\n", "all", "", str_count((long long)total, number),
                  str_bytes((double)total * sizeof(float), bytes));
    return STATUS_OK;
}

static Status inspect(const InspectOptions *options, const char *path) {
    Seq2Seq *model;
    StrBuf provenance = {0}, out = {0};
    Status status = modelfile_load(&model, path, FORMAT_FLOAT32, &provenance);
    if (status == STATUS_OK) {
        if (options->codes) status = write_all_codes(model, options->codes);
        if (status == STATUS_OK && options->vocab) {
            status = print_vocab(model);
        } else if (status == STATUS_OK && (!options->codes || options->json)) {
            if (options->json)
                write_json(model, path, strbuf_view(&provenance), &out);
            else
                status = write_text(model, path, strbuf_view(&provenance), &out);
            if (status == STATUS_OK) status = print(&out);
        }
        seq2seq_free(model);
    }
    strbuf_free(&provenance);
    strbuf_free(&out);
    return status;
}

Status cmd_inspect(int argc, char **argv) {
    InspectOptions options;
    OptionTable tables[] = {{INSPECT_OPTIONS, &options}, {0}};
    StrList files;
    bool help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, false, &files, &help);
    if (status == STATUS_OK && help) {
        status = command_print_help(USAGE, tables, EXAMPLES);
    } else if (status == STATUS_OK && files.count != 1) {
        status = status_fail(STATUS_USAGE, files.count ? "more than one model given" : "no model given");
        status_hint(status, "attn-mt inspect MODEL");
    } else if (status == STATUS_OK) {
        status = inspect(&options, files.items[0]);
    }
    mem_free(files.items);
    options_free(tables);
    return status;
}
