/* fuzz_options.c - configurations and command lines: accepted values are the same after writing and reading.
 *
 * Input: one word of a command line per line, up to the first NUL byte; then a configuration.
 */
#include "base/utf8.h"
#include "fuzz/scratch.h"
#include "config/config.h"

enum { MAX_WORDS = 12 }; /* the search for the nearest name of an unknown word is slow */

static void parse_words(const OptionTable *tables, StrView lines) {
    char *words[MAX_WORDS] = {part_text(SV("fuzz"))};
    int count = 1;
    StrList positional = {0};
    HelpKind help = HELP_NONE;
    for (StrView word; count < MAX_WORDS && sv_next(&lines, '\n', &word);) words[count++] = part_text(word);
    if (options_parse(tables, count, words, &positional, &help, NULL) != STATUS_OK)
        require(status_message()[0] != '\0');
    require(positional.count < (size_t)count);
    for (int i = 1; i < count; i++) { /* each word as a value of --set */
        StrView value = sv(words[i]), key;
        if (strchr(words[i], '=') && sv_next(&value, '=', &key) &&
            options_set(tables, key, value) != STATUS_OK)
            require(status_message()[0] != '\0');
    }
    free(positional.items);
    for (int i = 0; i < count; i++) free(words[i]);
}

static void write_and_read(Config *config, const OptionTable *tables) {
    Config copy;
    OptionTable copies[6];
    Json *root;
    StrBuf first = {0}, second = {0};
    config_init(&copy);
    config_tables(&copy, copies);
    options_write_json(tables, false, &first);
    require(json_parse(&root, strbuf_view(&first), false) == STATUS_OK);
    require(options_read_json(copies, root) == STATUS_OK);
    options_write_json(copies, false, &second);
    require(strcmp(strbuf_text(&first), strbuf_text(&second)) == 0);
    require(config_check(config) == config_check(&copy));
    json_free(root);
    strbuf_free(&first);
    strbuf_free(&second);
    config_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    StrView rest = {(const char *)data, size};
    bool text = utf8_valid(rest); /* file names can be invalid UTF-8, JSON cannot */
    Config config;
    OptionTable tables[6];
    Json *root;
    config_init(&config);
    config_tables(&config, tables);
    parse_words(tables, next_part(&rest));
    if (json_parse(&root, rest, true) == STATUS_OK) {
        if (options_read_json(tables, root) != STATUS_OK) require(status_message()[0] != '\0');
        json_free(root);
    }
    if (text) write_and_read(&config, tables);
    config_free(&config);
    return 0;
}
