/* cudaccl - tests: certificates
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_CERTIFICATE_H
#define TESTS_LIB_CERTIFICATE_H

#include <gio/gio.h>

/* Makes FOLDER/NAME.pem, a certificate that signs itself, for this machine, and its key NAME.key.
 * Returns FALSE if openssl is not installed. */
static inline gboolean
make_certificate (const gchar *folder, const gchar *name)
{
  g_autofree gchar *certificate = g_strdup_printf ("%s/%s.pem", folder, name);
  g_autofree gchar *key = g_strdup_printf ("%s/%s.key", folder, name);
  const gchar *const argv[] = { "openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:prime256v1",
                                "-nodes",
                                "-days",
                                "1",
                                "-subj",
                                "/CN=localhost",
                                "-addext",
                                "subjectAltName=IP:127.0.0.1",
                                "-keyout",
                                key,
                                "-out",
                                certificate,
                                NULL };
  g_autoptr (GSubprocess) process =
      g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);

  return process && g_subprocess_wait_check (process, NULL, NULL);
}

#endif /* TESTS_LIB_CERTIFICATE_H */
