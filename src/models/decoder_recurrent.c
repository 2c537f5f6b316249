/* decoder_recurrent.c - three ways to put recurrence and attention together. */
#include "models/decoder_recurrent.h"

#include <stdio.h>
#include "models/dropout_streams.h"

/* ---- declaring ---- */

static const char *layer_name(const char *prefix, int layer) {
    static _Thread_local char name[64];
    snprintf(name, sizeof name, "decoder.%s.%d", prefix, layer);
    return name;
}

static bool is_deep(const ModelOptions *o) { return o->readout == READOUT_DEEP; }

RecurrentDecoder decoder_recurrent_new(ParamSet *params, const ModelOptions *o) {
    CellKind kind = (CellKind)o->cell;
    int H = o->hidden, K = encoder_output_size(o), D = o->embedding, E = is_deep(o) ? D : H;
    int A = o->attention_size ? o->attention_size : H, gates = cell_gates(kind) * H;
    RecurrentDecoder d = {.options = o};
    d.attention =
        attention_new(params, "decoder.attention", (AttentionForm){o->attention, H, K, A, o->max_positions});
    for (int l = 0; l < o->decoder_layers; l++) {
        d.cell[l] = cell_new(params, layer_name(cell_name(kind), l), kind, l ? H : D, H, o->layer_norm);
        if (o->decoder_start != START_MEAN) continue;
        d.start_h[l] = linear_new(params, layer_name("start", l), K, H, true);
        if (kind == CELL_LSTM) d.start_c[l] = linear_new(params, layer_name("start_memory", l), K, H, true);
    }
    if (o->decoder_style == DECODER_BAHDANAU)
        d.context = linear_new(params, "decoder.context", K, gates, false);
    if (o->decoder_style == DECODER_CONDITIONAL)
        d.second = cell_new(params, "decoder.second", kind, K, H, o->layer_norm);
    if (o->decoder_style == DECODER_LUONG && o->input_feeding)
        d.feed = linear_new(params, "decoder.feed", E, gates, false);
    if (is_deep(o) || o->decoder_style == DECODER_LUONG) {
        d.read_state = linear_new(params, "decoder.readout.state", H, E, true);
        d.read_context = linear_new(params, "decoder.readout.context", K, E, false);
        d.read_norm = norm_new(params, "decoder.readout.norm", E, o->layer_norm);
    }
    if (is_deep(o) && o->decoder_style != DECODER_LUONG)
        d.read_embedding = linear_new(params, "decoder.readout.embedding", D, E, false);
    return d;
}

/* ---- the state ---- */

typedef struct {
    CellState layer[MODEL_MAX_LAYERS];
    Tensor *vector; /* input feeding: the attentional vector of the step before, else NULL */
} Recurrence;

static Recurrence unpack(const ModelOptions *o, const DecoderState *state) {
    Recurrence r = {0};
    Tensor *const *next = state->part;
    for (int l = 0; l < o->decoder_layers; l++) {
        r.layer[l].h = *next++;
        if (o->cell == CELL_LSTM) r.layer[l].c = *next++;
    }
    if (o->input_feeding) r.vector = *next++;
    return r;
}

static DecoderState pack(const ModelOptions *o, const Recurrence *r) {
    DecoderState state = {0};
    for (int l = 0; l < o->decoder_layers; l++) {
        state.part[state.parts++] = r->layer[l].h;
        if (r->layer[l].c) state.part[state.parts++] = r->layer[l].c;
    }
    if (r->vector) state.part[state.parts++] = r->vector;
    return state;
}

void decoder_recurrent_prepare(Tape *tape, const RecurrentDecoder *d, const EncoderOutput *output,
                               Tensor *annotations, Encoded *encoded) {
    const ModelOptions *o = d->options;
    Recurrence first = {0};
    Tensor *mean = NULL;
    encoded->memory[0] = attention_remember(tape, &d->attention, annotations);
    if (o->decoder_start == START_MEAN) mean = op_segment_mean(tape, annotations, encoded->start, encoded->B);
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
    encoded->initial = pack(o, &first);
}

/* The map of the context into the recurrence, if there is one. */
static const Linear *inner_reader(const RecurrentDecoder *d) {
    return d->second.input.weight ? &d->second.input : &d->context;
}

/* The context is a mean of annotations, and a linear map of a mean is the mean of the maps: each annotation is mapped once instead of
 * each row's context at every step, and nobody needs the context itself. A bias survives because the weights sum to 1. */
void decoder_recurrent_prepare_steps(Tape *tape, const RecurrentDecoder *d, Encoded *encoded) {
    const Linear *readers[CONTEXT_READERS] = {
        [READ_INNER] = inner_reader(d), [READ_OUTER] = &d->read_context};
    for (int i = 0; i < CONTEXT_READERS; i++)
        if (readers[i]->weight) encoded->read[i] = linear_apply(tape, readers[i], encoded->memory[0].values);
}

/* ---- a step ---- */

/* What the first layer makes of the tokens alone: its input projection, normalised already if nothing is added to it. */
static Tensor *project_tokens(Tape *tape, const RecurrentDecoder *d, Tensor *embedded) {
    Tensor *projected = cell_project(tape, &d->cell[0], embedded);
    bool complete = !d->context.weight && !d->feed.weight;
    return complete ? cell_normalize(tape, &d->cell[0], projected) : projected;
}

typedef struct {
    Tensor *projected; /* [n, gates H] from project_tokens */
    const AttentionMemory *memory;
    const Spans *spans;
    const uint32_t *row_keys; /* [n], for dropout; NULL if there is none */
    Tensor *const *read;      /* of Encoded, where the context is not wanted itself; else NULL */
} StepInput;

typedef struct {
    Tensor *output, *context, *weights, *vector; /* vector: with input feeding only */
} StepResult;

static void attend(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Tensor *query,
                   StepResult *result) {
    AttentionDropout dropout = {d->options->dropout_attention, DROPOUT_ATTENTION, in->row_keys};
    if (in->read)
        result->weights = attention_weights(tape, &d->attention, query, in->memory, in->spans);
    else
        result->context =
            attention_context(tape, &d->attention, query, in->memory, in->spans, dropout, &result->weights);
}

/* What one of the maps makes of the context, added to `base` if that is not NULL. `in` may be NULL: there is a context. */
static Tensor *read_context(Tape *tape, const Linear *map, int reader, const StepInput *in,
                            const StepResult *result, Tensor *base) {
    if (!in || !in->read)
        return base ? linear_add(tape, map, result->context, base) : linear_apply(tape, map, result->context);
    Tensor *mean = op_context(tape, result->weights, in->read[reader], in->spans);
    return base ? op_add(tape, base, mean) : mean;
}

/* Layers above the first; returns the output of the last. */
static Tensor *climb(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Recurrence *state) {
    const ModelOptions *o = d->options;
    Tensor *x = state->layer[0].h;
    for (int l = 1; l < o->decoder_layers; l++) {
        const Cell *cell = &d->cell[l];
        Tensor *below =
            op_dropout(tape, x, o->dropout_layers, DROPOUT_DECODER_LAYER + (uint32_t)l, in->row_keys);
        Tensor *projection = cell_normalize(tape, cell, cell_project(tape, cell, below));
        state->layer[l] = cell_step(tape, cell, projection, state->layer[l]);
        x = o->residual ? op_add(tape, x, state->layer[l].h) : state->layer[l].h;
    }
    return x;
}

static Tensor *attentional_vector(Tape *tape, const RecurrentDecoder *d, const StepInput *in,
                                  const StepResult *result) {
    Tensor *sum = linear_apply(tape, &d->read_state, result->output);
    sum = read_context(tape, &d->read_context, READ_OUTER, in, result, sum);
    return op_tanh(tape, norm_apply(tape, &d->read_norm, sum));
}

static StepResult step_bahdanau(Tape *tape, const RecurrentDecoder *d, const StepInput *in,
                                Recurrence *state) {
    StepResult result = {0};
    attend(tape, d, in, state->layer[d->options->decoder_layers - 1].h, &result);
    Tensor *sum = read_context(tape, &d->context, READ_INNER, in, &result, in->projected);
    state->layer[0] = cell_step(tape, &d->cell[0], cell_normalize(tape, &d->cell[0], sum), state->layer[0]);
    result.output = climb(tape, d, in, state);
    return result;
}

static StepResult step_conditional(Tape *tape, const RecurrentDecoder *d, const StepInput *in,
                                   Recurrence *state) {
    StepResult result = {0};
    CellState between = cell_step(tape, &d->cell[0], in->projected, state->layer[0]);
    attend(tape, d, in, between.h, &result);
    Tensor *input = read_context(tape, &d->second.input, READ_INNER, in, &result, NULL);
    state->layer[0] = cell_step(tape, &d->second, cell_normalize(tape, &d->second, input), between);
    result.output = climb(tape, d, in, state);
    return result;
}

static StepResult step_luong(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Recurrence *state) {
    StepResult result = {0};
    Tensor *input = in->projected;
    if (state->vector)
        input = cell_normalize(tape, &d->cell[0], linear_add(tape, &d->feed, state->vector, input));
    state->layer[0] = cell_step(tape, &d->cell[0], input, state->layer[0]);
    result.output = climb(tape, d, in, state);
    attend(tape, d, in, result.output, &result);
    if (state->vector) result.vector = state->vector = attentional_vector(tape, d, in, &result);
    return result;
}

static StepResult step(Tape *tape, const RecurrentDecoder *d, const StepInput *in, Recurrence *state) {
    switch (d->options->decoder_style) {
    case DECODER_BAHDANAU:
        return step_bahdanau(tape, d, in, state);
    case DECODER_LUONG:
        return step_luong(tape, d, in, state);
    default:
        return step_conditional(tape, d, in, state);
    }
}

/* What the output layer reads: rows of the step `in`, or of all steps if that is NULL. */
static Tensor *read_out(Tape *tape, const RecurrentDecoder *d, const StepInput *in, const StepResult *step,
                        Tensor *embedded) {
    const ModelOptions *o = d->options;
    if (step->vector) return step->vector;
    if (o->decoder_style == DECODER_LUONG) return attentional_vector(tape, d, in, step);
    if (!is_deep(o)) return step->output;
    Tensor *sum = linear_apply(tape, &d->read_state, step->output);
    sum = read_context(tape, &d->read_context, READ_OUTER, in, step, sum);
    sum = linear_add(tape, &d->read_embedding, embedded, sum);
    return op_tanh(tape, norm_apply(tape, &d->read_norm, sum));
}

Tensor *decoder_recurrent_step(Tape *tape, const RecurrentDecoder *d, const Encoded *encoded,
                               const Spans *spans, Tensor *embedded, DecoderState *state,
                               AttentionWeights *attention) {
    bool prepared = encoded->read[READ_INNER] || encoded->read[READ_OUTER];
    StepInput in = {project_tokens(tape, d, embedded), &encoded->memory[0], spans, NULL,
                    prepared ? encoded->read : NULL};
    Recurrence recurrence = unpack(d->options, state);
    StepResult result = step(tape, d, &in, &recurrence);
    *state = pack(d->options, &recurrence);
    if (attention) {
        attention->weights = result.weights->data;
        attention->start = spans->start;
        attention->length = spans->length;
    }
    return read_out(tape, d, &in, &result, embedded);
}

/* ---- all steps ---- */

/* The first `rows` sentences of the state: those that still run. */
static void shrink(Tape *tape, const ModelOptions *o, Recurrence *state, int rows) {
    if (state->layer[0].h->rows == rows) return;
    for (int l = 0; l < o->decoder_layers; l++) state->layer[l] = cell_rows(tape, state->layer[l], 0, rows);
    if (state->vector) state->vector = tape_rows(tape, state->vector, 0, rows);
}

/* The state of all sentences in the order of their ranks. */
static Recurrence ranked_state(Tape *tape, const ModelOptions *o, const Encoded *encoded,
                               const Packed *packed) {
    DecoderState ranked = encoded->initial;
    for (int i = 0; i < ranked.parts; i++)
        ranked.part[i] = op_gather(tape, ranked.part[i], packed->order, packed->B);
    return unpack(o, &ranked);
}

Tensor *decoder_recurrent_forced(Tape *tape, const RecurrentDecoder *d, const Encoded *encoded,
                                 const Sequences *target, Tensor *embedded) {
    SequenceSteps steps = sequences_steps(tape, target);
    const Packed *packed = steps.packed;
    const Spans *spans = encoded_spans(tape, encoded, packed->order, packed->B);
    embedded = op_gather(tape, embedded, steps.row, target->rows);
    Tensor *projected = project_tokens(tape, d, embedded);
    Recurrence state = ranked_state(tape, d->options, encoded, packed);
    StepResult result = {0};
    tape_sequence_begin(tape, target->rows);
    for (int t = 0; t < packed->steps; t++) {
        int begin = packed->offset[t], rows = packed_running(packed, t);
        StepInput in = {tape_rows(tape, projected, begin, rows), &encoded->memory[0],
                        spans_prefix(tape, spans, rows), steps.row_keys + begin, NULL};
        shrink(tape, d->options, &state, rows);
        tape_step_begin(tape, begin, rows);
        result = step(tape, d, &in, &state);
        tape_step_end(tape);
    }
    StepResult all = {.output = tape_whole(tape, result.output), .context = tape_whole(tape, result.context)};
    if (result.vector) all.vector = tape_whole(tape, result.vector);
    tape_sequence_end(tape);
    Phase before = tape_phase(tape, PHASE_OUTPUT);
    Tensor *readout = op_gather(tape, read_out(tape, d, NULL, &all, embedded), steps.place, target->rows);
    tape_phase(tape, before);
    return readout;
}
