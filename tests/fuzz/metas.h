/* cudaccl - fuzzing: frames and their metadata, as broken elements and other processes make them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_FUZZ_METAS_H
#define TESTS_FUZZ_METAS_H

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>
#include "tests/fuzz/input.h"

/* Which of the metadata may contradict the memory of a buffer. */
typedef enum
{
  FUZZ_METAS_TRUE,    /* GstVideoMeta and GstVideoCropMeta describe pixels that exist */
  FUZZ_METAS_FIT,     /* a GstVideoMeta mostly describes pixels that exist: elements map them */
  FUZZ_METAS_HOSTILE, /* anything: elements must not touch the pixels */
} FuzzMetas;

/* A component of a frame of that size, or of no frame at all. */
void fuzz_component (FuzzInput *input, guint width, guint height, GstCclComponent *component);

/* Adds a GstCclMeta, regions of interest of cudaccl and of others, and GstVideoCropMeta. */
void fuzz_add_metas (FuzzInput *input, GstBuffer *buffer, guint width, guint height);

/* A frame with what may be attached to it: its pixels, if it has any, are as the caps say or as a
 * GstVideoMeta says. */
GstBuffer *fuzz_frame (FuzzInput *input, const GstVideoInfo *info, FuzzMetas kind);

#endif
