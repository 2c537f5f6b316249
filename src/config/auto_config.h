/* auto_config.h - model.size=auto: sizes, dropout and length of a training run that follow from the data.
 *
 * Little data needs few merges, some of which are skipped at random (Provilkov et al. 2020), small batches,
 * more dropout and more epochs (Sennrich and Zhang 2019), and a warm-up that ends long before the training
 * does. Very little data gets three more measures: dropout of states (Gal and Ghahramani 2016), a first third
 * of the training in both directions (Ding et al. 2021), and two decoders that rescore each other (Liu et al.
 * 2016). They would cost too much time with more data. The rule sets only keys that the user did not set.
 */
#ifndef CONFIG_AUTO_CONFIG_H
#define CONFIG_AUTO_CONFIG_H

#include "base/status.h"
#include "base/workers.h"
#include "config/config.h"
#include "data/corpus.h"

typedef struct {
    long pairs;    /* usable training pairs, up to data.limit */
    double words;  /* a side, on average of the two; of text without spaces, a fifth of its characters */
    long repeated; /* different words of both sides that occur at least twice; see auto_config_measure */
    long signs;    /* different characters of scripts without spaces, such as Chinese */
    long marked;   /* pairs that agree in their placeholders, and have some (text/placeholders.h) */
} DataSize;

/* Read all of data.train once, including the pairs that are held out. In text without spaces, two characters
 * count as a word that may be repeated. */
Status auto_config_measure(const Config *config, Workers *workers, DataSize *size);
/* The fraction of `pairs` to hold out: a tenth, at most about 1,000 pairs, and a larger fraction of few
 * pairs. */
double auto_config_held_out_fraction(long pairs);
/* Set the keys of the rule that the user did not set, and log each choice. `fine_tune`: the run starts from a
 * trained model. */
void auto_config_choose(Config *config, const UserOptions *user_options, DataSize size, bool fine_tune);

/* How long translations may be: as long as the targets of the training pairs are.
 *
 * The default of decode.max_length_factor suits pairs of words. If the source is much shorter than the
 * target, as numbers in digits are than their names in letters, the default would cut translations, in
 * validation first. So the default is raised to the factor that all but one in a thousand pairs need, and a
 * quarter more, up to the bound of model files; the log says so. Any other value than the default stays. */
void auto_config_fit_length(DecodeOptions *decode, const Corpus *pairs);
/* Is decode->max_length_factor at its default? */
bool auto_config_length_is_default(const DecodeOptions *decode);

#endif
