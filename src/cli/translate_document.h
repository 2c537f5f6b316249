/* translate_document.h - attn-mt translate with a document instead of lines (documents/document.h). */
#ifndef CLI_TRANSLATE_DOCUMENT_H
#define CLI_TRANSLATE_DOCUMENT_H

#include "cli/translate_options.h"
#include "documents/document.h"
#include "io/fileio.h"

/* Finds the format of the inputs, by --format or by their content; NULL: lines of text. STATUS_USAGE if
 * options do not fit to a document, STATUS_DATA if the format is one that other programs must convert. */
Status translate_document_choose(const TranslateOptions *options, const DocumentFormat **format);
/* Sets the options of the translator that the format needs. */
void translate_document_set_options(const DocumentFormat *format, TranslateOptions *options);
/* Translates the only input into `output`. */
Status translate_document_run(const DocumentFormat *format, const TranslateOptions *options,
                              const OutputStyle *style, const Ensemble *models, Translator *translator,
                              OutFile *output);

#endif
