"""Payment messages as BabelQueue's own producer puts them on SQS, as a JSON array on the standard output:
of the message attributes the one that the worker reads.

The library's SQS transport runs against a client that keeps what it was asked to send. From the
project's folder, with the package of test/conformance/install.sh:

    .local/conformance/python/bin/python test/producers/make-babelqueue.py > test/producers/babelqueue.json
"""

import json

from babelqueue import EnvelopeCodec
from babelqueue.dead_letter import annotate
from babelqueue.sqs_transport import SqsTransport

URN = "urn:babel:payments:charge"
PAYMENT = {
    "amount": 1200,
    "currency": "EUR",
    "customer": "cus_ada",
    "paymentMethod": "pm_card_visa",
}


class KeepingClient:
    def __init__(self):
        self.sent = []

    def get_queue_url(self, QueueName):
        return {"QueueUrl": "https://sqs.example/000000000000/" + QueueName}

    def send_message(self, **request):
        self.sent.append(request)
        return {}


def produced(name, envelope, headers=None):
    client = KeepingClient()
    transport = SqsTransport(client=client)
    body = EnvelopeCodec.encode(envelope)
    if headers is None:
        transport.publish("payments", body)
    else:
        transport.publish_with_headers("payments", body, headers)
    (request,) = client.sent
    return {
        "name": name,
        "body": request["MessageBody"],
        "schemaVersion": request["MessageAttributes"]["bq-schema-version"],
    }


def main():
    plain = EnvelopeCodec.make(URN, PAYMENT, queue="payments")
    text = {**PAYMENT, "description": "Café — naïve ☕ 5/7", "metadata": {"order": "1042"}}
    messages = [
        produced("a payment", plain),
        produced("a payment with text beyond ASCII", EnvelopeCodec.make(URN, text)),
        produced(
            "a payment that continues a trace",
            EnvelopeCodec.make(URN, PAYMENT, trace_id="7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b"),
            {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
        ),
        produced(
            "a payment with the producer's own meta",
            EnvelopeCodec.make(URN, PAYMENT, meta={"ext": {"shop": "berlin"}}),
        ),
        produced(
            "a payment that came back from a dead-letter queue",
            annotate({**plain, "attempts": 3}, "failed", "payments", 3, error="timed out"),
        ),
    ]
    print(json.dumps(messages, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
