/* cudaccl - records of TLS from a client
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_RECORDS_H__
#define __WEB_RECORDS_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* The input of a connection below TLS. It ends where a client asks for another handshake, which GIO
 * cannot refuse: each blocks a thread, as the first does. TLS 1.3 has no others. */
#define WEB_TYPE_RECORDS (web_records_get_type ())
G_DECLARE_FINAL_TYPE (WebRecords, web_records, WEB, RECORDS, GFilterInputStream)

/* Returns what TLS may take for @connection, and the input of it, which is borrowed. */
GIOStream *web_records_new (GIOStream *connection, WebRecords **input);

/* The handshake is over. */
void web_records_forbid_handshakes (WebRecords *self);

G_END_DECLS

#endif /* __WEB_RECORDS_H__ */
