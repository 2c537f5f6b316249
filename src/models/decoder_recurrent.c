/* decoder_recurrent.c - see decoder_recurrent.h. */
#include "models/decoder_recurrent.h"

#include <assert.h>
#include "autograd/activations.h"
#include "models/dropout_streams.h"
#include "models/encoder.h"

/* ---- declaring ---- */

static bool is_deep(const ModelOptions *o) { return o->readout == READOUT_DEEP; }

void decoder_recurrent_declare(ParamSet *params, const char *name, const ModelOptions *o, void *decoder) {
    RecurrentDecoder *d = decoder;
    CellKind kind = (CellKind)o->cell;
    int H = o->hidden, K = model_annotation_size(o), D = o->embedding, E = is_deep(o) ? D : H;
    int A = o->attention_size ? o->attention_size : H, gates = cell_gates(kind) * H;
    *d = (RecurrentDecoder){.options = o};
    AttentionSizes sizes = {.query = H, .value = K, .hidden = A, .positions = o->max_positions};
    d->attention = attention_new(params, param_name(name, "attention"), o->attention, sizes);
    for (int l = 0; l < o->decoder_layers; l++) {
        const char *cell = param_layer(param_name(name, cell_name(kind)), l);
        d->cell[l] = cell_new(params, cell, kind, l ? H : D, H, o->layer_norm);
        cell_drop_state(&d->cell[l], o->dropout_state, DROPOUT_DECODER_STATE + (uint32_t)l);
        if (o->decoder_start != START_MEAN) continue;
        d->start_h[l] = linear_new(params, param_layer(param_name(name, "start"), l), K, H, true);
        if (kind == CELL_LSTM)
            d->start_c[l] = linear_new(params, param_layer(param_name(name, "start_memory"), l), K, H, true);
    }
    if (o->decoder_style == DECODER_BAHDANAU)
        d->context = linear_new(params, param_name(name, "context"), K, gates, false);
    if (o->decoder_style == DECODER_CONDITIONAL) {
        d->second = cell_new(params, param_name(name, "second"), kind, K, H, o->layer_norm);
        cell_drop_state(&d->second, o->dropout_state, DROPOUT_SECOND_STATE);
    }
    if (o->decoder_style == DECODER_LUONG && o->input_feeding)
        d->feed = linear_new(params, param_name(name, "feed"), E, gates, false);
    if (is_deep(o) || o->decoder_style == DECODER_LUONG) {
        d->read_state = linear_new(params, param_name(name, "readout.state"), H, E, true);
        d->read_context = linear_new(params, param_name(name, "readout.context"), K, E, false);
        d->read_norm = norm_new(params, param_name(name, "readout.norm"), E, o->layer_norm, NORM_EPSILON);
    }
    if (is_deep(o) && o->decoder_style != DECODER_LUONG)
        d->read_embedding = linear_new(params, param_name(name, "readout.embedding"), D, E, false);
    if (o->decoder_self_attention) {
        d->intra = intra_attention_new(params, param_name(name, "self_attention"), H);
        d->read_intra = linear_new(params, param_name(name, "readout.self_attention"), H, E, false);
    }
}

/* ---- the state ---- */

typedef struct {
    CellState layer[MODEL_MAX_LAYERS];
    Tensor *vector; /* input feeding: the attentional vector of the step before, else NULL */
    KvCache cache;  /* self-attention: the outputs of earlier steps */
} Recurrence;

static Recurrence unpack_state(const ModelOptions *o, const DecoderState *state) {
    Recurrence r = {.cache = state->cache};
    Tensor *const *next = state->part;
    for (int l = 0; l < o->decoder_layers; l++) {
        r.layer[l].h = *next++;
        if (o->cell == CELL_LSTM) r.layer[l].c = *next++;
    }
    if (o->input_feeding) r.vector = *next++;
    return r;
}

static DecoderState pack_state(const ModelOptions *o, const Recurrence *r) {
    DecoderState state = {.cache = r->cache};
    for (int l = 0; l < o->decoder_layers; l++) {
        state.part[state.parts++] = r->layer[l].h;
        if (r->layer[l].c) state.part[state.parts++] = r->layer[l].c;
    }
    if (r->vector) state.part[state.parts++] = r->vector;
    return state;
}

/* Sets the source rows that the decoder attends to. Without attention this is one row, with a weight of 1,
 * so that the code below needs no special case. */
static void set_source_rows(Tape *tape, const RecurrentDecoder *d, Tensor *annotations, Encoded *encoded) {
    if (!model_attends(d->options)) {
        int *start = tape_alloc(tape, ((size_t)encoded->B + 1) * sizeof *start);
        for (int b = 0; b <= encoded->B; b++) start[b] = b;
        annotations = encoder_final_state(tape, d->options, annotations, encoded->start, encoded->B);
        encoded->start = start;
    }
    encoded->source[0] = attention_project_keys(tape, &d->attention, annotations);
}

void decoder_recurrent_init_state(Tape *tape, const void *decoder, const EncoderOutput *output,
                                  Encoded *encoded) {
    const RecurrentDecoder *d = decoder;
    const ModelOptions *o = d->options;
    Recurrence first = {0};
    Tensor *mean = NULL;
    const int *start = encoded->start;
    set_source_rows(tape, d, output->annotations, encoded);
    if (o->decoder_start == START_MEAN) mean = op_segment_mean(tape, output->annotations, start, encoded->B);
    for (int l = 0; l < o->decoder_layers; l++) {
        if (!mean) {
            first.layer[l] = output->final[l];
            continue;
        }
        first.layer[l].h = op_tanh(tape, linear_apply(tape, &d->start_h[l], mean));
        if (o->cell == CELL_LSTM) first.layer[l].c = op_tanh(tape, linear_apply(tape, &d->start_c[l], mean));
    }
    if (o->input_feeding)
        first.vector = tape_tensor_zeroed(tape, encoded->B, is_deep(o) ? o->embedding : o->hidden);
    encoded->initial = pack_state(o, &first);
}

/* ---- the context, and the two maps that read it ---- */

/* The context c_t from attend(), or the weights and mapped annotations that give maps of it. */
typedef struct {
    Tensor *vector, *weights; /* c_t [n, K], NULL if the annotations are mapped already; alpha */
    const Spans *spans;
    Tensor *const *mapped; /* those of Encoded, or NULL */
} Context;

/* The map of the context into the recurrence, if there is one. */
static const Linear *map_to_state(const RecurrentDecoder *d) {
    return d->second.input.weight ? &d->second.input : &d->context;
}

/* The context is a mean of annotations, and a linear map of a mean is the mean of the maps: each annotation
 * is mapped once instead of each row's context at every step, and the context itself is not computed. A bias
 * survives because the weights sum to 1. */
void decoder_recurrent_map_annotations(Tape *tape, const void *decoder, Encoded *encoded) {
    const RecurrentDecoder *d = decoder;
    const Linear *maps[CONTEXT_MAPS] = {
        [CONTEXT_TO_STATE] = map_to_state(d), [CONTEXT_TO_READOUT] = &d->read_context};
    for (int i = 0; i < CONTEXT_MAPS; i++)
        if (maps[i]->weight) encoded->mapped[i] = linear_apply(tape, maps[i], encoded->source[0].values);
}

/* The map of the context. */
static Tensor *map_context(Tape *tape, const Linear *map, int which, const Context *context) {
    if (!context->mapped) return linear_apply(tape, map, context->vector);
    return op_context(tape, context->weights, context->mapped[which], context->spans);
}

/* The same, added to `base`. */
static Tensor *add_context(Tape *tape, const Linear *map, int which, const Context *context, Tensor *base) {
    if (!context->mapped) return linear_add(tape, map, context->vector, base);
    return op_add(tape, base, map_context(tape, map, which, context));
}

/* ---- a step ---- */

/* The input projection of the first layer for the tokens alone, normalized already if nothing is added to
 * it. */
static Tensor *project_tokens(Tape *tape, const RecurrentDecoder *d, Tensor *embedded) {
    Tensor *projected = linear_apply(tape, &d->cell[0].input, embedded);
    bool complete = !d->context.weight && !d->feed.weight;
    return complete ? cell_normalize(tape, &d->cell[0], projected) : projected;
}

typedef struct {
    Tensor *projected; /* [n, gates H] from project_tokens */
    const KeysValues *source;
    const Spans *spans;
    const uint32_t *row_keys; /* [n], for dropout; NULL if there is none */
    Tensor *const *mapped;    /* those of Encoded, if the context itself is not needed; otherwise NULL */
} StepInput;

typedef struct {
    Tensor *output; /* of the last layer */
    Context context;
    Tensor *vector; /* the attentional vector, with input feeding only */
    Tensor *intra;  /* the context of its own earlier outputs, with self-attention only */
} StepResult;

/* c_t = sum_i alpha(s, h_i) h_i, where s is the query: Dive into Deep Learning, eq. 11.4.1. */
static Context attend(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Tensor *query) {
    double p = model_attends(d->options) ? d->options->dropout_attention : 0;
    AttentionDropout dropout = {p, DROPOUT_ATTENTION, in->row_keys};
    Context context = {.spans = in->spans, .mapped = in->mapped};
    context.weights = attention_weights(tape, &d->attention, query, in->source, in->spans);
    if (!in->mapped) {
        context.vector = attention_context(tape, context.weights, in->source, in->spans, dropout);
        record_activation(tape, d->attention.name, "context", context.vector);
    }
    return context;
}

/* Layers above the first; returns the output of the last. */
static Tensor *upper_layers(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Recurrence *state) {
    const ModelOptions *o = d->options;
    Tensor *x = state->layer[0].h;
    for (int l = 1; l < o->decoder_layers; l++) {
        const Cell *cell = &d->cell[l];
        Tensor *below =
            op_dropout(tape, x, o->dropout_layers, DROPOUT_DECODER_LAYER + (uint32_t)l, in->row_keys);
        Tensor *projection = cell_normalize(tape, cell, linear_apply(tape, &cell->input, below));
        state->layer[l] = cell_step(tape, cell, projection, state->layer[l]);
        x = o->residual ? op_add(tape, x, state->layer[l].h) : state->layer[l].h;
    }
    return x;
}

/* The readout's sum of the mapped output and contexts. */
static Tensor *read_contexts(Tape *tape, const RecurrentDecoder *d, const StepResult *step) {
    Tensor *sum = linear_apply(tape, &d->read_state, step->output);
    sum = add_context(tape, &d->read_context, CONTEXT_TO_READOUT, &step->context, sum);
    return step->intra ? linear_add(tape, &d->read_intra, step->intra, sum) : sum;
}

/* tanh(W [c_t; h_t]): Luong et al. 2015, eq. 5. */
static Tensor *attentional_vector(Tape *tape, const RecurrentDecoder *d, const StepResult *step) {
    Tensor *sum = read_contexts(tape, d, step);
    return op_tanh(tape, norm_apply(tape, &d->read_norm, sum));
}

/* The query is s_{t-1} of the last layer. */
static StepResult step_bahdanau(Tape *tape, const RecurrentDecoder *d, const StepInput *in,
                                Recurrence *state) {
    const Cell *cell = &d->cell[0];
    Context context = attend(tape, d, in, state->layer[d->options->decoder_layers - 1].h);
    Tensor *sum = add_context(tape, &d->context, CONTEXT_TO_STATE, &context, in->projected);
    state->layer[0] = cell_step(tape, cell, cell_normalize(tape, cell, sum), state->layer[0]);
    return (StepResult){.output = upper_layers(tape, d, in, state), .context = context};
}

static StepResult step_conditional(Tape *tape, const RecurrentDecoder *d, const StepInput *in,
                                   Recurrence *state) {
    CellState between = cell_step(tape, &d->cell[0], in->projected, state->layer[0]);
    Context context = attend(tape, d, in, between.h);
    Tensor *input = map_context(tape, &d->second.input, CONTEXT_TO_STATE, &context);
    state->layer[0] = cell_step(tape, &d->second, cell_normalize(tape, &d->second, input), between);
    return (StepResult){.output = upper_layers(tape, d, in, state), .context = context};
}

static StepResult step_luong(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Recurrence *state) {
    StepResult result = {0};
    Tensor *input = in->projected;
    if (state->vector)
        input = cell_normalize(tape, &d->cell[0], linear_add(tape, &d->feed, state->vector, input));
    state->layer[0] = cell_step(tape, &d->cell[0], input, state->layer[0]);
    result.output = upper_layers(tape, d, in, state);
    result.context = attend(tape, d, in, result.output);
    if (state->vector) result.vector = state->vector = attentional_vector(tape, d, &result);
    return result;
}

/* In the order of DecoderStyle. */
static StepResult (*const STEPS[])(Tape *, const RecurrentDecoder *, const StepInput *,
                                   Recurrence *) = {[DECODER_BAHDANAU] = step_bahdanau,
                                                    [DECODER_CONDITIONAL] = step_conditional,
                                                    [DECODER_LUONG] = step_luong};

/* The readout, of one step or of all. */
static Tensor *read_out(Tape *tape, const RecurrentDecoder *d, const StepResult *step, Tensor *embedded) {
    const ModelOptions *o = d->options;
    if (step->vector) return step->vector;
    if (o->decoder_style == DECODER_LUONG) return attentional_vector(tape, d, step);
    if (!is_deep(o)) return step->output;
    Tensor *sum = linear_add(tape, &d->read_embedding, embedded, read_contexts(tape, d, step));
    return op_tanh(tape, norm_apply(tape, &d->read_norm, sum));
}

Tensor *decoder_recurrent_step(const void *decoder, const StepContext *step, Tensor *embedded) {
    const RecurrentDecoder *d = decoder;
    const Encoded *encoded = step->encoded;
    Tape *tape = step->tape;
    bool is_mapped = encoded->mapped[CONTEXT_TO_STATE] || encoded->mapped[CONTEXT_TO_READOUT];
    StepInput in = {.projected = project_tokens(tape, d, embedded),
                    .source = &encoded->source[0],
                    .spans = step->spans,
                    .mapped = is_mapped ? encoded->mapped : NULL};
    Recurrence recurrence = unpack_state(d->options, step->state);
    StepResult result = STEPS[d->options->decoder_style](tape, d, &in, &recurrence);
    if (d->intra.score)
        result.intra = intra_attention_step(tape, encoded->tape, &d->intra, result.output, &recurrence.cache);
    *step->state = pack_state(d->options, &recurrence);
    if (step->attention && model_attends(d->options)) {
        step->attention->weights = result.context.weights->data;
        step->attention->start = step->spans->start;
        step->attention->length = step->spans->length;
    }
    return read_out(tape, d, &result, embedded);
}

/* ---- all steps ---- */

static void record_state(Tape *tape, const RecurrentDecoder *d, const Recurrence *state) {
    for (int l = 0; l < d->options->decoder_layers; l++) cell_record(tape, &d->cell[l], state->layer[l]);
}

/* The contexts of all outputs, whose rows and those of the result are in the order of time steps. */
static Tensor *intra_contexts(Tape *tape, const RecurrentDecoder *d, const Sequences *target,
                              const SequenceSteps *steps, Tensor *outputs) {
    AttentionDropout dropout = {d->options->dropout_attention, DROPOUT_INTRA_ATTENTION, target->row_keys};
    outputs = op_gather(tape, outputs, steps->to_packed, target->rows);
    Tensor *contexts = intra_attention_all(tape, &d->intra, outputs, target, dropout);
    return op_gather(tape, contexts, steps->from_packed, target->rows);
}

/* Reduces the state to its first `rows` sentences, those that are not finished. */
static void trim_finished(Tape *tape, const ModelOptions *o, Recurrence *state, int rows) {
    assert(state->layer[0].h);
    if (state->layer[0].h->rows == rows) return;
    for (int l = 0; l < o->decoder_layers; l++) state->layer[l] = cell_rows(tape, state->layer[l], 0, rows);
    if (state->vector) state->vector = tape_rows(tape, state->vector, 0, rows);
}

/* The state of all sentences in the order of their ranks. */
static Recurrence ranked_state(Tape *tape, const ModelOptions *o, const Encoded *encoded,
                               const PackedSequence *packed) {
    DecoderState ranked = encoded->initial;
    for (int i = 0; i < ranked.parts; i++)
        ranked.part[i] = op_gather(tape, ranked.part[i], packed->order, packed->B);
    return unpack_state(o, &ranked);
}

Tensor *decoder_recurrent_forced(Tape *tape, const void *decoder, const Encoded *encoded,
                                 const Sequences *target, Tensor *embedded) {
    const RecurrentDecoder *d = decoder;
    SequenceSteps steps = sequences_steps(tape, target);
    const PackedSequence *packed = steps.packed;
    const Spans *spans = encoded_spans(tape, encoded, packed->order, packed->B);
    embedded = op_gather(tape, embedded, steps.from_packed, target->rows);
    Tensor *projected = project_tokens(tape, d, embedded);
    Recurrence state = ranked_state(tape, d->options, encoded, packed);
    for (int l = 0; l < d->options->decoder_layers; l++) state.layer[l].row_keys = packed->row_keys;
    StepResult last = {0};
    record_state(tape, d, &state);
    tape_sequence_begin(tape, target->rows);
    for (int t = 0; t < packed->steps; t++) {
        int begin = packed->offset[t], rows = packed_sequence_batch_size(packed, t);
        StepInput in = {.projected = tape_rows(tape, projected, begin, rows),
                        .source = &encoded->source[0],
                        .spans = spans_prefix(tape, spans, rows),
                        .row_keys = steps.row_keys + begin};
        trim_finished(tape, d->options, &state, rows);
        tape_step_begin(tape, begin, rows);
        last = STEPS[d->options->decoder_style](tape, d, &in, &state);
        tape_step_end(tape);
        record_state(tape, d, &state);
    }
    StepResult all = {.output = tape_all_steps(tape, last.output),
                      .context = {.vector = tape_all_steps(tape, last.context.vector)},
                      .vector = last.vector ? tape_all_steps(tape, last.vector) : NULL};
    tape_sequence_end(tape);
    if (d->intra.score) all.intra = intra_contexts(tape, d, target, &steps, all.output);
    return op_gather(tape, read_out(tape, d, &all, embedded), steps.to_packed, target->rows);
}
