/* cudaccl - a Kafka broker for tests that goes down for a while
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* kafka-mock TOPIC COUNT: prints the address of librdkafka's mock broker, then partition, key and
 * text of each message in this topic. After a quarter of COUNT messages the broker is down for two
 * seconds. Runs until it is killed: the producer may still wait for an answer when the last message
 * is printed.
 *
 * kafka-mock TOPIC 0: prints the address alone. Each line from standard input, `down` or `up`,
 * changes the broker; `null` sends a message without text; the end of the input ends the program.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#define N_PARTITIONS 4
/* An answer of the mock has one batch of each partition, however small: more of them let a consumer
 * keep up with many producers. */
#define MANY_PARTITIONS 32

static rd_kafka_t *
client_new (rd_kafka_type_t type, const char *brokers)
{
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  rd_kafka_t *client;
  char text[512];

  if (brokers)
    rd_kafka_conf_set (conf, "bootstrap.servers", brokers, text, sizeof (text));
  if (type == RD_KAFKA_CONSUMER) {
    rd_kafka_conf_set (conf, "group.id", "test", text, sizeof (text));
    rd_kafka_conf_set (conf, "auto.offset.reset", "earliest", text, sizeof (text));
    rd_kafka_conf_set (conf, "reconnect.backoff.max.ms", "500", text, sizeof (text));
  }
  client = rd_kafka_new (type, conf, text, sizeof (text));
  if (!client) {
    fprintf (stderr, "kafka-mock: %s\n", text);
    exit (1);
  }

  return client;
}

/* A tombstone, with which producers remove a key. */
static void
send_null (const char *brokers, const char *topic)
{
  rd_kafka_t *producer = client_new (RD_KAFKA_PRODUCER, brokers);

  rd_kafka_producev (producer, RD_KAFKA_V_TOPIC (topic), RD_KAFKA_V_KEY ("k", 1),
                     RD_KAFKA_V_VALUE (NULL, 0), RD_KAFKA_V_END);
  rd_kafka_flush (producer, 10000);
  rd_kafka_destroy (producer);
}

int
main (int argc, char **argv)
{
  rd_kafka_topic_partition_list_t *partitions = rd_kafka_topic_partition_list_new (N_PARTITIONS);
  rd_kafka_mock_cluster_t *cluster;
  rd_kafka_t *producer, *consumer;
  int count, n = 0, i;

  if (argc != 3)
    return 1;
  count = atoi (argv[2]);
  setvbuf (stdout, NULL, _IOLBF, 0);

  producer = client_new (RD_KAFKA_PRODUCER, NULL);
  cluster = rd_kafka_mock_cluster_new (producer, 1);
  rd_kafka_mock_topic_create (cluster, argv[1], count ? N_PARTITIONS : MANY_PARTITIONS, 1);
  printf ("%s\n", rd_kafka_mock_cluster_bootstraps (cluster));
  while (count == 0) {
    char line[16];

    if (!fgets (line, sizeof (line), stdin))
      return 0;
    if (strcmp (line, "down\n") == 0)
      rd_kafka_mock_broker_set_down (cluster, 1);
    else if (strcmp (line, "null\n") == 0)
      send_null (rd_kafka_mock_cluster_bootstraps (cluster), argv[1]);
    else
      rd_kafka_mock_broker_set_up (cluster, 1);
  }

  consumer = client_new (RD_KAFKA_CONSUMER, rd_kafka_mock_cluster_bootstraps (cluster));
  for (i = 0; i < N_PARTITIONS; i++)
    rd_kafka_topic_partition_list_add (partitions, argv[1], i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign (consumer, partitions);

  for (;;) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll (consumer, 100);

    if (message && !message->err) {
      printf ("%d %.*s %.*s\n", (int) message->partition, (int) message->key_len,
              (const char *) message->key, (int) message->len, (const char *) message->payload);
      if (++n == count / 4) {
        rd_kafka_mock_broker_set_down (cluster, 1);
        sleep (2);
        rd_kafka_mock_broker_set_up (cluster, 1);
      }
    }
    if (message)
      rd_kafka_message_destroy (message);
  }
}
