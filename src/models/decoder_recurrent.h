/* decoder_recurrent.h - recurrence, attention, readout. Three styles:
 *   bahdanau     the query is the top state of the previous step; context and embedding feed the first layer
 *                (Bahdanau et al. 2015; Dive into Deep Learning, "The Bahdanau Attention Mechanism")
 *   conditional  a first transition reads the embedding, its result is the query, a second transition reads the context
 *                (Sennrich et al. 2017, Nematus, section 3)
 *   luong        the query is the output of this step; context and output make the attentional vector that the output layer reads,
 *                with input feeding also the next step (Luong et al. 2015, sections 3 and 3.3)
 * Further layers stand on the first one of each. What needs only tokens (the first projection) and what needs only results (the
 * readout) are apart from the recurrence, so that training does them once for all steps.
 *
 * Shapes  n rows; embedded [n, D]; state parts [n, H]; context [n, K]; attentional vector and readout [n, E]
 */
#ifndef MODELS_DECODER_RECURRENT_H
#define MODELS_DECODER_RECURRENT_H

#include "models/encoder.h"
#include "models/state.h"

typedef struct {
    const ModelOptions *options;
    Attention attention;
    Cell cell[MODEL_MAX_LAYERS];
    Linear context; /* bahdanau: from the context into the gates of layer 0 */
    Linear feed;    /* input feeding: from the attentional vector into them */
    Cell second;    /* conditional: the transition that reads the context */
    Linear start_h[MODEL_MAX_LAYERS],
        start_c[MODEL_MAX_LAYERS]; /* START_MEAN: from the mean annotation to the first state */
    Linear read_state, read_context, read_embedding; /* READOUT_DEEP and luong */
    Norm read_norm;
} RecurrentDecoder;

RecurrentDecoder decoder_recurrent_new(ParamSet *params, const ModelOptions *options);
void decoder_recurrent_prepare(Tape *tape, const RecurrentDecoder *decoder, const EncoderOutput *output,
                               Tensor *annotations, Encoded *encoded);
void decoder_recurrent_prepare_steps(Tape *tape, const RecurrentDecoder *decoder, Encoded *encoded);
Tensor *decoder_recurrent_step(Tape *tape, const RecurrentDecoder *decoder, const Encoded *encoded,
                               const Spans *spans, Tensor *embedded, DecoderState *state,
                               AttentionWeights *attention);
Tensor *decoder_recurrent_forced(Tape *tape, const RecurrentDecoder *decoder, const Encoded *encoded,
                                 const Sequences *target, Tensor *embedded);

#endif
