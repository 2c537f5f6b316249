/* translate.c - translate lines of standard input with libattn_mt, and show where the model looked.
 *
 *     cc translate.c -o translate $(pkg-config --cflags --libs attn-mt)
 *     echo "i'm home ." | ./translate best.safetensors
 */
#include <attn_mt.h>
#include <stdio.h>
#include <string.h>

/* Each word of the translation with the source word that it looked at most. */
static void print_attention(const attn_mt_matrix *matrix) {
    for (int t = 0; t + 1 < matrix->rows; t++) {
        const float *row = matrix->weights + (size_t)t * (size_t)matrix->columns;
        int best = 0;
        for (int s = 1; s < matrix->columns; s++)
            if (row[s] > row[best]) best = s;
        printf("  %s <- %s %.2f\n", matrix->row_labels[t], matrix->column_labels[best], (double)row[best]);
    }
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "best.safetensors";
    char line[10000];
    attn_mt_model *model;
    attn_mt_error error;
    if (attn_mt_open(&model, &path, 1, ATTN_MT_FLOAT32, &error) != ATTN_MT_OK) {
        fprintf(stderr, "%s\n%s\n", error.message, error.hint);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        attn_mt_options options = {.attention = ATTN_MT_WORDS};
        attn_mt_result *result;
        const char *text = line;
        line[strcspn(line, "\n")] = '\0';
        if (attn_mt_translate(model, &text, 1, &options, &result, &error) != ATTN_MT_OK) {
            fprintf(stderr, "%s\n%s\n", error.message, error.hint);
            break;
        }
        const attn_mt_candidate *best = attn_mt_candidate_at(result, 0, 0);
        printf("%s\t%.4f\n", best->text, best->log_p);
        if (attn_mt_attention(result, 0, 0)) print_attention(attn_mt_attention(result, 0, 0));
        attn_mt_release(result);
    }
    attn_mt_close(model);
    return ferror(stdin) != 0;
}
