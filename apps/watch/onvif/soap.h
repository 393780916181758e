/* cudaccl-watch - messages of SOAP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ONVIF_SOAP_H__
#define __WATCH_ONVIF_SOAP_H__

#include <glib.h>

G_BEGIN_DECLS

/* Anyone can send a message: it yields only names, without prefixes, and texts. GMarkup knows no
 * DTD, and only the entities of XML itself. */

#define WATCH_SOAP_MAX_DEPTH 32 /* of elements; a message with more is refused */

/* Called at the end of each element. @text is the text since the last tag, stripped. */
typedef void (*WatchSoapElement) (const gchar *parent, const gchar *name, const gchar *text,
                                  gpointer user_data);

/* Reads a message. Leaves out texts of more than @max_text bytes. Returns FALSE at the first
 * mistake: elements before it were passed. Sets @operation, which may be NULL, to the name of
 * the first element in the body, or NULL. */
gboolean watch_soap_read (const gchar *text, gsize size, gsize max_text, WatchSoapElement element,
                          gpointer user_data, gchar **operation);

typedef struct
{
  gchar *operation;   /* the first element in the body */
  GHashTable *values; /* `PARENT/NAME` to the text of the element; several are joined by spaces */
} WatchSoap;

#define WATCH_SOAP_MAX_VALUES 64
#define WATCH_SOAP_MAX_TEXT 4096 /* bytes per element; longer texts are left out */

/* Returns FALSE if @text is not an envelope with an operation. Clear @self in any case. */
gboolean watch_soap_parse (WatchSoap *self, const gchar *text, gsize size);
void watch_soap_clear (WatchSoap *self);

/* Returns the text, or "". A NULL @parent stands for the operation. */
const gchar *watch_soap_get (const WatchSoap *self, const gchar *parent, const gchar *name);

/* Returns an envelope with @body. It declares the prefixes s, tds, tr2, tt and ter. */
gchar *watch_soap_make (const gchar *body);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WatchSoap, watch_soap_clear)

G_END_DECLS

#endif /* __WATCH_ONVIF_SOAP_H__ */
