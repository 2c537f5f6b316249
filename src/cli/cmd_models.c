/* cmd_models.c - attn-mt models: lists the models that have a name, adds and removes them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/models_add.h"
#include "io/json_write.h"
#include "models/registry.h"
#include "viz/label.h"

typedef struct {
    bool json;
    ModelsAddOptions add;
} ModelsOptions;

#define FIELD(member) OPT_FIELD(ModelsOptions, member)

/* clang-format off */
static const Option MODELS_OPTIONS[] = {
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print one JSON object", .group = "List"},
    {.flag = "name", .type = OPT_STRING, FIELD(add.name), .arg = "NAME",
     .help = "name of the model; default: from the path", .group = "Add"},
    {.flag = "languages", .type = OPT_STRING, FIELD(add.languages), .arg = "SRC-TRG",
     .help = "source and target language, such as en-de; default: those in the model"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(add.convert.precision), .default_text = "auto",
     .choices = MODEL_PRECISION_CHOICES, .arg = "KIND",
     .help = "number format of weights and embeddings; auto: that of the model"},
    {.flag = "overwrite", .type = OPT_BOOL, FIELD(add.overwrite), .default_text = "false",
     .help = "replace an installed model of this name"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt models [--json]\n"
    "       attn-mt models add [OPTION...] PATH\n"
    "       attn-mt models remove NAME\n"
    "\n"
    "Lists the installed models. Other commands accept their names: --model NAME.\n"
    "'add' installs a model: a file, the folder of a run, or a model of another\n"
    "program (attn-mt convert --help). It loads the model and translates a sentence.\n"
    "\n"
    "A model is a file NAME.safetensors in the folder ATTN_MT_MODELS, otherwise\n"
    "~/.local/share/attn-mt/models (or $XDG_DATA_HOME/attn-mt/models), or in\n"
    "/usr/local/share/attn-mt/models or /usr/share/attn-mt/models.\n"
    "\n"
    "Without --model, commands use a model for --languages, the model that\n"
    "ATTN_MT_MODEL names, the only installed model, or the newest run below runs/.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt models\n"
                               "  attn-mt models add runs/mine\n"
                               "  attn-mt models add opus-mt-en-fr/ --name en-fr\n"
                               "  attn-mt models remove en-fr\n";

/* ---- the list ---- */

enum { COLUMNS = 7, SHOWN_TARGETS = 3 };
typedef struct {
    StrBuf cells[COLUMNS];
} Row;

/* "en-fr", "en-fra,eng", "en-fra,eng,deu,... (12)" */
static void add_languages(const ModelInfo *info, StrBuf *out) {
    size_t count = info->targets.count;
    if (!info->source[0] && count == 0) strbuf_add(out, SV("unknown"));
    if (info->source[0] || count > 0) strbuf_format(out, "%s-", info->source[0] ? info->source : "unknown");
    for (size_t i = 0; i < count && i < SHOWN_TARGETS; i++)
        strbuf_format(out, "%s%s", i ? "," : "", info->targets.items[i]);
    if (count > SHOWN_TARGETS) strbuf_format(out, ",... (%zu)", count);
}

/* "74.2M" */
static void add_parameters(long long parameters, StrBuf *out) {
    strbuf_format(out, "%.1fM", (double)parameters / 1e6);
}

/* Names of files may contain line ends. */
static void keep_on_line(StrBuf *cell) {
    for (size_t i = 0; i < cell->length; i++)
        if ((unsigned char)cell->data[i] < ' ') cell->data[i] = '?';
}

static void fill_row(Row *row, const RegistryModel *model) {
    char size[32];
    StrView path = sv(model->path);
    strbuf_add(&row->cells[0], sv(model->name));
    add_languages(&model->info, &row->cells[1]);
    strbuf_add(&row->cells[2], sv(model->info.program));
    add_parameters(model->info.parameters, &row->cells[3]);
    strbuf_add(&row->cells[4], sv(model->info.precision));
    strbuf_add(&row->cells[5], sv(str_bytes((double)model->info.bytes, size)));
    strbuf_add(&row->cells[6], (StrView){path.data, (size_t)(strrchr(path.data, '/') - path.data)});
    for (int c = 0; c < COLUMNS; c++) keep_on_line(&row->cells[c]);
}

static int width_of(const StrBuf *cell) { return label_width(strbuf_text(cell)); }

static void write_table(const Registry *registry, StrBuf *out) {
    static const char *const TITLES[COLUMNS] = {"NAME",      "LANGUAGES", "MADE BY", "PARAMETERS",
                                                "PRECISION", "SIZE",      "FOLDER"};
    size_t count = registry->count + 1;
    Row *rows = mem_alloc(count, sizeof *rows);
    int widths[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++) strbuf_add(&rows[0].cells[c], sv(TITLES[c]));
    for (size_t i = 0; i < registry->count; i++) fill_row(&rows[i + 1], &registry->items[i]);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < COLUMNS; c++)
            if (width_of(&rows[i].cells[c]) > widths[c]) widths[c] = width_of(&rows[i].cells[c]);
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            int space = c == COLUMNS - 1 ? 0 : widths[c] - width_of(&rows[i].cells[c]) + 2;
            strbuf_format(out, "%s%*s", strbuf_text(&rows[i].cells[c]), space, "");
            strbuf_free(&rows[i].cells[c]);
        }
        strbuf_add_char(out, '\n');
    }
    mem_free(rows);
}

static void write_model_json(const RegistryModel *model, StrBuf *out) {
    const ModelInfo *info = &model->info;
    json_open_object(out);
    json_put_string(out, "name", sv(model->name));
    json_put_string(out, "path", sv(model->path));
    json_put_string(out, "source", sv(info->source));
    json_put_array(out, "targets");
    for (size_t i = 0; i < info->targets.count; i++) json_write_string(out, sv(info->targets.items[i]));
    json_close_array(out);
    json_put_bool(out, "chooses_target", info->chooses_target);
    json_put_string(out, "program", sv(info->program));
    json_put_string(out, "source_sha256", sv(info->source_sha256));
    json_put_integer(out, "parameters", info->parameters);
    json_put_string(out, "precision", sv(info->precision));
    json_put_integer(out, "bytes", info->bytes);
    json_put_bool(out, "own", model->own);
    json_close_object(out);
}

static void write_json(const Registry *registry, StrBuf *out) {
    json_open_object(out);
    json_put_array(out, "models");
    for (size_t i = 0; i < registry->count; i++) {
        json_write_line(out, 2);
        write_model_json(&registry->items[i], out);
    }
    json_close_array(out);
    json_write_line(out, 0);
    json_put_array(out, "damaged");
    for (size_t i = 0; i < registry->damaged_count; i++) {
        json_write_line(out, 2);
        json_open_object(out);
        json_put_string(out, "path", sv(registry->damaged[i].path));
        json_put_string(out, "reason", sv(registry->damaged[i].reason));
        json_close_object(out);
    }
    json_close_array(out);
    json_write_line(out, 0);
    json_put_array(out, "folders");
    for (size_t i = 0; i < registry->folders.count; i++)
        json_write_string(out, sv(registry->folders.items[i]));
    json_close_array(out);
    json_close_object(out);
    strbuf_add_char(out, '\n');
}

static Status list(bool json) {
    Registry registry;
    StrBuf out = {0};
    registry_open(&registry);
    for (size_t i = 0; i < registry.damaged_count && !json; i++)
        log_warn("left out: %s", registry.damaged[i].reason);
    if (json)
        write_json(&registry, &out);
    else if (registry.count > 0)
        write_table(&registry, &out);
    else
        log_info("no models in '%s'", registry.folders.count ? registry.folders.items[0] : "");
    Status status = json ? command_print(strbuf_view(&out)) : command_print_report(&out);
    strbuf_free(&out);
    registry_free(&registry);
    return status;
}

/* ---- remove ---- */

/* The file, which need not be a sound model. */
static Status remove_model(const char *name) {
    StrBuf folder = {0}, path = {0};
    Status status = registry_user_folder(&folder);
    if (status == STATUS_OK) status = registry_path(name, &path);
    if (status == STATUS_OK) {
        StrBuf own = {0};
        strbuf_format(&own, "%s/%s" MODEL_SUFFIX, strbuf_text(&folder), name);
        if (!sv_equal(strbuf_view(&own), strbuf_view(&path))) {
            status_fail(STATUS_USAGE, "'%.400s' is not a model of '%.400s'", strbuf_text(&path),
                        strbuf_text(&folder));
            status =
                status_hint(STATUS_USAGE, "attn-mt models remove NAME removes only models of this folder");
        } else if (unlink(strbuf_text(&path)) != 0) {
            status = status_fail(STATUS_RUNTIME, "cannot remove '%.700s': %s", strbuf_text(&path),
                                 strerror(errno));
        } else {
            log_info("removed '%s'", strbuf_text(&path));
        }
        strbuf_free(&own);
    }
    strbuf_free(&folder);
    strbuf_free(&path);
    return status;
}

static Status run(const StrList *words, const void *target) {
    const ModelsOptions *options = target;
    const char *action = words->count ? words->items[0] : "list";
    if (words->count == 0) return list(options->json);
    if (strcmp(action, "add") == 0 && words->count == 2) return models_add(words->items[1], &options->add);
    if (strcmp(action, "remove") == 0 && words->count == 2) return remove_model(words->items[1]);
    bool known = strcmp(action, "add") == 0 || strcmp(action, "remove") == 0;
    if (known && words->count == 1)
        status_fail(STATUS_USAGE, "'attn-mt models %s' needs a %s", action,
                    strcmp(action, "add") == 0 ? "path" : "name");
    else
        status_fail(STATUS_USAGE, "'attn-mt models' does not take '%s'",
                    words->count > 2 ? words->items[2] : action);
    static const char *const ACTIONS[] = {"add", "remove"};
    const char *nearest = known ? NULL : str_nearest(action, ACTIONS, 2);
    if (nearest) return status_hint(STATUS_USAGE, "did you mean 'attn-mt models %s'?", nearest);
    return status_hint(STATUS_USAGE, "attn-mt models, attn-mt models add PATH, attn-mt models remove NAME");
}

Status cmd_models(int argc, char **argv) {
    ModelsOptions options = {0};
    OptionTable tables[] = {{MODELS_OPTIONS, &options}, {MODEL_CONVERT_OPTIONS, &options.add.convert}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
