/* cudaccl-watch - messages of SOAP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/onvif/soap.h"

#include <string.h>

typedef struct
{
  GString *text; /* text since the last tag */
  gsize max_text;
  guint depth;
  gchar *operation;
  WatchSoapElement element;
  gpointer user_data;
} Reader;

static const gchar *
get_local_name (const GSList *element)
{
  const gchar *name = element ? element->data : "", *colon = strchr (name, ':');

  return colon ? colon + 1 : name;
}

static void
on_start (GMarkupParseContext *context, const gchar *element, const gchar **names,
          const gchar **values, gpointer user_data, GError **error)
{
  const GSList *stack = g_markup_parse_context_get_element_stack (context);
  Reader *reader = user_data;

  g_string_truncate (reader->text, 0);
  if (++reader->depth > WATCH_SOAP_MAX_DEPTH)
    g_set_error_literal (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "too deep");
  else if (!reader->operation && reader->depth == 3 &&
           g_str_equal (get_local_name (stack->next), "Body") &&
           g_str_equal (get_local_name (stack->next->next), "Envelope"))
    reader->operation = g_strdup (get_local_name (stack));
}

static void
on_text (GMarkupParseContext *context, const gchar *text, gsize length, gpointer user_data,
         GError **error)
{
  Reader *reader = user_data;

  if (reader->text->len + length <= reader->max_text)
    g_string_append_len (reader->text, text, (gssize) length);
}

static void
on_end (GMarkupParseContext *context, const gchar *element, gpointer user_data, GError **error)
{
  const GSList *stack = g_markup_parse_context_get_element_stack (context);
  Reader *reader = user_data;

  reader->depth--;
  reader->element (get_local_name (stack->next), get_local_name (stack),
                   g_strstrip (reader->text->str), reader->user_data);
  g_string_truncate (reader->text, 0);
}

gboolean
watch_soap_read (const gchar *text, gsize size, gsize max_text, WatchSoapElement element,
                 gpointer user_data, gchar **operation)
{
  static const GMarkupParser parser = { on_start, on_end, on_text, NULL, NULL };
  Reader reader = { g_string_new (NULL), max_text, .element = element, .user_data = user_data };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &reader, NULL);
  gboolean valid = !memchr (text, '\0', size) &&
                   g_markup_parse_context_parse (context, text, (gssize) size, NULL) &&
                   g_markup_parse_context_end_parse (context, NULL);

  g_markup_parse_context_free (context);
  g_string_free (reader.text, TRUE);
  if (operation)
    *operation = reader.operation;
  else
    g_free (reader.operation);
  return valid;
}

static void
on_element (const gchar *parent, const gchar *name, const gchar *text, gpointer user_data)
{
  GHashTable *values = ((WatchSoap *) user_data)->values;
  const gchar *before;
  gchar *key;

  if (!*text)
    return;
  key = g_strconcat (parent, "/", name, NULL);
  before = g_hash_table_lookup (values, key);
  if (before && strlen (before) + strlen (text) < WATCH_SOAP_MAX_TEXT)
    g_hash_table_insert (values, key, g_strconcat (before, " ", text, NULL));
  else if (!before && g_hash_table_size (values) < WATCH_SOAP_MAX_VALUES)
    g_hash_table_insert (values, key, g_strdup (text));
  else
    g_free (key);
}

gboolean
watch_soap_parse (WatchSoap *self, const gchar *text, gsize size)
{
  *self = (WatchSoap){ NULL, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free) };
  return watch_soap_read (text, size, WATCH_SOAP_MAX_TEXT, on_element, self, &self->operation) &&
         self->operation;
}

void
watch_soap_clear (WatchSoap *self)
{
  g_clear_pointer (&self->operation, g_free);
  g_clear_pointer (&self->values, g_hash_table_unref);
}

const gchar *
watch_soap_get (const WatchSoap *self, const gchar *parent, const gchar *name)
{
  g_autofree gchar *key = g_strconcat (parent ? parent : self->operation, "/", name, NULL);
  const gchar *text = g_hash_table_lookup (self->values, key);

  return text ? text : "";
}

gchar *
watch_soap_make (const gchar *body)
{
  return g_strconcat ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                      "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\""
                      " xmlns:tds=\"http://www.onvif.org/ver10/device/wsdl\""
                      " xmlns:tr2=\"http://www.onvif.org/ver20/media/wsdl\""
                      " xmlns:tt=\"http://www.onvif.org/ver10/schema\""
                      " xmlns:ter=\"http://www.onvif.org/ver10/error\">"
                      "<s:Header></s:Header><s:Body>",
                      body, "</s:Body></s:Envelope>", NULL);
}
