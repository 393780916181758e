/* cudaccl-watch - settings, a key file
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SETTINGS_H__
#define __WATCH_SETTINGS_H__

#include "apps/watch/records/records.h"

G_BEGIN_DECLS

/* Settings never change once they are loaded: threads share them by reference. docs/watch.md
 * describes the keys. */

/* A group `[camera NAME]`. */
typedef struct
{
  gchar *name;       /* 1 to 64 letters, digits, `-` and `_` */
  gchar *uri;        /* stream to analyse: rtsp, rtsps, rtspt, rtspu, http, https, file, v4l2, or
                        `test://`, a moving ball; without user and password */
  gchar *record_uri; /* stream to record; NULL: the same */
  gchar *user;       /* read from the file `credentials`, or NULL */
  gchar *password;
  gchar *zones;        /* as the property of cclzones, or NULL */
  gchar *tripwires;    /* as the property of cclzones, or NULL */
  gchar **classes;     /* classes to keep; NULL: all, and objects without a class */
  gchar *schedule;     /* such as `mon-fri 08:00-18:00, sat 10:00-14:00`; NULL: always */
  gboolean enabled;    /* default true */
  gboolean detect;     /* run the network `model`; default: if there is one */
  gboolean record;     /* default true */
  gboolean loop;       /* repeat a file for ever, at its rate; default false */
  guint frozen_after;  /* seconds without a new picture; default 5 */
  guint64 dwell_time;  /* in nanoseconds, or 0 */
  guint64 static_time; /* likewise */
  guint max_pixels;    /* of the largest picture; default: that of all cameras */
  guint64 max_memory;  /* bytes of pictures in the decoder; default: that of all cameras */
  guint max_rate;      /* frames analysed in a second; default: that of all cameras */
} WatchCameraSettings;

typedef struct
{
  gchar *path;        /* of the file */
  gchar *data;        /* folder of the database and the media */
  gchar *listen;      /* ADDRESS:PORT; default 127.0.0.1:8480 */
  gchar *token;       /* read from the file `token-file`; needed unless the address is local */
  gchar *certificate; /* PEM files, both or neither */
  gchar *key;
  gchar *model;    /* of ccldetect, or NULL */
  gchar *labels;   /* or NULL */
  gchar *provider; /* or NULL */
  guint pre_roll;  /* seconds of a clip before and after the event; default 5 */
  guint post_roll;
  guint retention_days;    /* default 30; 0: for ever */
  guint64 retention_bytes; /* media files; default 20 GB; 0: no limit */
  guint64 ring_bytes;      /* encoded frames in memory, per camera; default 32 MiB */
  guint max_pixels;        /* of the largest picture; default 64 MP */
  guint64 max_memory;      /* bytes of pictures in a camera's decoder; default 1 GiB */
  guint max_rate;          /* frames analysed in a second; default 120 */
  gchar *share;            /* INDEX/COUNT or auto/COUNT, or NULL: all cameras */
  guint64 spool_bytes;     /* lines that sinks have not taken; default 256 MiB */
  gchar *mqtt;             /* mqtt://HOST:PORT or mqtts://, or NULL */
  gchar *mqtt_user;        /* read from the file `mqtt-credentials`, or NULL */
  gchar *mqtt_password;
  gchar *mqtt_ca;     /* PEM file of authorities; NULL: the system's */
  gchar *mqtt_prefix; /* prefix of topics; default cudaccl */
  gchar *discovery;   /* Home Assistant's prefix; default homeassistant; empty: none */
  gchar *kafka;       /* HOST:PORT,…, or NULL */
  gchar *kafka_topic; /* default cudaccl */
  gchar *kafka_user;  /* read from the file `credentials`, or NULL; with one, SASL over TLS */
  gchar *kafka_password;
  gchar *kafka_ca;           /* PEM file of authorities, with which it is TLS, or NULL */
  gchar **webhooks;          /* URLs that get each event, or NULL */
  gchar *lines;              /* a file that gets lines of JSON, `-` for standard output, or NULL */
  WatchLineKinds line_kinds; /* of brokers and `lines`; default events */
  gchar *onvif_user;         /* read from the file `credentials`; NULL: no ONVIF */
  gchar *onvif_password;
  guint rtsp_port;          /* of metadata; default 8554 */
  gboolean onvif_discovery; /* answer probes, unless the address is local; default true */
  gchar *database;          /* of cudaccl-collect: a connection string of PostgreSQL, or NULL */
  guint collect_days;       /* days to keep events; default 30; 0: for ever */
  GPtrArray *cameras;       /* WatchCameraSettings of this share, in the order of the file */
  GPtrArray *elsewhere;     /* WatchCameraSettings of other shares */
} WatchSettings;

/* Loads and checks the file. Errors name the file, group, key and expected value; an unknown key
 * is an error. */
WatchSettings *watch_settings_load (const gchar *path, GError **error);

/* The same from text, for tests and the page; files in it are relative to @path. */
WatchSettings *watch_settings_parse (const gchar *path, const gchar *text, GError **error);

WatchSettings *watch_settings_ref (WatchSettings *self);
void watch_settings_unref (WatchSettings *self);

WatchCameraSettings *watch_camera_settings_ref (WatchCameraSettings *self);
void watch_camera_settings_unref (WatchCameraSettings *self);

/* Whether the values of the key @name are equal; NULL compares all keys. */
gboolean watch_camera_settings_equal (const WatchCameraSettings *a, const WatchCameraSettings *b,
                                      const gchar *name);
/* The same in @group, any but a camera's. */
gboolean watch_settings_equal (const WatchSettings *a, const WatchSettings *b, const gchar *group,
                               const gchar *name);

/* Returns the camera, of any share, or NULL. */
WatchCameraSettings *watch_settings_find (const WatchSettings *self, const gchar *name);

/* Writes keys of the group `camera @name` to the file of @self, and adds the group if it is
 * missing. @keys and @values are NULL-terminated; the value "" removes its key, @keys NULL the
 * group. Keeps comments and all other groups, replaces the file atomically, and changes nothing
 * unless the result is valid. */
gboolean watch_settings_edit (const WatchSettings *self, const gchar *name,
                              const gchar *const *keys, const gchar *const *values, GError **error);

/* Removes what killed processes left beside the file and in the data folder. Call it while holding
 * the lock of the database: no other process uses the folder then. */
void watch_settings_clean (const WatchSettings *self);

/* Whether a camera may have the name. */
gboolean watch_settings_is_name (const gchar *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchSettings, watch_settings_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchCameraSettings, watch_camera_settings_unref)

G_END_DECLS

#endif /* __WATCH_SETTINGS_H__ */
