import base64
import hashlib
import hmac
import json
import time


def verify_webhook(body: bytes, headers: dict, secrets: list) -> dict:
    """`body` has the bytes as they arrived; `secrets` has two during a rotation."""
    # Header names have any case: http.server, Flask and Django differ.
    headers = {name.lower(): value for name, value in headers.items()}
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "").split(" ")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        raise ValueError("the timestamp is too far off")
    signed = f"{message_id}.{timestamp}.".encode() + body
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(given.encode(), expected) for given in signatures):
            return json.loads(body)
    raise ValueError("no signature matches")
