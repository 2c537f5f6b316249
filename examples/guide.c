/* guide.c - translate lines of standard input with a glossary and a translation memory. Prints the confidence
 * of each translation, or "memory" if the translation is the memory's.
 *
 *     cc guide.c -o guide $(pkg-config --cflags --libs attn-mt)
 *     ./guide en-fr terms.tsv memory.tmx < input.txt
 */
#include <attn_mt.h>
#include <stdio.h>
#include <string.h>

static attn_mt_model *model;
static attn_mt_glossary *glossary;
static attn_mt_memory *memory;

static attn_mt_status open_all(char **argv, attn_mt_error *error) {
    const char *terms = argv[2], *pairs = argv[3];
    attn_mt_status status = attn_mt_open_name(&model, argv[1], ATTN_MT_FLOAT32, error);
    if (status == ATTN_MT_OK) status = attn_mt_glossary_open(&glossary, model, &terms, 1, error);
    if (status == ATTN_MT_OK)
        status = attn_mt_memory_open(&memory, model, &pairs, 1, ATTN_MT_NO_ACCELERATOR, error);
    return status;
}

static attn_mt_status translate_line(const char *line, attn_mt_error *error) {
    attn_mt_guide guide = {.size = sizeof guide, .glossary = glossary, .memory = memory, .confidence = 1};
    attn_mt_options options = {.guide = &guide};
    attn_mt_result *result;
    attn_mt_status status = attn_mt_translate(model, &line, 1, &options, &result, error);
    if (status != ATTN_MT_OK) return status;
    const attn_mt_match *match = attn_mt_match_at(result, 0);
    const attn_mt_confidence *confidence = attn_mt_confidence_at(result, 0, 0);
    if (match && match->used)
        printf("memory");
    else if (confidence)
        printf("%.2f", confidence->confidence);
    printf("\t%s\n", attn_mt_candidate_at(result, 0, 0)->text);
    attn_mt_release(result);
    return ATTN_MT_OK;
}

int main(int argc, char **argv) {
    char line[10000];
    attn_mt_error error;
    if (argc != 4) {
        fprintf(stderr, "usage: guide MODEL GLOSSARY MEMORY < input.txt\n");
        return 2;
    }
    attn_mt_status status = open_all(argv, &error);
    while (status == ATTN_MT_OK && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        status = translate_line(line, &error);
    }
    if (status != ATTN_MT_OK) fprintf(stderr, "%s\n%s\n", error.message, error.hint);
    attn_mt_memory_close(memory);
    attn_mt_glossary_close(glossary);
    attn_mt_close(model);
    return status != ATTN_MT_OK;
}
