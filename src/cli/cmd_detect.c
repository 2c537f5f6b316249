/* cmd_detect.c - attn-mt detect: tells which language each line is in. */
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "io/fileio.h"
#include "io/json_write.h"
#include "io/line_window.h"
#include "text/detect.h"
#include "text/languages.h"

typedef struct {
    StrList languages;
    int n_best;
    bool json;
} DetectOptions;

#define FIELD(member_) OPT_FIELD(DetectOptions, member_)

/* clang-format off */
static const Option DETECT_OPTIONS[] = {
    {.flag = "languages", .letter = 'l', .type = OPT_LIST, FIELD(languages), .arg = "NAME,...",
     .help = "languages to choose from, as codes or English names; default: all known languages that have a "
             "code of two letters"},
    {.flag = "n-best", .type = OPT_INT, FIELD(n_best), .default_text = "1", .min = 1, .max = 1000, .arg = "N",
     .help = "print the N most probable languages of each line"},
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print a JSON list of languages per line"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt detect [OPTION...] [FILE]\n"
    "\n"
    "Prints the language of each line of FILE (default: standard input), a TAB, and\n"
    "a confidence: about 80 % of the lines with a confidence of 0.80 are in that\n"
    "language. A line without letters is in the language 'und', undetermined. A\n"
    "warning counts the lines that are too short to tell.\n"
    "More results are right if there are fewer languages to choose from, and if lines\n"
    "are longer.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt detect < lines.txt\n"
                               "  attn-mt detect --languages en,fr,German < lines.txt\n";

typedef struct {
    Detector *detector;
    Detection *ranked;
    StrView *languages;
    int count, n_best;
    bool json;
    OutFile *output;
    LineWindow window;
    long lines, unsure, first_unsure; /* unsure: below DETECT_SURE */
} Session;

static void add_json(const Session *session, StrBuf *out) {
    json_open_array(out);
    for (int i = 0; i < session->n_best && session->ranked[i].confidence > 0; i++) {
        json_open_object(out);
        json_put_string(out, "language", session->languages[session->ranked[i].candidate]);
        json_put_digits(out, "confidence", session->ranked[i].confidence, 3);
        json_close_object(out);
    }
    json_close_array(out);
}

static void add_text(const Session *session, StrBuf *out) {
    if (session->ranked[0].confidence <= 0) strbuf_add(out, SV("und\t0.00"));
    for (int i = 0; i < session->n_best && session->ranked[i].confidence > 0; i++)
        strbuf_format(out, "%s%.*s\t%.2f", i > 0 ? "\t" : "",
                      SV_ARG(session->languages[session->ranked[i].candidate]),
                      session->ranked[i].confidence);
}

static Status detect_window(Session *session) {
    StrBuf out = {0};
    for (int i = 0; i < session->window.count; i++) {
        detector_run(session->detector, session->window.lines[0][i], session->ranked);
        session->lines++;
        double confidence = session->ranked[0].confidence;
        if (confidence > 0 && confidence < DETECT_SURE && session->unsure++ == 0)
            session->first_unsure = session->lines;
        (session->json ? add_json : add_text)(session, &out);
        strbuf_add_char(&out, '\n');
    }
    Status status = file_write(session->output, out.data, out.length);
    if (status == STATUS_OK) status = file_flush(session->output);
    strbuf_free(&out);
    return status;
}

static Status detect_lines(Session *session, LineReader *reader) {
    Status status = STATUS_OK;
    for (bool more = true; more && status == STATUS_OK;) {
        status = line_window_read(&session->window, reader, NULL, &more);
        if (session->window.count > 0) {
            Status written = detect_window(session);
            status = status == STATUS_OK ? written : status;
        }
    }
    command_warn_repaired(session->window.repaired, session->window.first_repaired);
    return status;
}

/* The names that are given, otherwise those of all fingerprints; views into `known`. */
static Status choose_languages(const DetectOptions *options, StrBuf *codes, Session *session) {
    StrView rest, code;
    size_t capacity = 0;
    if (options->languages.count == 0) TRY(detect_known_languages(codes));
    rest = strbuf_view(codes);
    while (sv_next(&rest, ' ', &code)) {
        MEM_GROW(session->languages, capacity, (size_t)session->count + 1);
        session->languages[session->count++] = code;
    }
    for (size_t i = 0; i < options->languages.count; i++) {
        MEM_GROW(session->languages, capacity, (size_t)session->count + 1);
        session->languages[session->count++] = sv(options->languages.items[i]);
    }
    return STATUS_OK;
}

static Status check_languages(const Session *session) {
    for (int i = 0; i < session->count; i++) {
        if (detector_knows(session->detector, i)) continue;
        char *nearest = language_nearest(session->languages[i]);
        status_fail(STATUS_USAGE, "the language '%.*s' cannot be detected", SV_ARG(session->languages[i]));
        if (nearest) {
            status_hint(STATUS_USAGE, "did you mean '%s'?", nearest);
            mem_free(nearest);
            return STATUS_USAGE;
        }
        return status_hint(STATUS_USAGE,
                           language_code(session->languages[i]).length > 0
                               ? "libexttextcat has no fingerprint of it"
                               : "name languages by codes or in English: en, eng_Latn, English");
    }
    return STATUS_OK;
}

static void warn_of_unsure(const Session *session) {
    if (session->unsure == 0) return;
    if (session->lines == 1)
        log_warn("too short to tell, or in none of these languages: a confidence below %g", DETECT_SURE);
    else
        log_warn(
            "%ld lines of %ld, the first is line %ld, are too short to tell, or in none of these languages: "
            "a confidence below %g",
            session->unsure, session->lines, session->first_unsure, DETECT_SURE);
}

static Status detect_file(Session *session, const char *path) {
    LineReader *reader;
    TRY(line_reader_open(&reader, path));
    Status status = file_create(&session->output, "-");
    if (status == STATUS_OK) {
        status = detect_lines(session, reader);
        if (status == STATUS_OK) {
            status = file_commit(session->output);
            warn_of_unsure(session);
        } else
            file_discard(session->output);
    }
    line_reader_close(reader);
    return status;
}

static Status run(const StrList *files, const void *target) {
    const DetectOptions *options = target;
    StrBuf codes = {0};
    Session session = {.n_best = options->n_best, .json = options->json, .window = {.max_lines = 1000}};
    if (files->count > 1) {
        status_fail(STATUS_USAGE, "more than one file given");
        return status_hint(STATUS_USAGE, "cat FILE... | attn-mt detect");
    }
    Status status = choose_languages(options, &codes, &session);
    if (status == STATUS_OK) status = detector_open(&session.detector, session.languages, session.count);
    if (status == STATUS_OK) status = check_languages(&session);
    if (status == STATUS_OK) {
        session.n_best = session.n_best < session.count ? session.n_best : session.count;
        session.ranked = mem_alloc((size_t)session.count, sizeof *session.ranked);
        status = detect_file(&session, files->count ? files->items[0] : "-");
    }
    detector_close(session.detector);
    line_window_free(&session.window);
    mem_free(session.ranked);
    mem_free(session.languages);
    strbuf_free(&codes);
    return status;
}

Status cmd_detect(int argc, char **argv) {
    DetectOptions options = {0};
    OptionTable tables[] = {{DETECT_OPTIONS, &options}, {0}};
    return command_run(argc, argv, &(CommandText){USAGE, EXAMPLES, NULL}, tables, run);
}
