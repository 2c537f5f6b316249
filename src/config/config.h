/* config.h - all settings of a configuration file. Each field has its row in a table of config.c. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "io/options.h"
#include "data/batch.h"
#include "data/pairs.h"
#include "layers/positions.h"
#include "tokenizer/tokenizer.h"

#define MODEL_MAX_LAYERS 32

typedef enum { SIZE_MANUAL, SIZE_AUTO } SizeRule; /* config/auto_config.h */
typedef enum { ENCODER_RNN, ENCODER_SELF_ATTENTION, ENCODER_CONV } EncoderStyle;
typedef enum { DECODER_BAHDANAU, DECODER_CONDITIONAL, DECODER_LUONG, DECODER_TRANSFORMER } DecoderStyle;
typedef enum { START_MEAN, START_FINAL } DecoderStart;
typedef enum { TIE_NONE, TIE_TARGET, TIE_ALL } Tying;
typedef enum { READOUT_DEEP, READOUT_LINEAR } Readout;
typedef enum {
    SCHEDULE_AUTO,
    SCHEDULE_CONSTANT,
    SCHEDULE_INVERSE_SQRT,
    SCHEDULE_PLATEAU,
    SCHEDULE_LINEAR
} Schedule;
typedef enum { STOP_ON_BLEU, STOP_ON_LOSS, STOP_ON_CHRF } StopOn;

typedef struct {
    int size; /* SizeRule */
    int embedding, hidden;
    int tie;                /* Tying */
    double embedding_scale; /* standard deviation of the initial embeddings */
    int cell;               /* CellKind */
    bool layer_norm, residual;

    int encoder_style; /* EncoderStyle */
    int encoder_layers;
    bool bidirectional;
    int conv_width;

    int decoder_style; /* DecoderStyle */
    int decoder_layers;
    int decoder_start; /* DecoderStart */
    bool input_feeding;
    int autoreg;                 /* Autoregression of a Transformer decoder */
    bool decoder_self_attention; /* of recurrent decoders */
    bool right_to_left;          /* the last target token comes first */
    bool decoder_bidirectional;  /* a second decoder begins with it */
    int readout;                 /* Readout */

    int attention;      /* row of the score table */
    int attention_size; /* 0: hidden */

    int heads, feed_forward;  /* of self-attention blocks; feed_forward 0: 4 hidden */
    int decoder_feed_forward; /* 0: feed_forward */
    int activation;           /* ActivationFunction */
    bool attention_bias;
    int norm;                    /* NormPlace */
    double norm_epsilon;         /* of Transformer blocks */
    double embedding_multiplier; /* 0: sqrt(hidden) */
    bool add_source_eos;
    int positions;     /* PositionKind */
    int max_positions; /* of learned positions and of the location score */
    int max_relative_position;
    double dropout_embedding, dropout_layers, dropout_encoder, dropout_output, dropout_attention,
        dropout_state, word_dropout;
} ModelOptions;

/* Sizes that follow from the options. */
/* Hidden units of a feed-forward network of the encoder or of the decoder. */
int model_feed_forward_size(const ModelOptions *options, bool decoder);
int model_annotation_size(const ModelOptions *options); /* K: columns of the encoder's annotations */
int model_readout_size(const ModelOptions *options);    /* E: columns of what the output layer reads */
PositionForm model_positions(const ModelOptions *options);
/* The number of source rows that are attended to, of `length` with </s>: all, or all but </s>. */
int model_attended_rows(const ModelOptions *options, int length);
/* Does the decoder attend to the source at every step? */
bool model_attends(const ModelOptions *options);

typedef struct {
    int epochs, max_updates; /* 0 = no limit */
    double max_minutes;      /* training time after which to stop; 0 = no limit */
    int batch_size, batch_unit, batch_window, accumulate;
    double learning_rate, beta1, beta2, epsilon, clip, weight_decay, label_smoothing, average;
    double bpe_dropout_source, bpe_dropout_target;
    double unigram_alpha;   /* of subword regularization; 0 = none */
    double both_directions; /* fraction of the run */
    int schedule, warmup;
    double decay_factor; /* plateau */
    int decay_patience;
    int valid_every;       /* updates; 0 = every epoch */
    int valid_limit;       /* validation sentences translated for BLEU; 0 = all */
    int stop_on, patience; /* validations without improvement; 0 = never stop early */
    int bleu_tokenizer;    /* of bleu/bleu_tokenizers.h: "none" for text that is tokenized already */
    double save_minutes;   /* between saves of the training state */
    bool interpolate;      /* at the end, with the weights of --init: train/interpolate.h */
    int precision;         /* WEIGHT_FLOAT32 or WEIGHT_BF16, for products */
    int shortlist;         /* target tokens listed for each source token; 0: no list */
    int samples;           /* validation sentences shown in the log */
    int log_every;         /* updates between progress lines in a file; 0 = a minute */
    long long seed;
    double comm_timeout; /* seconds */
} TrainOptions;

/* When a beam search ends: search/search.h. */
typedef enum { STOP_NARROW, STOP_MARIAN, STOP_TRANSFORMERS, STOP_CTRANSLATE2 } EarlyStopping;
#define EARLY_STOPPING_CHOICES "narrow|marian|transformers|ctranslate2"

typedef struct {
    int beam_size;
    int early_stopping;         /* EarlyStopping */
    double length_penalty;      /* hypothesis score / length^alpha */
    double max_length_factor;   /* target tokens allowed per source token ... */
    int max_length_extra;       /* ... plus this number */
    int max_input_length;       /* source tokens of one chunk; longer lines are split */
    int mini_batch, maxi_batch; /* sentences decoded together; batches sorted by length in one window */
    int no_repeat_ngram;        /* no n-gram of this length occurs twice in a translation; 0: off */
    bool allow_unk;
    bool left_to_right; /* a model of two decoders uses only the left-to-right one */
} DecodeOptions;

typedef struct {
    DataOptions data;
    TextOptions text;
    ModelOptions model;
    TrainOptions train;
    DecodeOptions decode;
} Config;

/* The rows of each section, over the struct of that name. */
extern const Option DATA_OPTIONS[], TEXT_OPTIONS[], MODEL_OPTIONS[], TRAIN_OPTIONS[], DECODE_OPTIONS[];
/* All of them, in this order, for options_*: valid as long as the config. */
void config_tables(Config *config, OptionTable tables[6]);
void config_init(Config *config); /* all defaults */
void config_free(Config *config);
/* A copy whose strings and lists belong to `config`: its fields may be set, and it is never freed. */
Config config_view(const Config *config);
/* Combinations that no single range can exclude: STATUS_USAGE with the keys. */
Status config_check(const Config *config);
/* Does the model have any dropout? */
bool config_has_dropout(const ModelOptions *model);
/* Does a number of epochs or updates end the training? */
bool config_has_end(const TrainOptions *train);
/* train.schedule, never SCHEDULE_AUTO: that is linear if training has such an end, else inverse_sqrt. */
Schedule config_schedule(const TrainOptions *train);
/* Is the option with this key part of the model? A Transformer has no recurrent cells, for example. */
bool config_applies(const Config *config, const char *key);
/* The sections that a model file stores: text, model and decode. */
void config_write_json(const Config *config, StrBuf *out);
/* Read any sections over what `config` holds, and check the whole. */
Status config_read_json(Config *config, StrView json);

/* Target tokens that a model file may ask for, for each source token. */
enum { DECODE_MAX_FACTOR = 20 };
/* Bounds the search options of a model file: a beam of 20, translations of 20 tokens for each source token
 * and 200 more (20 if a chunk has so few tokens), chunks of 1000 tokens whose translations have at most 5000
 * tokens and those 200, 256 sentences at once, and 1000 times as many read ahead. */
DecodeOptions decode_options_bound(DecodeOptions decode);

/* The fields that are bounded. */
#define DECODE_BOUNDED(FIELD)                                                                                \
    FIELD(beam_size)                                                                                         \
    FIELD(max_length_factor)                                                                                 \
    FIELD(max_length_extra)                                                                                  \
    FIELD(max_input_length)                                                                                  \
    FIELD(mini_batch)                                                                                        \
    FIELD(maxi_batch)

#endif
