/* cudaccl-watch - tests of failures of I/O: what their parts share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_WATCH_IO_FAILURES_H
#define TESTS_WATCH_IO_FAILURES_H

#include <glib.h>

#include "tests/lib/iofault.h"

/* 2026-01-31T12:00:00Z */
#define TIME G_GINT64_CONSTANT (1769860800000000)

#define MAX_TOLD 256
#define MAX_MESSAGES 256

/* The results of one case, in memory that its processes share. */
typedef struct
{
  IoFault fault;
  gchar folder[256]; /* of data */
  gboolean heals;    /* the failure ends while the program runs */
  gboolean killed;   /* the program ends without closing anything */
  gchar error[512];  /* why the case failed */
  gboolean complete; /* everything that was added must be there */
  guint added;       /* events */
  guint named;       /* files, in events */
  guint n_messages;
  gchar messages[MAX_MESSAGES][768]; /* of the log */
  guint n_told;
  struct
  {
    gint64 row; /* of the spool; 0: the event was committed */
    gchar line[640];
  } told[MAX_TOLD];
} IoCase;

typedef struct
{
  const gchar *name;
  guint most;                         /* cases of a short run */
  const gchar *folder;                /* below the folder of data, whose calls fail */
  gboolean (*prepare) (IoCase *self); /* once; FALSE: it cannot run here */
  void (*clean_up) (void);
  void (*begin) (IoCase *self); /* before calls fail */
  void (*run) (IoCase *self);   /* in a process of its own, while calls fail */
  void (*check) (IoCase *self); /* in the next one, after a restart */
} IoScenario;

extern const IoScenario io_store, io_removed, io_media;

/* Ends the process: the case has failed. */
void io_case_fail (IoCase *self, const gchar *format, ...) G_GNUC_PRINTF (2, 3) G_GNUC_NORETURN;

#define EXPECT(self, condition, ...)    \
  G_STMT_START {                        \
    if (!(condition))                   \
      io_case_fail (self, __VA_ARGS__); \
  }                                     \
  G_STMT_END

/* Runs @func in a process. Returns FALSE and sets the error if it ends badly. */
gboolean io_case_run_process (IoCase *self, void (*func) (IoCase *self), const gchar *name);

/* Makes a folder, in memory if there is space. */
gchar *io_make_folder (void);

/* Lets all calls succeed from now on. */
void io_case_heal (IoCase *self);
/* Whether a message of the log has both texts. */
gboolean io_case_has_message (IoCase *self, const gchar *text, const gchar *other);

#endif /* TESTS_WATCH_IO_FAILURES_H */
