import base64
import sys

from verify import verify_webhook

for line in sys.stdin.read().splitlines():
    message_id, timestamp, signatures, body, secrets = line.split("\t")
    headers = {"Webhook-Id": message_id, "Webhook-Timestamp": timestamp, "Webhook-Signature": signatures}
    try:
        verify_webhook(base64.b64decode(body), headers, secrets.split(" "))
        print("accepted")
    except ValueError as error:
        print(error)
