/* cudaccl - ONVIF's names of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclonviftypes.h"

/* Names in COCO, Open Images, and the models of DeepStream and OpenVINO, in lower case. */
static const struct
{
  const gchar *name, *type, *vehicle;
} types[] = {
  { "person", "Human", NULL },
  { "pedestrian", "Human", NULL },
  { "human", "Human", NULL },
  { "people", "Human", NULL },
  { "man", "Human", NULL },
  { "woman", "Human", NULL },
  { "child", "Human", NULL },
  { "rider", "Human", NULL },
  { "face", "HumanFace", NULL },
  { "human face", "HumanFace", NULL },
  { "humanface", "HumanFace", NULL },
  { "vehicle", "Vehicle", NULL },
  { "car", "Vehicle", "Car" },
  { "van", "Vehicle", "Car" },
  { "taxi", "Vehicle", "Car" },
  { "truck", "Vehicle", "Truck" },
  { "bus", "Vehicle", "Bus" },
  { "train", "Vehicle", NULL },
  { "tram", "Vehicle", NULL },
  { "bicycle", "Bicycle", "Bicycle" },
  { "bike", "Bike", NULL },
  { "motorcycle", "Bike", "Motorcycle" },
  { "motorbike", "Bike", "Motorcycle" },
  { "license plate", "LicensePlate", NULL },
  { "license_plate", "LicensePlate", NULL },
  { "licenseplate", "LicensePlate", NULL },
  { "vehicle registration plate", "LicensePlate", NULL },
  { "animal", "Animal", NULL },
  { "bird", "Animal", NULL },
  { "cat", "Animal", NULL },
  { "dog", "Animal", NULL },
  { "horse", "Animal", NULL },
  { "sheep", "Animal", NULL },
  { "cow", "Animal", NULL },
  { "elephant", "Animal", NULL },
  { "bear", "Animal", NULL },
  { "zebra", "Animal", NULL },
  { "giraffe", "Animal", NULL },
  { "barcode", "Barcode", NULL },
  { "fire", "Fire", NULL },
  { "smoke", "Smoke", NULL },
};

const gchar *
gst_ccl_onvif_find_type (const gchar *name, const gchar **vehicle)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (types); i++) {
    if (g_ascii_strcasecmp (name, types[i].name) == 0) {
      *vehicle = types[i].vehicle;
      return types[i].type;
    }
  }
  *vehicle = NULL;

  return name;
}

const gchar *
gst_ccl_onvif_find_name (const gchar *type, const gchar *vehicle)
{
  const gchar *name = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (types); i++) {
    const gchar *other = types[i].vehicle ? types[i].vehicle : "";

    if (g_ascii_strcasecmp (type, types[i].type) != 0)
      continue;
    if (g_ascii_strcasecmp (vehicle, other) == 0)
      return types[i].name;
    if (!name && (!*vehicle || !*other))
      name = types[i].name;
  }

  return name ? name : type;
}
