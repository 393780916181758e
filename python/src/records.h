/* cudaccl - Python: entries of the arrays of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_PYTHON_RECORDS_H
#define CCL_PYTHON_RECORDS_H

#include <stdint.h>

/* Entries of the arrays of components; cudaccl/_records.py has their fields. A component is a
 * Record, and behind it one part for each feature that was asked for, in the order of their flags.
 */
typedef struct Record
{
  int32_t label, x, y, width, height;
  int32_t first_x; /* also the gap before 64-bit numbers */
  int64_t area;
  double centroid[2];
} Record;

typedef enum Features
{
  FEATURE_SUMS = 1 << 0,
  FEATURE_ELLIPSE = 1 << 1,
  FEATURE_HOLES = 1 << 2,
  FEATURE_PERIMETER = 1 << 3,
  FEATURE_LUMA = 1 << 4,
  FEATURE_BOX = 1 << 5,
  FEATURE_VALUE = 1 << 6,
} Features;

typedef struct SumsPart
{
  int64_t sum_x, sum_y, sum_xx, sum_yy, sum_xy;
} SumsPart;

typedef struct EllipsePart
{
  double orientation, major_axis, minor_axis, eccentricity;
} EllipsePart;

typedef struct HolesPart
{
  int64_t holes, euler_number;
} HolesPart;

typedef struct PerimeterPart
{
  double perimeter;
} PerimeterPart;

typedef struct LumaPart
{
  double mean;
  int32_t min, max;
} LumaPart;

typedef struct BoxPart
{
  double extent;
  uint8_t touches_border, reserved[7];
} BoxPart;

typedef struct ValuePart
{
  int64_t value;
} ValuePart;

/* Of a volume; only FEATURE_VALUE has a part. */
typedef struct VolumeRecord
{
  int32_t label, x, y, z, width, height, depth, reserved;
  int64_t volume;
  double centroid[3];
} VolumeRecord;

#endif
