/* version.h - the release of this source tree. The Makefile reads it from here. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define ATTN_MT_VERSION "0.3.0"

#endif
