/* fuzz_bleu.c - attn-mt bleu with any options, references and translations.
 *
 * Input: words of a command line, then the references, then the translations, separated by NUL bytes. Words
 * with numbers of more than two digits are skipped, because they make the command slow.
 */
#include <ctype.h>
#include <fcntl.h>
#include "base/log.h"
#include "cli/commands.h"
#include "fuzz/scratch.h"

enum { MAX_WORDS = 32 };

static bool is_short(StrView word) {
    int digits = 0;
    for (size_t i = 0; i < word.length && digits < 3; i++)
        digits = isdigit((unsigned char)word.data[i]) || word.data[i] == 'e' ? digits + 1 : 0;
    return word.length > 0 && digits < 3;
}

/* Standard input and output of the command are /dev/null. */
static void call(int argc, char **argv) {
    static int null = -1;
    if (null < 0) null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int out = dup(STDOUT_FILENO);
    require(null >= 0 && out >= 0 && dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDIN_FILENO) >= 0);
    if (cmd_bleu(argc, argv) != STATUS_OK) require(status_message()[0] != '\0');
    require(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    StrView rest = {(const char *)data, size}, line = next_part(&rest), word;
    char *words[MAX_WORDS + 1] = {part_text(SV("bleu"))};
    int count = 1;
    log_set_level(LOG_QUIET);
    while (count < MAX_WORDS - 4 && sv_next(&line, ' ', &word))
        if (is_short(word)) words[count++] = part_text(word);
    words[count++] = part_text(sv(scratch_put("reference", next_part(&rest)).text));
    words[count++] = part_text(SV("-i"));
    words[count++] = part_text(sv(scratch_put("system", rest).text));
    call(count, words);
    for (int i = 0; i < count; i++) free(words[i]);
    return 0;
}
