/* cmd_demo.c - attn-mt demo: the demonstrations of textbook/, as numbers and pictures. */
#include <string.h>
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "textbook/demo.h"

static const Demo *const DEMOS[] = {&DEMO_POOLING, &DEMO_ATTENTION, &DEMO_SOFTMAX, &DEMO_MULTIHEAD,
                                    &DEMO_POSITIONS};
enum { DEMO_COUNT = sizeof DEMOS / sizeof *DEMOS };

static const char USAGE[] =
    "Usage: attn-mt demo pooling [OPTION...]\n"
    "       attn-mt demo attention [OPTION...]\n"
    "       attn-mt demo softmax [OPTION...]\n"
    "       attn-mt demo multihead [OPTION...]\n"
    "       attn-mt demo positions [OPTION...]\n"
    "\n"
    "Computes small textbook examples, which need no model. They print their numbers\n"
    "and shapes; --output also draws them. All but pooling use the layers of real\n"
    "models.\n"
    "  pooling    regression by attention, with Gaussian and other kernels of several\n"
    "             widths, and with a learned width\n"
    "  attention  queries attend to ten keys, of which only 2 and 6 are valid. Prints\n"
    "             queries, keys, values, the parameters of the score (a row q times\n"
    "             them is q W), scores, weights and contexts. Weights beyond the\n"
    "             valid length are exactly 0; weights of equal keys are equal\n"
    "  softmax    softmax over the first scores of each row (masked softmax)\n"
    "  multihead  five heads attend to six keys, of which only 3 and 2 are valid\n"
    "  positions  sinusoidal positional encoding: columns 6 to 9 as curves, the whole\n"
    "             matrix, the binary numbers 0 to 7, and the rotation that maps the\n"
    "             encoding of a position to that of a later one\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt demo pooling --width 0.5\n"
    "  attn-mt demo positions\n"
    "  attn-mt demo positions --length 100 --size 64 --offset 5 -o long\n"
    "  attn-mt demo attention --score scaled_dot --keys random --seed 7\n"
    "  attn-mt demo attention --lengths \"1,3;2,4\"        two queries for each of two examples\n"
    "  attn-mt demo softmax --lengths \"1,3;2,4\"\n"
    "  attn-mt demo multihead --keys random\n";

static Status fail_demo(const char *name) {
    const char *names[DEMO_COUNT];
    for (int i = 0; i < DEMO_COUNT; i++) names[i] = DEMOS[i]->name;
    const char *nearest = name ? str_nearest(name, names, DEMO_COUNT) : NULL;
    if (name)
        status_fail(STATUS_USAGE, "unknown demo '%s'", name);
    else
        status_fail(STATUS_USAGE, "no demo given");
    if (nearest) return status_hint(STATUS_USAGE, "did you mean 'attn-mt demo %s'?", nearest);
    return status_hint(STATUS_USAGE, "attn-mt demo attention, or attn-mt demo pooling, softmax, multihead or "
                                     "positions, then its options");
}

static const Demo *demo_named(const char *name) {
    for (int i = 0; i < DEMO_COUNT; i++)
        if (strcmp(name, DEMOS[i]->name) == 0) return DEMOS[i];
    return NULL;
}

/* The name of the demo if options precede it: the first argument that is neither an option nor the value of
 * an option, by the options of that demo. */
static const char *find_name(int argc, char **argv, const OptionTable *all) {
    if (argc < 2 || argv[1][0] != '-') return argc > 1 ? argv[1] : NULL;
    const char *name = NULL;
    for (int i = 0; i < DEMO_COUNT && !name; i++) {
        OptionTable one[] = {all[i], {0}};
        StrList rest;
        HelpKind help;
        options_defaults(one);
        if (options_parse(one, argc, argv, &rest, &help, NULL) == STATUS_OK && !help && rest.count > 0 &&
            strcmp(rest.items[0], DEMOS[i]->name) == 0)
            name = rest.items[0];
        mem_free(rest.items);
        options_free(one);
    }
    /* A wrong option precedes the name: parsing with the options of this demo reports it. */
    if (!name && demo_named(argv[argc - 1])) name = argv[argc - 1];
    return name;
}

/* `all`: the options of each demo. */
static Status demo(int argc, char **argv, const OptionTable *all) {
    const char *name = find_name(argc, argv, all);
    const Demo *row = name ? demo_named(name) : NULL;
    if (name && !row) return fail_demo(name);
    OptionTable one[] = {{0}, {0}};
    for (int i = 0; i < DEMO_COUNT; i++)
        if (DEMOS[i] == row) one[0] = all[i];
    /* Without a name: --help, or an option that no demo has. */
    const OptionTable *tables = name ? one : all;
    StrList rest;
    HelpKind help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, &rest, &help, NULL);
    if (status == STATUS_OK && help) {
        status = command_print_help(&(CommandText){USAGE, EXAMPLES, NULL}, all, help);
    } else if (status == STATUS_OK && !name) {
        status = fail_demo(NULL);
    } else if (status == STATUS_OK && rest.count > 1) {
        const char *other = rest.items[rest.items[0] == name];
        status_fail(STATUS_USAGE, "unexpected argument '%s': demo %s takes only options", other, name);
        status = status_hint(STATUS_USAGE, "attn-mt demo --help lists them");
    } else if (status == STATUS_OK) {
        status = row->run(one[0].target);
    }
    mem_free(rest.items);
    options_free(tables);
    return status;
}

Status cmd_demo(int argc, char **argv) {
    OptionTable all[DEMO_COUNT + 1] = {0};
    for (int i = 0; i < DEMO_COUNT; i++)
        all[i] = (OptionTable){DEMOS[i]->options, mem_alloc(1, DEMOS[i]->size)};
    Status status = demo(argc, argv, all);
    for (int i = 0; i < DEMO_COUNT; i++) mem_free(all[i].target);
    return status;
}
