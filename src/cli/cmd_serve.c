/* cmd_serve.c - attn-mt serve: translations over HTTP. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/model_choice.h"
#include "data/shortlist.h"
#include "kern/kern.h"
#include "serve/service.h"

#define FIELD(member) OPT_FIELD(ServiceOptions, member)

/* clang-format off */
static const Option SERVE_OPTIONS[] = {
    {.flag = "model", .common = true, .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "MODEL",
     .help = "model to translate with: a name in 'attn-mt models', a file, or the folder of a run; several "
             "models form an ensemble; default: all models in 'attn-mt models'",
     .group = "Model"},
    {.flag = "languages", .common = true, .type = OPT_STRING, FIELD(languages), .arg = "SRC-TRG",
     .help = "source and target language, such as en-fr; requests for other languages are refused; "
             "default: the languages of the models, as their files name them"},
    {.flag = "glossary", .type = OPT_LIST, FIELD(glossaries), .arg = "FILE",
     .help = "terms that translations must contain, as in attn-mt translate; without --model for two "
             "languages: en-de=FILE"},
    {.flag = "memory", .type = OPT_LIST, FIELD(memories), .arg = "FILE",
     .help = "translation memory: a text or sentence that is in it gets its translation from there, as in "
             "attn-mt translate; without --model en-de=FILE"},
    {.flag = "threads", .common = true, .type = OPT_INT, FIELD(threads), .default_text = "0",
     .max = 1024, .arg = "N",
     .help = "number of threads that translate, 0 = one per core"},
    {.flag = "precision", .common = true, .type = OPT_CHOICE, FIELD(precision), .default_text = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "number format of the weights; files of attn-mt convert keep their own format"},
    {.flag = "beam-size", .common = true, .letter = 'b', .type = OPT_INT, FIELD(beam_size),
     .default_text = "0", .max = 1000,
     .arg = "N",
     .help = "hypotheses per sentence, 1 = greedy search, 0 = as in the model file"},
    {.flag = "shortlist", .type = OPT_INT, FIELD(shortlist), .default_text = "0", .max = SHORTLIST_MAX,
     .arg = "N",
     .help = "consider only the N most frequent target tokens and N likely translations of each source "
             "token, which is faster; 0 = all tokens"},
    {.flag = "mini-batch", .type = OPT_INT, FIELD(mini_batch), .default_text = "32", .min = 1, .max = 1024,
     .arg = "N",
     .help = "maximum number of texts translated together"},
    {.flag = "split", .type = OPT_BOOL, FIELD(split), .default_text = "true",
     .help = "texts are paragraphs; translate sentence by sentence"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(quiet), .default_text = "false",
     .help = "print only errors"},
    {.flag = "address", .common = true, .type = OPT_STRING, FIELD(address), .default_text = "127.0.0.1",
     .arg = "HOST",
     .help = "address to listen on; 0.0.0.0 = all addresses of this machine", .group = "Network"},
    {.flag = "port", .common = true, .letter = 'p', .type = OPT_INT, FIELD(port), .default_text = "5000",
     .max = 65535,
     .arg = "N",
     .help = "port to listen on; 0 = any free port"},
    {.flag = "allow-origin", .type = OPT_STRING, FIELD(origin), .arg = "ORIGIN",
     .help = "allow requests of web pages from this origin (CORS), such as https://example.org; * = all "
             "origins; default: only the server's own page"},
    {.flag = "api-key-file", .common = true, .type = OPT_STRING, FIELD(api_key_file), .arg = "FILE",
     .help = "translate only requests with a key from FILE; one key per line"},
    {.flag = "max-connections", .type = OPT_INT, FIELD(connections), .default_text = "500", .min = 1,
     .max = 100000, .arg = "N",
     .help = "maximum number of connections; further ones wait to be accepted",
     .group = "Limits"},
    {.flag = "timeout", .type = OPT_REAL, FIELD(timeout), .default_text = "30", .min = 0.1, .max = 3600,
     .arg = "SECONDS",
     .help = "time limit for receiving a request (408), for the client to take its answer, and for an "
             "idle connection"},
    {.flag = "max-body", .type = OPT_INT, FIELD(max_body), .default_text = "1000000", .min = 100,
     .max = 100000000, .arg = "BYTES",
     .help = "maximum size of a request's body (413); all bodies together may have 64 times that (503)"},
    {.flag = "max-characters", .type = OPT_INT, FIELD(max_characters), .default_text = "20000", .min = 1,
     .max = 10000000, .arg = "N",
     .help = "maximum number of characters in all texts of a request (400)"},
    {.flag = "max-texts", .type = OPT_INT, FIELD(max_texts), .default_text = "1000", .min = 1, .max = 100000,
     .arg = "N",
     .help = "maximum number of texts in a request (400)"},
    {.flag = "max-alternatives", .type = OPT_INT, FIELD(max_alternatives), .default_text = "10", .max = 100,
     .arg = "N",
     .help = "maximum number of alternatives per text (400)"},
    {.flag = "max-waiting", .type = OPT_INT, FIELD(max_waiting), .default_text = "400000", .min = 100,
     .max = 1000000000, .arg = "N",
     .help = "maximum number of waiting characters, over all requests; one request may take half of what "
             "is left (503)"},
    {.flag = "max-memory", .common = true, .type = OPT_INT, FIELD(max_memory), .default_text = "0",
     .max = 10000000, .arg = "MB",
     .help = "maximum memory of the models from the folders of models; models that were not used for the "
             "longest time are unloaded first; 0 = half of the machine's memory"},
    {.flag = "batch-memory", .type = OPT_INT, FIELD(batch_memory), .default_text = "1000", .min = 1,
     .max = 1000000, .arg = "MB",
     .help = "maximum memory of a thread for the texts that it translates at a time (503)"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt serve [--model MODEL] [OPTION...]\n"
    "\n"
    "Translates over HTTP, with LibreTranslate's interface and a web page. Prints its\n"
    "address when it is ready. Without a model it serves all of 'attn-mt models'.\n";

static const char DETAILS[] =
    "POST /translate takes JSON or a form, also multipart: {\"q\": TEXT OR LIST,\n"
    "\"source\", \"target\", \"format\", \"alternatives\", \"api_key\"}. The other routes are\n"
    "GET /languages, /frontend/settings, /health, /metrics (for Prometheus) and /, a\n"
    "page that translates while you type. POST /detect detects the language of a\n"
    "text, and POST /translate_file translates a document (HTML, PO, XLIFF, SRT, VTT,\n"
    "Markdown or text) in the field \"file\" of a multipart form.\n"
    "\n"
    "The first request for a model of 'attn-mt models' loads it. If no model has two\n"
    "languages, translations go through other languages. \"source\": \"auto\"\n"
    "detects the language.\n"
    "\n"
    "Waiting texts are translated together. Short requests come first, but long ones\n"
    "are not starved. The options under \"Limits\" bound the size and time of a\n"
    "request, and name the HTTP status of a request that exceeds them.\n"
    "\n"
    "SIGTERM stops the server: it refuses new connections, finishes the requests that\n"
    "it has, and waits 3 seconds for the rest of an incomplete request. SIGHUP reads\n"
    "models, or their folders, glossaries, memories and keys again and loses no\n"
    "request. A socket passed by systemd (LISTEN_FDS) replaces --address and --port;\n"
    "then a restart loses no request either.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt serve --max-memory 2000\n"
    "  attn-mt serve -m best.safetensors --languages en-fr\n"
    "  curl -d q='go .' -d source=en -d target=fr http://127.0.0.1:5000/translate\n"
    "  attn-mt serve -m best.safetensors --port 0 --api-key-file keys.txt --max-characters 2000\n";

static const CommandText TEXT = {USAGE, EXAMPLES, DETAILS};

#ifdef ATTN_MT_HTTP
static volatile sig_atomic_t stop_requested, reload_requested;

static void on_signal(int number) {
    if (number == SIGHUP)
        reload_requested = 1;
    else
        stop_requested = 1;
}

static void catch_signals(void) {
    static const int caught[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction action = {.sa_handler = on_signal};
        sigemptyset(&action.sa_mask);
        sigaction(caught[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN); /* clients may close connections at any time */
}

/* Scripts wait for this line. */
static Status print_address(const char *address, int port) {
    StrBuf line = {0};
    bool v6 = strchr(address, ':');
    strbuf_format(&line, "http://%s%s%s:%d/\n", v6 ? "[" : "", address, v6 ? "]" : "", port);
    Status status = command_print(strbuf_view(&line));
    strbuf_free(&line);
    return status;
}

/* The socket that systemd passed to this process, or 0: sd_listen_fds(3). */
static Status find_socket(int *socket) {
    enum { FIRST_PASSED = 3 };
    const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    *socket = 0;
    if (!process || !count || strtol(process, NULL, 10) != (long)getpid()) return STATUS_OK;
    if (strcmp(count, "0") == 0) return STATUS_OK;
    if (strcmp(count, "1") != 0)
        return status_fail(STATUS_USAGE, "LISTEN_FDS passes %.20s sockets instead of one", count);
    *socket = FIRST_PASSED;
    return STATUS_OK;
}

static Status serve(ServiceOptions *options) {
    TRY(find_socket(&options->socket));
    catch_signals();
    mem_retain();
    return service_run(options, &stop_requested, &reload_requested, print_address);
}
#else
static Status serve(const ServiceOptions *options) {
    (void)options;
    status_fail(STATUS_USAGE, "this program was built without libmicrohttpd, which serving needs");
    return status_hint(STATUS_USAGE, "install it (Debian: libmicrohttpd-dev) and run 'make' again");
}
#endif

static Status run(const StrList *files, const void *options) {
    if (files->count > 0) return status_fail(STATUS_USAGE, "unexpected argument '%s'", files->items[0]);
    ServiceOptions own = *(const ServiceOptions *)options;
    own.models = (StrList){0};
    Status status = model_choice_list(&((const ServiceOptions *)options)->models, &own.models);
    if (status == STATUS_OK) status = serve(&own);
    strlist_free(&own.models);
    return status;
}

Status cmd_serve(int argc, char **argv) {
    ServiceOptions options = {0};
    OptionTable tables[] = {{SERVE_OPTIONS, &options}, {0}};
    return command_run(argc, argv, &TEXT, tables, run);
}
