/* version.h - the release that this source tree is: its only place. The Makefile reads it from here. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define ATTN_MT_VERSION "0.2.0"

#endif
