/* import.c - see import.h; finds out which family a model is of, and reads its files and settings. */
#include "foreign/import.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "foreign/archive.h"
#include "foreign/import_parts.h"
#include "io/json_write.h"
#include "io/zip.h"

/* ---- files and settings ---- */

Status import_hint_supported(void) {
    return status_hint(STATUS_DATA, "docs/public-models.md lists the supported models");
}

Status import_refuse(const char *what, StrView value) {
    status_fail(STATUS_DATA, "its %s is '%.*s', which attn-mt does not support", what,
                value.length < 100 ? (int)value.length : 100, value.data ? value.data : "");
    return import_hint_supported();
}

Status import_refuse_codes(void) {
    status_fail(STATUS_DATA, "its text is cut by subword-nmt behind Moses' tokenizer, which is not read");
    return status_hint(STATUS_DATA,
                       "take a model with SentencePiece: a release of OPUS-MT whose name has spm");
}

Status import_read_file(const Import *im, const char *start, const char *end, StrBuf *content) {
    long index = foreign_archive_find(im->archive, 0, start, end);
    if (index < 0)
        return status_fail(STATUS_DATA, "the file '%s%s%s' is missing", start, start[0] && end[0] ? "*" : "",
                           end);
    return foreign_archive_read(im->archive, (size_t)index, content);
}

bool import_has_file(const Import *im, const char *start, const char *end) {
    return foreign_archive_find(im->archive, 0, start, end) >= 0;
}

double import_setting_number(const Import *im, const char *key, double missing) {
    const Json *value = im->config ? json_get(im->config, key) : NULL;
    if (json_type(value) == JSON_BOOL) return json_bool(value);
    return json_type(value) == JSON_NUMBER ? json_number(value) : missing;
}

StrView import_setting_text(const Import *im, const char *key, const char *missing) {
    const Json *value = im->config ? json_get(im->config, key) : NULL;
    return sv(json_type(value) == JSON_STRING ? json_string(value) : missing);
}

void import_take_language(const Json *object, const char *key, char language[32]) {
    const Json *value = json_get(object, key);
    if (json_type(value) == JSON_STRING) snprintf(language, 32, "%s", json_string(value));
}

Status import_read_json(const Import *im, const char *name, Json **root) {
    StrBuf content = {0};
    *root = NULL;
    if (!import_has_file(im, name, "")) return STATUS_OK;
    Status status = import_read_file(im, name, "", &content);
    if (status == STATUS_OK) status = json_parse(root, strbuf_view(&content), false);
    strbuf_free(&content);
    return status == STATUS_OK ? status : status_context(status, "'%s'", name);
}

/* ---- all ---- */

static void put_file(const Import *im, const char *name, const char *key, StrBuf *out) {
    enum { MOST = 16384 };
    StrBuf text = {0};
    if (import_has_file(im, name, "") && import_read_file(im, name, "", &text) == STATUS_OK) {
        if (text.length > MOST) strbuf_cut(&text, MOST);
        json_put_string(out, key, strbuf_view(&text));
    }
    strbuf_free(&text);
}

static Status write_provenance(const Import *im) {
    char digest[65];
    StrBuf *out = &im->result->provenance;
    TRY(foreign_archive_digest(im->archive, digest));
    json_open_object(out);
    json_put_string(out, "origin", sv(im->result->program));
    json_put_string(out, "source_sha256", sv(digest));
    if (im->source_language[0] && im->target_language[0]) {
        json_put_string(out, "source_language", sv(im->source_language));
        json_put_string(out, "target_language", sv(im->target_language));
    }
    put_file(im, "LICENSE", "licence", out);
    put_file(im, "README.md", "readme", out);
    json_close_object(out);
    return STATUS_OK;
}

/* Do two such files lie in different folders? */
static Status require_one(const Import *im, const char *start, const char *end) {
    long first = foreign_archive_find(im->archive, 0, start, end);
    long second = first < 0 ? -1 : foreign_archive_find(im->archive, (size_t)first + 1, start, end);
    if (second < 0) return STATUS_OK;
    const char *a = foreign_archive_name(im->archive, (size_t)first),
               *b = foreign_archive_name(im->archive, (size_t)second);
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    StrView folder_a = {a, slash_a ? (size_t)(slash_a - a) : 0},
            folder_b = {b, slash_b ? (size_t)(slash_b - b) : 0};
    if (sv_equal(folder_a, folder_b)) return STATUS_OK;
    status_fail(STATUS_DATA, "it contains several models: '%.200s' and '%.200s'", a, b);
    return status_hint(STATUS_DATA, "name the folder of one of them");
}

static Status recognise(Import *im, const char *const sentencepiece[2]) {
    TRY(import_read_json(im, "config.json", &im->config));
    static const char *const WEIGHTS[][2] = {
        {"model.safetensors", ""}, {"pytorch_model.bin", ""}, {"model", ".bin"}, {"", ".npz"}};
    for (size_t i = 0; i < sizeof WEIGHTS / sizeof *WEIGHTS; i++)
        TRY(require_one(im, WEIGHTS[i][0], WEIGHTS[i][1]));
    bool weights =
        import_has_file(im, "model.safetensors", "") || import_has_file(im, "pytorch_model.bin", "");
    if (im->config && json_get(im->config, "model_type") && weights) return import_hugging_face(im);
    if (import_has_file(im, "model.bin", "")) return import_ctranslate2(im, sentencepiece);
    if (import_has_file(im, "model", ".bin")) return import_marian(im, false);
    if (import_has_file(im, "", ".npz")) return import_marian(im, true);
    status_fail(STATUS_DATA, "it contains no model that attn-mt supports");
    return status_hint(
        STATUS_DATA,
        "supported are folders, zips and tars of OPUS-MT, Argos Translate, CTranslate2 and Firefox: "
        "docs/public-models.md");
}

static void side_free(Side *side) {
    strlist_free(&side->tokens);
    tokenizer_free(side->tokenizer);
    mem_free(side->row);
}

bool foreign_is_archive(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    if (S_ISDIR(info.st_mode)) return true;
    FILE *file = S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    char bytes[512] = {0};
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    return zip_starts((StrView){bytes, count}) || memcmp(bytes + 257, "ustar", 5) == 0 ||
           (bytes[0] == '\x1f' && bytes[1] == '\x8b');
}

Status foreign_import(ForeignModel *result, const char *path, const char *const sentencepiece[2]) {
    ForeignArchive *archive;
    *result = (ForeignModel){0};
    Status status = foreign_archive_open(&archive, path);
    if (status == STATUS_OK) {
        Import im = {.archive = archive, .result = result};
        status = recognise(&im, sentencepiece);
        if (status == STATUS_OK) status = write_provenance(&im);
        foreign_tensors_free(&im.tensors);
        side_free(&im.source);
        side_free(&im.target);
        strbuf_free(&im.model_options);
        strbuf_free(&im.decode_options);
        json_free(im.config);
        foreign_archive_close(archive);
    }
    if (status == STATUS_OK) return status;
    foreign_model_free(result);
    return status_context(status, "cannot read '%.700s' as a model", path);
}

void foreign_model_free(ForeignModel *result) {
    seq2seq_free(result->model);
    mem_free(result->scales);
    strbuf_free(&result->provenance);
    *result = (ForeignModel){0};
}
