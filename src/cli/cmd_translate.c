/* cmd_translate.c - attn-mt translate: one line out for each line in, in the same order. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"
#include "bleu/bleu_tokenizers.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/model_choice.h"
#include "cli/translate_document.h"
#include "cli/translate_options.h"
#include "cli/translate_score.h"
#include "text/languages.h"
#include "translate/input_lines.h"
#include "postprocess/mbr.h"
#include "translate/pivot.h"
#include "postprocess/problems.h"
#include "translate/translator.h"
#include "postprocess/unknown_text.h"
#include "viz/heatmap.h"

static const char USAGE[] = "Usage: attn-mt translate [--model MODEL]... [OPTION...] [INPUT...] [> OUTPUT]\n"
                            "\n"
                            "Translates text, one line out for each line in, or a document (--format).\n";

static const char DETAILS[] =
    "The model file has search options of its own, which may differ from the defaults\n"
    "below. They are used unless you give others. A model file can set a beam of up\n"
    "to 20, and translations of up to 20 tokens per source token plus 200. Options\n"
    "that you give can exceed that.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  echo \"i'm home .\" | attn-mt translate -m best.safetensors\n"
    "  attn-mt translate -m a.safetensors -m b.safetensors -b 12 test.en > test.fr\n"
    "  attn-mt translate -m best.safetensors page.html -o page.de.html\n"
    "  attn-mt translate -m best.safetensors --reference test.fr -o out.fr test.en     BLEU and chrF too\n";

static const CommandText TEXT = {USAGE, EXAMPLES, DETAILS};

enum { MAX_LINES = 1000000 }; /* in memory at a time */

typedef struct {
    TranslateOptions options;
    OutputStyle style;
    bool interactive, to_terminal, logged_beam;
    Ensemble models;
    Workers *workers;
    Translator *translator;
    OutFile *output;
    LineReader *reader; /* of the current input; NULL between inputs */
    size_t next_input;
    InputLines input;
    const DocumentFormat *document; /* NULL: lines */
    Glossary *glossary;
    Memory *memory;
    PivotRoute route;
    Pivot *pivot;
    UnknownText unknown;
    Problems problems;
    TranslateScore *score;
    /* Bytes: of all inputs, -1 if unknown; of the inputs before the current one; where the window begins and
     * ends in all inputs. */
    long long total_bytes, earlier_bytes, window_start, window_end;
    ProgressLine progress;
    long lines; /* written so far, over all inputs */
    double seconds;
} Session;

/* ---- output ---- */

static void show_attention(const Session *session, const Translation *translation) {
    Alignment alignment;
    StrBuf picture = {0};
    if (translation->chunks == 0) return;
    alignment_make(&alignment, translation, 0, (AlignmentLevel)session->options.level, session->style.source,
                   session->style.target);
    Heatmap map = {.rows = alignment.rows,
                   .columns = alignment.columns,
                   .row_labels = (const char *const *)alignment.row_labels,
                   .column_labels = (const char *const *)alignment.column_labels,
                   .weights = alignment_matrix(&alignment)};
    heatmap_write_text(&map, log_terminal_width(STDERR_FILENO), log_true_colour(STDERR_FILENO), &picture);
    fwrite(strbuf_text(&picture), 1, picture.length, stderr);
    strbuf_free(&picture);
    alignment_free(&alignment);
}

/* Log once if lines with constraints needed a wider beam than the options have. */
static void log_beam(Session *session, const Translation *results) {
    const TranslatorOptions *options = &session->options.translator;
    if (session->logged_beam || options->quiet || options->search.decode.beam_size >= CONSTRAINTS_BEAM)
        return;
    for (int i = 0; i < session->input.count && !session->logged_beam; i++)
        session->logged_beam = results[i].constraints_met.count + results[i].constraints_unmet.count > 0;
    if (session->logged_beam)
        log_info("lines with constraints use --beam-size %d, the minimum for constraints", CONSTRAINTS_BEAM);
}

/* Write the translations of the window's lines, and release them. */
static Status write_window(Session *session, Translation *results) {
    const InputLines *input = &session->input;
    StrBuf out = {0};
    Status status = translator_check_finite(session->translator, &session->options.models);
    if (status == STATUS_OK && session->pivot) status = pivot_check_finite(session->pivot);
    for (int i = 0; i < input->count && status == STATUS_OK; i++) {
        if (input->errors[i])
            translate_output_write_error(input->errors[i], &out);
        else
            translate_output_write(&session->style, session->lines + i, input->texts[i],
                                   input->json ? input->window.lines[0][i] : (StrView){0}, &results[i], &out);
    }
    session->lines += input->count;
    if (session->to_terminal) log_sanitize(out.data, out.length);
    if (status == STATUS_OK) status = file_write(session->output, out.data, out.length);
    if (status == STATUS_OK) status = file_flush(session->output);
    for (int i = 0; i < input->count; i++) {
        long line = input->window.first_number + i;
        unknown_text_add(&session->unknown, &results[i], session->style.source, line);
        problems_add(&session->problems, &results[i], line);
        translate_score_add(session->score, strbuf_view(&results[i].items[0].text));
        if (session->options.attention && status == STATUS_OK) show_attention(session, &results[i]);
        translation_free(&results[i]);
    }
    if (session->interactive && !session->options.translator.quiet) {
        unknown_text_report(&session->unknown, session->models.items[0]);
        unknown_text_free(&session->unknown);
        problems_report(&session->problems);
        session->problems = (Problems){0};
    }
    strbuf_free(&out);
    return status;
}

/* ---- a window of lines ---- */

typedef struct {
    const TranslateOptions *options;
    Translation *results;
} MbrJob;

static void mbr_task(void *context, int task, int thread) {
    MbrJob *job = context;
    (void)thread;
    mbr_rerank(&job->results[task], (MbrScore)job->options->mbr, job->options->mbr_scale);
}

/* Translate and write the lines of the window. */
static Status translate_window(Session *session) {
    const InputLines *input = &session->input;
    Translation *results = mem_alloc((size_t)input->count, sizeof *results);
    double start = clock_seconds();
    translator_run(session->translator, input->texts, input->constrained ? input->constraints : NULL,
                   input->count, input->window.first_number, results);
    log_beam(session, results);
    if (session->options.mbr)
        workers_run(session->workers, input->count, mbr_task, &(MbrJob){&session->options, results});
    for (int i = 0; i < input->count && session->style.n_best > 0; i++)
        translation_keep_different(&results[i], session->style.n_best);
    session->seconds += clock_seconds() - start;
    Status status = write_window(session, results);
    mem_free(results);
    return status;
}

/* `fraction`: the translated fraction of the window; `lines` does not include the window yet. */
static void show_progress(void *context, double fraction) {
    Session *session = context;
    double bytes =
        (double)session->window_start + fraction * (double)(session->window_end - session->window_start);
    progress_line_count(&session->progress, (double)session->lines + fraction * session->input.count,
                        session->total_bytes > 0 ? bytes / (double)session->total_bytes : 0);
}

/* Read the next window from the inputs; it may have no lines. *more is false after the last input. */
static Status next_window(Session *session, bool *more) {
    const StrList *inputs = &session->options.inputs;
    InputLines *input = &session->input;
    input->count = 0;
    *more = session->reader || session->next_input < inputs->count;
    if (!*more) return STATUS_OK;
    if (!session->reader) TRY(line_reader_open(&session->reader, inputs->items[session->next_input++]));
    if (session->interactive) fputs("> ", stderr);
    bool input_more;
    TRY(input_lines_read(input, session->reader, &input_more));
    session->window_start = session->window_end;
    session->window_end = session->earlier_bytes + line_reader_consumed(session->reader);
    if (input_more) return STATUS_OK;
    if (session->total_bytes > 0) session->earlier_bytes += file_size(inputs->items[session->next_input - 1]);
    line_reader_close(session->reader);
    session->reader = NULL;
    return STATUS_OK;
}

/* ---- begin and end ---- */

static void report(const Session *session) {
    char lines[32], tokens[32], time[32];
    bool quiet = session->options.translator.quiet;
    if (!quiet) {
        if (!session->input.json)
            command_warn_repaired(session->input.window.repaired, session->input.window.first_repaired);
        unknown_text_report(&session->unknown, session->models.items[0]);
        problems_report(&session->problems);
    }
    long unsplit = quiet ? 0 : translator_unsplit(session->translator);
    if (unsplit > 0 && !session->interactive)
        log_info("%s line%s several sentences; --split translates each", str_count(unsplit, lines),
                 unsplit == 1 ? " has" : "s have");
    if (quiet || session->interactive || session->seconds < 1 || session->document) return;
    double count = (double)translator_tokens(session->translator);
    log_info("translated %s line%s in %s: %.1f sentences/s, %s target tokens/s",
             str_count(session->lines, lines), session->lines == 1 ? "" : "s",
             str_duration(session->seconds, time), (double)session->lines / session->seconds,
             str_count((long long)(count / session->seconds), tokens));
}

static int count_stdin(const StrList *files) {
    int count = 0;
    for (size_t i = 0; i < files->count; i++) count += strcmp(files->items[i], "-") == 0;
    return count;
}

/* Standard input can be read only once. */
static Status check_stdin(const TranslateOptions *options) {
    int count = (options->inputs.count == 0) + count_stdin(&options->inputs) +
                count_stdin(&options->references) + count_stdin(&options->glossaries) +
                count_stdin(&options->memories) +
                count_stdin(&(StrList){(char **)&options->prefix_file, options->prefix_file != NULL});
    if (count < 2) return STATUS_OK;
    status_fail(STATUS_USAGE, "standard input cannot be read twice");
    return status_hint(STATUS_USAGE, "%s",
                       options->inputs.count == 0
                           ? "the text to translate is read from it; INPUT names a file instead"
                           : "name files for all but one '-'");
}

/* Check all inputs before the first is translated. */
static Status check_inputs(const StrList *inputs) {
    for (size_t i = 0; i < inputs->count; i++)
        if (strcmp(inputs->items[i], "-") != 0 && !file_exists(inputs->items[i])) {
            status_fail(STATUS_RUNTIME, "cannot open '%s': %s", inputs->items[i], strerror(errno));
            return status_hint(STATUS_RUNTIME, "INPUT is a file; text is read from standard input: "
                                               "echo 'go .' | attn-mt translate");
        }
    return STATUS_OK;
}

/* Bytes of all inputs; -1 if the size of one is unknown. */
static long long total_size(const StrList *inputs) {
    long long total = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        long long size = file_size(inputs->items[i]);
        if (size < 0) return -1;
        total += size;
    }
    return total;
}

/* Open the files of prefixes and output. */
static Status session_open(Session *session) {
    TranslateOptions *options = &session->options;
    session->interactive = options->inputs.count == 0 && isatty(STDIN_FILENO) == 1;
    if (options->inputs.count == 0) strlist_add(&options->inputs, SV("-"));
    session->total_bytes = total_size(&options->inputs);
    TRY(input_lines_set_prefix(&session->input, options->prefix, options->prefix_file));
    OutFile *output;
    TRY(file_create(&output, options->output));
    session->output = output;
    session->to_terminal = strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO) == 1;
    if (session->interactive)
        log_info("enter one %s per line; Ctrl-D ends the input",
                 options->json_input ? "JSON object" : "sentence");
    return STATUS_OK;
}

static Status refuse_to_overwrite_inputs(const TranslateOptions *options, const char *output) {
    TRY(command_refuse_overwrites(output, &options->models));
    TRY(command_refuse_overwrites(output, &options->inputs));
    if (options->inputs.count == 0) TRY(command_refuse_overwrite(output, "-"));
    TRY(command_refuse_overwrites(output, &options->references));
    TRY(command_refuse_overwrites(output, &options->glossaries));
    TRY(command_refuse_overwrites(output, &options->memories));
    return command_refuse_overwrite(output, options->prefix_file);
}

/* The start of the text. Standard input cannot be read again, so its reader stays. */
static Status read_sample(Session *session, LineReader **reader, StrView *sample) {
    enum { SAMPLE_BYTES = 4000 };
    const StrList *inputs = &session->options.inputs;
    const char *path = inputs->count > 0 ? inputs->items[0] : "-";
    bool stream = strcmp(path, "-") == 0 || file_is_stream(path);
    if (stream && (isatty(STDIN_FILENO) == 1 || session->document)) {
        status_fail(STATUS_USAGE, "a language is detected in a file, or in lines from a pipe");
        return status_hint(STATUS_USAGE, "name it, as in --languages en-de");
    }
    TRY(line_reader_open(reader, path));
    if (stream) {
        session->reader = *reader;
        session->next_input = 1;
    }
    Status status = line_reader_peek(*reader, SAMPLE_BYTES, sample);
    if (sample->length > SAMPLE_BYTES) sample->length = SAMPLE_BYTES;
    return status;
}

/* Replaces "auto" in --languages by the language of the text. */
static Status detect_source(Session *session) {
    TranslateOptions *options = &session->options;
    LineReader *reader = NULL;
    StrBuf languages = {0};
    StrView source, target, sample = {0};
    if (!options->languages || !sv_starts(sv(options->languages), SV("auto"))) return STATUS_OK;
    TRY(languages_split(options->languages, &source, &target));
    if (!sv_equal(source, SV("auto"))) return STATUS_OK;
    if (options->models.count > 0) {
        status_fail(STATUS_USAGE, "--languages auto-... chooses the model, and --model names one");
        return status_hint(STATUS_USAGE, "leave --model out");
    }
    Status status = read_sample(session, &reader, &sample);
    if (status == STATUS_OK)
        status = model_choice_detect(sample, target, options->translator.quiet, &languages);
    if (status == STATUS_OK) {
        strbuf_format(&languages, ":%.*s", SV_ARG(target));
        mem_free(options->languages);
        options->languages = mem_strdup(strbuf_text(&languages));
    }
    if (reader && reader != session->reader) line_reader_close(reader);
    strbuf_free(&languages);
    return status;
}

/* Terms and memories are of the languages of --languages, and no model has both. */
static Status check_pivot(const Session *session) {
    const TranslateOptions *options = &session->options;
    const char *option = options->glossaries.count > 0 ? "--glossary"
                         : options->memories.count > 0 ? "--memory"
                                                       : NULL;
    if (session->route.paths.count == 0 || !option) return STATUS_OK;
    status_fail(STATUS_USAGE, "option '%s' needs a model of both languages, and '%s' has none", option,
                options->languages);
    return status_hint(STATUS_USAGE, "attn-mt models lists the models");
}

/* Load and open everything before the first input line. */
static Status session_begin(Session *session, const UserOptions *user_options) {
    TranslateOptions *options = &session->options;
    TranslatorOptions *translator = &options->translator;
    DecodeOptions *decode = &translator->search.decode;
    TRY(check_stdin(options));
    TRY(check_inputs(&options->inputs));
    TRY(translate_document_choose(options, &session->document));
    TRY(detect_source(session));
    TRY(model_choice(&options->models, options->languages, translator->quiet, &translator->target_language,
                     options->no_pivot ? NULL : &session->route));
    TRY(check_pivot(session));
    TRY(refuse_to_overwrite_inputs(options, options->output));
    TRY(refuse_to_overwrite_inputs(options, options->report));
    TRY(command_refuse_overwrite(options->report, options->output));
    options->document = session->document != NULL;
    if (session->document) translate_document_set_options(session->document, options);
    TRY(translate_score_open(&session->score, &options->references, options->report));
    if (!session->document) TRY(translate_score_check(session->score, &options->inputs));
    TRY(ensemble_load(&session->models, &options->models, (WeightFormat)options->precision,
                      translator->search.shortlist > 0));
    ensemble_apply_defaults(&session->models, user_options, decode);
    TRY(translate_options_apply(options, &session->models, &session->style));
    if (options->glossaries.count > 0)
        TRY(glossary_read(
            &session->glossary, &options->glossaries, &seq2seq_config(session->models.items[0])->text,
            strbuf_view(&session->models.source_language), strbuf_view(&session->models.target_language)));
    translator->glossary = session->glossary;
    if (options->memories.count > 0)
        TRY(memory_read(&session->memory, &options->memories, strbuf_text(&session->models.source_language),
                        strbuf_text(&session->models.target_language), translator->accelerator));
    translator->memory = session->memory;
    translator->translate_symbols = session->models.translates_symbols;
    translator->progress = show_progress;
    translator->progress_context = session;
    session->workers = workers_new(options->threads > 0 ? options->threads : workers_default_count());
    TranslatorOptions used = *translator;
    if (session->document) used.quiet = true; /* its warnings name lines */
    if (session->route.paths.count > 0) {
        TRY(pivot_new(&session->pivot, &session->route, (WeightFormat)options->precision, user_options, &used,
                      session->workers));
        used.pivot = pivot_translator(session->pivot);
    }
    TRY(translator_new(&session->translator, ensemble_items(&session->models), session->models.count, &used,
                       session->workers));
    TRY(session_open(session));
    InputLines *input = &session->input;
    input->json = options->json_input;
    input->split = translator->split;
    input->tags = translator->tags;
    input->quiet = translator->quiet;
    input->window.max_lines = MAX_LINES / decode->mini_batch > decode->maxi_batch
                                  ? decode->mini_batch * decode->maxi_batch
                                  : MAX_LINES;
    if (session->interactive) input->window.max_lines = 1;
    session->progress =
        command_progress_begin("lines", options->output, translator->quiet || session->interactive);
    return STATUS_OK;
}

static int bleu_tokenizer(const Session *session) {
    if (session->options.tokenizer) return session->options.tokenizer - 1;
    return bleu_tokenizer_for(strbuf_view(&session->models.target_language));
}

/* Finish the output, or discard it if `status` is an error. */
static Status session_end(Session *session, Status status) {
    log_progress_end();
    if (session->interactive) fputs("\n", stderr);
    if (status == STATUS_OK) report(session);
    if (status == STATUS_OK)
        status = file_commit(session->output);
    else
        file_discard(session->output);
    session->output = NULL;
    if (status == STATUS_OK)
        status =
            translate_score_end(session->score, bleu_tokenizer(session), session->options.translator.quiet);
    long rejected = session->input.rejected;
    if (status == STATUS_OK && rejected)
        status = status_fail(STATUS_DATA,
                             "%ld line%s rejected: invalid JSON, no \"text\", or unusable constraints",
                             rejected, rejected == 1 ? " was" : "s were");
    return status;
}

static void session_free(Session *session) {
    file_discard(session->output);
    if (session->reader) line_reader_close(session->reader);
    translator_free(session->translator);
    pivot_free(session->pivot);
    pivot_route_free(&session->route);
    workers_free(session->workers);
    ensemble_free(&session->models);
    input_lines_free(&session->input);
    unknown_text_free(&session->unknown);
    glossary_free(session->glossary);
    memory_free(session->memory);
    translate_score_free(session->score);
}

Status cmd_translate(int argc, char **argv) {
    Session session = {0};
    TranslateOptions *options = &session.options;
    StrList files;
    UserOptions user_options = {0};
    OptionTable tables[] = {
        {TRANSLATE_OPTIONS, options}, {DECODE_OPTIONS, &options->translator.search.decode}, {0}};
    HelpKind help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, &files, &help, &user_options);
    for (size_t i = 0; i < files.count; i++) strlist_add(&options->inputs, sv(files.items[i]));
    if (status == STATUS_OK && help) {
        status = command_print_help(&TEXT, tables, help);
    } else if (status == STATUS_OK && (status = session_begin(&session, &user_options)) == STATUS_OK) {
        if (session.document)
            status = translate_document_run(session.document, options, &session.style, &session.models,
                                            session.translator, session.output);
        for (bool more = !session.document; more && status == STATUS_OK;) {
            status = next_window(&session, &more);
            if (status == STATUS_OK && session.input.count > 0) status = translate_window(&session);
        }
        if (status == STATUS_OK) status = input_lines_end(&session.input);
        status = session_end(&session, status);
    }
    session_free(&session);
    mem_free(files.items);
    mem_free(user_options.rows);
    options_free(tables);
    return status;
}
