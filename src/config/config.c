/* config.c - the option tables of all settings of a configuration file. */
#include "config/config.h"

#include "base/unicode.h"
#include "bleu/bleu_tokenizers.h"
#include "layers/attention.h"
#include "layers/recurrent.h"
#include "layers/transformer.h"
#include "tokenizer/bpe.h"
#include "data/shortlist.h"

#define DATA(type_, member)   .type = OPT_##type_, OPT_FIELD(DataOptions, member)
#define TEXT(type_, member)   .type = OPT_##type_, OPT_FIELD(TextOptions, member)
#define MODEL(type_, member)  .type = OPT_##type_, OPT_FIELD(ModelOptions, member)
#define TRAIN(type_, member)  .type = OPT_##type_, OPT_FIELD(TrainOptions, member)
#define DECODE(type_, member) .type = OPT_##type_, OPT_FIELD(DecodeOptions, member)

/* A row is the key and type, then the help. */
/* clang-format off */
const Option DATA_OPTIONS[] = {
    {.key = "data.train", DATA(LIST, train), .arg = "FILES",
     .help = "sentence pairs to train on; tables with TABs, CSV, TMX, XLIFF, PO and JSON lines, or patterns "
             "such as train.{}, in which {} stands for each language; .gz files too", .group = "Data"},
    {.key = "data.valid", .common = true, DATA(LIST, valid), .arg = "FILES",
     .help = "sentence pairs to validate on"},
    {.key = "data.general", DATA(LIST, general), .arg = "FILES",
     .help = "sentence pairs of other text: fine-tuning prints how much BLEU it loses there "
             "(train.interpolate)"},
    {.key = "data.source", DATA(STRING, source), .default_text = "en", .arg = "NAME",
     .help = "language to translate from"},
    {.key = "data.target", DATA(STRING, target), .default_text = "fr", .arg = "NAME",
     .help = "language to translate to"},
    {.key = "data.columns", DATA(STRING, columns), .default_text = "en,fr", .arg = "NAMES",
     .help = "languages of the columns of tables whose first line does not name them"},
    {.key = "data.max_length", DATA(INT, max_length), .default_text = "100", .max = 100000, .arg = "N",
     .help = "drop training pairs with more than N tokens on a side; 0 = keep all"},
    {.key = "data.max_ratio", DATA(REAL, max_ratio), .default_text = "0", .max = 1e6, .arg = "X",
     .help = "drop training pairs if one side is more than X times as long as the other; 0 = keep all"},
    {.key = "data.held_out", DATA(REAL, held_out), .default_text = "0", .max = 0.9, .arg = "X",
     .help = "share of the training pairs that is held out for validation if data.valid is empty; pairs "
             "with the same source stay together; 0 = none"},
    {.key = "data.limit", DATA(INT, limit), .default_text = "0", .max = 2e9, .arg = "N",
     .help = "use only the first N training pairs, including those held out; 0 = all"},
    {.key = "data.placeholders", DATA(BOOL, placeholders), .default_text = "false",
     .help = "replace the placeholders (%s {0} <b>) of half of the pairs that have the same ones on both "
             "sides by reserved tokens; on strings of programs: 3.5 BLEU more for new placeholders, 0.6 "
             "less for known ones"},
    {0}};

const Option TEXT_OPTIONS[] = {
    {.key = "text.tokenizer", TEXT(CHOICE, tokenizer), .default_text = "bpe", .choices = TOKENIZER_CHOICES,
     .arg = "NAME",
     .help = "tokens are subwords (bpe, or pieces of a unigram model as in SentencePiece) or words; "
             "sentencepiece is for imported models and cannot be learned",
     .group = "Text"},
    {.key = "text.normalize", TEXT(CHOICE, normalize), .default_text = "nfc", .choices = NORMALIZE_CHOICES,
     .arg = "FORM", .help = "Unicode normal form"},
    {.key = "text.lowercase", TEXT(BOOL, lowercase), .default_text = "false",
     .help = "convert text to lower case, character by character (no case folding)"},
    {.key = "text.bpe_merges", TEXT(INT, bpe_merges), .default_text = "8000", .max = 1e6, .arg = "N",
     .help = "number of byte-pair merges to learn"},
    {.key = "text.bpe_marker", TEXT(CHOICE, bpe_marker), .default_text = "prefix",
     .choices = BPE_MARKER_CHOICES,
     .arg = "KIND",
     .help = "how subwords mark the borders of words; prefix preserves all white space, suffix is "
             "subword-nmt's style"},
    {.key = "text.unigram_pieces", TEXT(INT, unigram_pieces), .default_text = "8000", .min = 1, .max = 1e6,
     .arg = "N",
     .help = "number of pieces of a unigram model to learn, characters included"},
    {.key = "text.joint", TEXT(BOOL, joint), .default_text = "true",
     .help = "one vocabulary and one list of merges for both languages"},
    {.key = "text.min_count", TEXT(INT, min_count), .default_text = "2", .min = 1, .max = 1e9, .arg = "N",
     .help = "minimum count of a token; rarer tokens become <unk> (word), or are split further (bpe); of a "
             "character (unigram)"},
    {.key = "text.max_vocab", TEXT(INT, max_vocab), .default_text = "0", .max = 1e7, .arg = "N",
     .help = "maximum size of a vocabulary; 0 = no limit"},
    {.key = "text.bpe_codes", TEXT(STRING, bpe_codes), .arg = "FILE",
     .help = "read the merges from FILE, in subword-nmt's format, instead of learning them"},
    {0}};

const Option MODEL_OPTIONS[] = {
    {.key = "model.size", MODEL(CHOICE, size), .default_text = "manual", .choices = "manual|auto",
     .arg = "RULE",
     .help = "auto: choose every size, dropout rate and training length that is not set from the data; "
             "this is the default if no configuration is read", .group = "Model"},
    {.key = "model.embedding", MODEL(INT, embedding), .default_text = "256", .min = 1, .max = 65536,
     .arg = "N",
     .help = "size of embeddings"},
    {.key = "model.hidden", .common = true, MODEL(INT, hidden), .default_text = "256", .min = 1, .max = 65536,
     .arg = "N",
     .help = "size of hidden states and layers"},
    {.key = "model.tie", MODEL(CHOICE, tie), .default_text = "all", .choices = "none|target|all",
     .arg = "KIND",
     .help = "share weights between target embedding and output layer (target), or between these and the "
             "source embedding (all)"},
    {.key = "model.embedding_scale", MODEL(REAL, embedding_scale), .default_text = "0.1", .min = 1e-6,
     .max = 10,
     .arg = "X",
     .help = "standard deviation of the initial embeddings"},
    {.key = "model.cell", MODEL(CHOICE, cell), .default_text = "gru", .choices = CELL_CHOICES, .arg = "KIND",
     .help = "recurrent cell of encoder and decoder"},
    {.key = "model.layer_norm", MODEL(BOOL, layer_norm), .default_text = "false",
     .help = "use layer normalization in recurrent cells, convolutions and readout"},
    {.key = "model.residual", MODEL(BOOL, residual), .default_text = "false",
     .help = "use residual connections around the upper recurrent layers"},
    {.key = "model.encoder.style", MODEL(CHOICE, encoder_style),
     .default_text = "rnn", .choices = "rnn|self_attention|conv", .arg = "STYLE",
     .help = "recurrent layers, Transformer blocks, or gated convolutions"},
    {.key = "model.encoder.layers", MODEL(INT, encoder_layers),
     .default_text = "1", .min = 1, .max = MODEL_MAX_LAYERS, .arg = "N",
     .help = "number of encoder layers"},
    {.key = "model.encoder.bidirectional", MODEL(BOOL, bidirectional), .default_text = "true",
     .help = "let a recurrent encoder read in both directions"},
    {.key = "model.encoder.width", MODEL(INT, conv_width), .default_text = "3", .min = 1, .max = 99,
     .arg = "N",
     .help = "number of tokens that a convolution sees"},
    {.key = "model.decoder.style", MODEL(CHOICE, decoder_style),
     .default_text = "conditional", .choices = "bahdanau|conditional|luong|transformer", .arg = "STYLE",
     .help = "attention query of a recurrent decoder: the previous state (bahdanau), the state after a "
             "first transition (conditional), or the output (luong); or a decoder of Transformer blocks"},
    {.key = "model.decoder.layers", MODEL(INT, decoder_layers),
     .default_text = "1", .min = 1, .max = MODEL_MAX_LAYERS, .arg = "N",
     .help = "number of decoder layers"},
    {.key = "model.decoder.start", MODEL(CHOICE, decoder_start), .default_text = "mean",
     .choices = "mean|final",
     .arg = "KIND",
     .help = "first recurrent state: computed from the mean annotation, or the final states of the "
             "encoder"},
    {.key = "model.decoder.input_feeding", MODEL(BOOL, input_feeding), .default_text = "false",
     .help = "luong: feed the attentional vector into the next step"},
    {.key = "model.decoder.autoreg", MODEL(CHOICE, autoreg), .default_text = "self_attention",
     .choices = AUTOREG_CHOICES, .arg = "KIND",
     .help = "how a Transformer decoder reads the target so far: self-attention, or a simple recurrent unit "
             "(ssru), which is faster"},
    {.key = "model.decoder.self_attention", MODEL(BOOL, decoder_self_attention), .default_text = "false",
     .help = "let the readout of a recurrent decoder attend to the decoder's earlier outputs"},
    {.key = "model.decoder.right_to_left", MODEL(BOOL, right_to_left), .default_text = "false",
     .help = "write translations from the last token to the first; such a model can rescore left-to-right "
             "models in an ensemble"},
    {.key = "model.decoder.bidirectional", MODEL(BOOL, decoder_bidirectional), .default_text = "false",
     .help = "add a second decoder, which writes right to left; the two rescore each other's translations"},
    {.key = "model.decoder.readout", MODEL(CHOICE, readout), .default_text = "deep", .choices = "deep|linear",
     .arg = "KIND",
     .help = "the output layer reads state, context and embedding (deep), or only the state (linear); "
             "luong: the attentional vector has the size of the embedding, or of the state"},
    {.key = "model.attention", MODEL(CHOICE, attention), .default_text = "additive",
     .choices = ATTENTION_CHOICES,
     .arg = "NAME",
     .help = "attention score function of recurrent decoders; none: the decoder reads the encoder's final "
             "state at every step instead"},
    {.key = "model.attention_size", MODEL(INT, attention_size), .default_text = "0", .max = 65536, .arg = "N",
     .help = "hidden units of the scores additive and concat; 0 = size of the states"},
    {.key = "model.heads", MODEL(INT, heads), .default_text = "4", .min = 1, .max = 1024, .arg = "N",
     .help = "number of attention heads in Transformer blocks"},
    {.key = "model.feed_forward", MODEL(INT, feed_forward), .default_text = "0", .max = 262144, .arg = "N",
     .help = "hidden units of the feed-forward network in Transformer blocks; 0 = 4 times model.hidden"},
    {.key = "model.decoder.feed_forward", MODEL(INT, decoder_feed_forward), .default_text = "0",
     .max = 262144, .arg = "N",
     .help = "the same for the decoder's blocks alone; 0 = as model.feed_forward"},
    {.key = "model.activation", MODEL(CHOICE, activation), .default_text = "relu",
     .choices = ACTIVATION_CHOICES, .arg = "NAME",
     .help = "activation function of the feed-forward network in Transformer blocks"},
    {.key = "model.attention_bias", MODEL(BOOL, attention_bias), .default_text = "false",
     .help = "use biases in the queries, keys, values and outputs of attention in Transformer blocks"},
    {.key = "model.norm", MODEL(CHOICE, norm), .default_text = "pre", .choices = NORM_CHOICES, .arg = "PLACE",
     .help = "normalize before each part of a Transformer block (pre), or after it, as in the paper "
             "(post)"},
    {.key = "model.norm_epsilon", MODEL(REAL, norm_epsilon), .default_text = "1e-5", .min = 1e-12, .max = 1,
     .arg = "X",
     .help = "added to the variance in the layer normalization of Transformer blocks"},
    {.key = "model.embedding_multiplier", MODEL(REAL, embedding_multiplier), .default_text = "0", .max = 1e6,
     .arg = "X",
     .help = "factor of the embeddings before Transformer blocks and convolutions; 0 = square root of "
             "model.hidden"},
    {.key = "model.add_source_eos", MODEL(BOOL, add_source_eos), .default_text = "true",
     .help = "let a Transformer attend to </s> after the source"},
    {.key = "model.positions", MODEL(CHOICE, positions),
     .default_text = "sinusoidal", .choices = POSITION_CHOICES, .arg = "KIND",
     .help = "positional encoding of Transformer blocks and convolutions; sinusoidal_halves has sines before "
             "cosines, as Hugging Face's models, marian also has Marian's frequencies"},
    {.key = "model.max_positions", MODEL(INT, max_positions), .default_text = "256", .min = 1, .max = 65536,
     .arg = "N",
     .help = "number of positions that learned encodings and the location score distinguish"},
    {.key = "model.max_relative_position",
     MODEL(INT, max_relative_position), .default_text = "16", .min = 1, .max = 4096,
     .arg = "N",
     .help = "maximum distance that relative positions distinguish"},
    {.key = "model.dropout_embedding", MODEL(REAL, dropout_embedding), .default_text = "0.2", .max = 0.95,
     .arg = "P",
     .help = "dropout rate of embeddings"},
    {.key = "model.dropout_layers", MODEL(REAL, dropout_layers), .default_text = "0.2", .max = 0.95,
     .arg = "P",
     .help = "dropout rate between layers and in Transformer blocks"},
    {.key = "model.dropout_encoder", MODEL(REAL, dropout_encoder), .default_text = "0.2", .max = 0.95,
     .arg = "P",
     .help = "dropout rate of the annotations"},
    {.key = "model.dropout_output", MODEL(REAL, dropout_output), .default_text = "0.2", .max = 0.95,
     .arg = "P",
     .help = "dropout rate before the output layer"},
    {.key = "model.dropout_attention", MODEL(REAL, dropout_attention), .default_text = "0", .max = 0.95,
     .arg = "P",
     .help = "dropout rate of attention weights"},
    {.key = "model.dropout_state", MODEL(REAL, dropout_state), .default_text = "0", .max = 0.95, .arg = "P",
     .help = "dropout rate of the state that a recurrent cell reads, with one mask for all steps of a "
             "sentence"},
    {.key = "model.word_dropout", MODEL(REAL, word_dropout), .default_text = "0", .max = 0.95, .arg = "P",
     .help = "probability that the embedding of a token is set to zero"},
    {0}};

const Option TRAIN_OPTIONS[] = {
    {.key = "train.epochs", .common = true, .letter = 'e', TRAIN(INT, epochs),
     .default_text = "20", .max = 1e6, .arg = "N",
     .help = "passes over the training data, 0 = no limit", .group = "Training"},
    {.key = "train.max_updates", TRAIN(INT, max_updates),
     .default_text = "0", .max = 2e9, .arg = "N",
     .help = "stop after N updates; 0 = no limit"},
    {.key = "train.max_minutes", TRAIN(REAL, max_minutes), .default_text = "0", .max = 1e6, .arg = "X",
     .help = "stop after X minutes; 0 = no limit; the schedule of the learning rate does not depend on it"},
    {.key = "train.batch_size", TRAIN(INT, batch_size), .default_text = "64", .min = 1, .max = 1e7,
     .arg = "N",
     .help = "number of sentences or tokens in a batch"},
    {.key = "train.batch_unit", TRAIN(CHOICE, batch_unit), .default_text = "sentences",
     .choices = BATCH_CHOICES,
     .arg = "UNIT",
     .help = "unit of train.batch_size"},
    {.key = "train.batch_window", TRAIN(INT, batch_window), .default_text = "100", .min = 1, .max = 1e6,
     .arg = "N",
     .help = "number of batches that are sorted by length together"},
    {.key = "train.accumulate", TRAIN(INT, accumulate), .default_text = "1", .min = 1, .max = 10000,
     .arg = "N",
     .help = "number of batches whose gradients make one update"},
    {.key = "train.learning_rate", TRAIN(REAL, learning_rate), .default_text = "0.001", .max = 1e9,
     .arg = "X",
     .help = "peak learning rate of Adam"},
    {.key = "train.beta1", TRAIN(REAL, beta1), .default_text = "0.9", .max = 0.99999, .arg = "X",
     .help = "Adam: decay rate of the mean gradient"},
    {.key = "train.beta2", TRAIN(REAL, beta2), .default_text = "0.999", .max = 0.99999, .arg = "X",
     .help = "Adam: decay rate of the mean squared gradient"},
    {.key = "train.epsilon", TRAIN(REAL, epsilon), .default_text = "1e-8", .min = 1e-15, .max = 1,
     .arg = "X",
     .help = "Adam: added to the denominator, which could be 0 otherwise"},
    {.key = "train.schedule", TRAIN(CHOICE, schedule),
     .default_text = "auto", .choices = "auto|constant|inverse_sqrt|plateau|linear", .arg = "KIND",
     .help = "learning rate after warm-up: constant, 1/sqrt(update), cut on plateaus, or linear from the "
             "peak to 0 at the end; auto is linear if train.epochs or train.max_updates sets the end, "
             "otherwise inverse_sqrt"},
    {.key = "train.warmup", TRAIN(INT, warmup), .default_text = "400", .max = 1e9, .arg = "N",
     .help = "number of updates of linear warm-up"},
    {.key = "train.decay_factor", TRAIN(REAL, decay_factor), .default_text = "0.5", .max = 1, .arg = "X",
     .help = "plateau: factor of the learning rate at a cut"},
    {.key = "train.decay_patience", TRAIN(INT, decay_patience), .default_text = "2", .min = 1, .max = 10000,
     .arg = "N",
     .help = "plateau: validations without improvement before a cut"},
    {.key = "train.clip", TRAIN(REAL, clip), .default_text = "1", .max = 1e9, .arg = "X",
     .help = "maximum norm of the gradient; a larger gradient is scaled down; 0 = no limit"},
    {.key = "train.weight_decay", TRAIN(REAL, weight_decay), .default_text = "0", .max = 1, .arg = "X",
     .help = "decoupled weight decay"},
    {.key = "train.label_smoothing", TRAIN(REAL, label_smoothing), .default_text = "0.1", .max = 0.99,
     .arg = "X",
     .help = "probability spread evenly over all tokens"},
    {.key = "train.bpe_dropout_source", TRAIN(REAL, bpe_dropout_source), .default_text = "0", .max = 0.95,
     .arg = "P",
     .help = "BPE-dropout: probability of skipping a merge in source sentences, which are split "
             "differently each epoch; 0 = off"},
    {.key = "train.bpe_dropout_target", TRAIN(REAL, bpe_dropout_target), .default_text = "0", .max = 0.95,
     .arg = "P",
     .help = "BPE-dropout of target sentences; 0 = off"},
    {.key = "train.unigram_alpha", TRAIN(REAL, unigram_alpha), .default_text = "0", .max = 10, .arg = "X",
     .help = "subword regularization: each epoch draws the pieces of a sentence by their probability to the "
             "power of X, such as 0.2; the smaller, the more varied; 0 = always the most probable pieces"},
    {.key = "train.both_directions", TRAIN(REAL, both_directions), .default_text = "0", .max = 1, .arg = "X",
     .help = "during the first share X of the run, every other update trains translation from target to "
             "source; needs one vocabulary (text.joint)"},
    {.key = "train.average", TRAIN(REAL, average), .default_text = "0.001", .max = 1, .arg = "X",
     .help = "rate of the moving average of the weights, which is validated and saved; early updates use "
             "the larger rate 9 / (10 + update); 0 = off"},
    {.key = "train.interpolate", TRAIN(BOOL, interpolate), .default_text = "false",
     .help = "at the end, validate means of the fine-tuned weights and those of --init, and keep the one "
             "closest to the original model that has 95 % of the best gain; with model.size=auto: true"},
    {.key = "train.precision", TRAIN(CHOICE, precision), .default_text = "float32", .choices = "float32|bf16",
     .arg = "NUMBERS",
     .help = "number format of matrix products; bf16 is faster on processors that multiply 16-bit "
             "numbers; sums, gradients and weights stay float32"},
    {.key = "train.shortlist", TRAIN(INT, shortlist), .default_text = "100", .max = SHORTLIST_MAX,
     .arg = "N",
     .help = "store up to N likely translations of each source token in the model, for translate "
             "--shortlist; 0 = none"},
    {.key = "train.valid_every", TRAIN(INT, valid_every), .default_text = "0", .max = 2e9, .arg = "N",
     .help = "updates between validations; 0 = once per epoch"},
    {.key = "train.valid_limit", TRAIN(INT, valid_limit), .default_text = "0", .max = 2e9, .arg = "N",
     .help = "number of validation pairs that are translated for BLEU; 0 = all"},
    {.key = "train.stop_on", TRAIN(CHOICE, stop_on), .default_text = "bleu",
     .choices = "bleu|loss|chrf", .arg = "SCORE",
     .help = "score that decides which model is best; ties go to the lower validation loss"},
    {.key = "train.patience", .common = true, TRAIN(INT, patience), .default_text = "0", .max = 1e6,
     .arg = "N",
     .help = "stop after N validations without improvement, 0 = never"},
    {.key = "train.bleu_tokenizer", TRAIN(CHOICE, bleu_tokenizer),
     .default_text = "13a", .choices = BLEU_TOKENIZER_CHOICES, .arg = "NAME",
     .help = "tokenizer of validation BLEU; use none for tokenized text; if it is not set, zh is used for "
             "Chinese, and char for other languages without spaces"},
    {.key = "train.save_minutes", TRAIN(REAL, save_minutes), .default_text = "5", .min = 0.01, .max = 1e6,
     .arg = "X",
     .help = "minutes between saves of the training state, in addition to those at validations"},
    {.key = "train.samples", TRAIN(INT, samples), .default_text = "2", .max = 100, .arg = "N",
     .help = "number of sample translations shown at each validation"},
    {.key = "train.log_every", TRAIN(INT, log_every), .default_text = "0", .max = 2e9,
     .arg = "N",
     .help = "updates between progress lines if standard error is not a terminal; 0 = one line per minute"},
    {.key = "train.seed", .common = true, TRAIN(LONG, seed), .default_text = "1", .max = 9e15, .arg = "N",
     .help = "seed of all random numbers"},
    {.key = "train.comm_timeout", TRAIN(REAL, comm_timeout), .default_text = "60", .min = 2, .max = 1e6,
     .arg = "X",
     .help = "with several processes: seconds until the run ends if one of them is lost"},
    {0}};

const Option DECODE_OPTIONS[] = {
    {.key = "decode.beam_size", .common = true, .letter = 'b', DECODE(INT, beam_size),
     .default_text = "5", .min = 1, .max = 1000, .arg = "N",
     .help = "hypotheses per sentence, 1 = greedy search", .group = "Search"},
    {.key = "decode.early_stopping", DECODE(CHOICE, early_stopping), .default_text = "narrow",
     .choices = EARLY_STOPPING_CHOICES, .arg = "KIND",
     .help = "when a beam search ends; narrow: each translation that ends makes the beam narrower, and the "
             "search ends when no other can be better; or as in another program (docs/public-models.md)"},
    {.key = "decode.length_penalty", .letter = 'n', DECODE(REAL, length_penalty),
     .default_text = "1", .max = 10, .implied_value = "1", .arg = "ALPHA",
     .help = "divide scores by length^ALPHA; 0 = off"},
    {.key = "decode.max_length_factor", DECODE(REAL, max_length_factor),
     .default_text = "2", .max = 1000, .arg = "X",
     .help = "maximum length of a translation: X target tokens per source token, plus "
             "decode.max_length_extra; training raises the default if its pairs need more"},
    {.key = "decode.max_length_extra", DECODE(INT, max_length_extra),
     .default_text = "10", .max = 100000, .arg = "N",
     .help = "target tokens added to this maximum"},
    {.key = "decode.max_input_length", DECODE(INT, max_input_length),
     .default_text = "200", .min = 1, .max = 100000, .arg = "N",
     .help = "maximum length of a source in tokens; longer lines are translated in chunks"},
    {.key = "decode.mini_batch", DECODE(INT, mini_batch),
     .default_text = "32", .min = 1, .max = 100000, .arg = "N",
     .help = "sentences translated together"},
    {.key = "decode.maxi_batch", DECODE(INT, maxi_batch),
     .default_text = "50", .min = 1, .max = 100000, .arg = "N",
     .help = "number of batches that are read ahead and sorted by length"},
    {.key = "decode.no_repeat_ngram", DECODE(INT, no_repeat_ngram),
     .default_text = "0", .max = 100, .arg = "N",
     .help = "a translation repeats no sequence of N tokens; 0 = off"},
    {.key = "decode.allow_unk", DECODE(BOOL, allow_unk), .default_text = "false",
     .help = "allow <unk> in the output"},
    {.key = "decode.left_to_right", DECODE(BOOL, left_to_right), .default_text = "false",
     .help = "use only the first decoder of a model with two; faster, but less accurate"},
    {0}};

/* clang-format on */

void config_tables(Config *config, OptionTable tables[6]) {
    tables[0] = (OptionTable){DATA_OPTIONS, &config->data};
    tables[1] = (OptionTable){TEXT_OPTIONS, &config->text};
    tables[2] = (OptionTable){MODEL_OPTIONS, &config->model};
    tables[3] = (OptionTable){TRAIN_OPTIONS, &config->train};
    tables[4] = (OptionTable){DECODE_OPTIONS, &config->decode};
    tables[5] = (OptionTable){0};
}

void config_init(Config *config) {
    OptionTable tables[6];
    *config = (Config){0};
    config_tables(config, tables);
    options_defaults(tables);
}

void config_free(Config *config) {
    OptionTable tables[6];
    config_tables(config, tables);
    options_free(tables);
}

int model_feed_forward_size(const ModelOptions *o, bool decoder) {
    if (decoder && o->decoder_feed_forward) return o->decoder_feed_forward;
    return o->feed_forward ? o->feed_forward : 4 * o->hidden;
}

int model_annotation_size(const ModelOptions *o) {
    return o->encoder_style == ENCODER_RNN && o->bidirectional ? 2 * o->hidden : o->hidden;
}

int model_readout_size(const ModelOptions *o) {
    return o->decoder_style != DECODER_TRANSFORMER && o->readout == READOUT_DEEP ? o->embedding : o->hidden;
}

PositionForm model_positions(const ModelOptions *o) {
    return (PositionForm){.kind = (PositionKind)o->positions,
                          .positions = o->max_positions,
                          .inputs = o->embedding,
                          .size = o->hidden,
                          .multiplier = o->embedding_multiplier};
}

int model_attended_rows(const ModelOptions *o, int length) {
    return o->add_source_eos || length == 1 ? length : length - 1;
}

bool model_attends(const ModelOptions *o) {
    return o->decoder_style == DECODER_TRANSFORMER || !attention_is_none(o->attention);
}

bool config_has_end(const TrainOptions *t) { return t->epochs || t->max_updates; }

Schedule config_schedule(const TrainOptions *t) {
    if (t->schedule != SCHEDULE_AUTO) return (Schedule)t->schedule;
    return config_has_end(t) ? SCHEDULE_LINEAR : SCHEDULE_INVERSE_SQRT;
}

bool config_has_dropout(const ModelOptions *m) {
    return m->dropout_embedding > 0 || m->dropout_layers > 0 || m->dropout_encoder > 0 ||
           m->dropout_output > 0 || m->dropout_attention > 0 || m->dropout_state > 0 || m->word_dropout > 0;
}

Config config_view(const Config *config) { return *config; }

void config_write_json(const Config *config, StrBuf *out) {
    Config copy = config_view(config);
    const OptionTable tables[] = {
        {TEXT_OPTIONS, &copy.text}, {MODEL_OPTIONS, &copy.model}, {DECODE_OPTIONS, &copy.decode}, {0}};
    options_write_json(tables, false, out);
}

Status config_read_json(Config *config, StrView json) {
    OptionTable tables[6];
    Json *root;
    config_tables(config, tables);
    TRY(json_parse(&root, json, false));
    Status status = options_read_json(tables, root);
    json_free(root);
    TRY(status);
    return config_check(config);
}

/* The work and memory of a chunk of a line are at most in proportion to beam_size times the length of its
 * translation, which an untrusted file must not set without bounds. */
static const DecodeOptions MAX_DECODE = {.beam_size = 20,
                                         .max_length_factor = DECODE_MAX_FACTOR,
                                         .max_length_extra = 200,
                                         .max_input_length = 1000,
                                         .mini_batch = 256,
                                         .maxi_batch = 1000};
/* Steps of a chunk, without max_length_extra, which is bounded separately for short chunks. */
enum { MAX_STEPS = 5000, FEW_EXTRA = 20 };

DecodeOptions decode_options_bound(DecodeOptions decode) {
#define BOUND(field)                                                                                         \
    if (decode.field > MAX_DECODE.field) decode.field = MAX_DECODE.field;
    DECODE_BOUNDED(BOUND)
    if (decode.max_length_factor * decode.max_input_length > MAX_STEPS)
        decode.max_input_length = (int)(MAX_STEPS / decode.max_length_factor);
    int extra = decode.max_input_length > FEW_EXTRA ? decode.max_input_length : FEW_EXTRA;
    if (decode.max_length_extra > extra) decode.max_length_extra = extra;
    return decode;
}
