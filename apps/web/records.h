/* cudaccl - records of TLS from a client
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_RECORDS_H__
#define __WEB_RECORDS_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* The input of a connection below TLS. It fails where a client asks for another handshake: GIO
 * cannot refuse those, and each blocks a thread, as the first does. TLS 1.3 has none. */
#define WEB_TYPE_RECORDS (web_records_get_type ())
G_DECLARE_FINAL_TYPE (WebRecords, web_records, WEB, RECORDS, GFilterInputStream)

/* Returns a stream that stands for @connection below TLS. It owns @input. */
GIOStream *web_records_new (GIOStream *connection, WebRecords **input);

/* From any thread. Call it after the first handshake. */
void web_records_forbid_handshakes (WebRecords *self);

G_END_DECLS

#endif /* __WEB_RECORDS_H__ */
