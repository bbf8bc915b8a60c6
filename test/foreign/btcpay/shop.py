"""A shop on the client of PyPI's btcpay-mcp: it connects, adds a webhook, sells and reads the invoice."""

import json
import os

from btcpay_mcp.client import BTCPayAPIError, BTCPayClient

client = BTCPayClient(os.environ["BASE"], os.environ["KEY"], os.environ["STORE"])


def refusal(call):
    try:
        return {"got": call()}
    except BTCPayAPIError as error:
        return str(error)


webhook = client.create_webhook(
    os.environ["HOOK"], events=["InvoiceSettled", "InvoiceExpired"], secret="a-secret-of-the-shop"
)
invoice = client.create_invoice("49.99", "EUR", order_id="python-1", item_desc="Two tickets")
print(
    json.dumps(
        {
            "stores": client.list_stores(),
            "store": client.get_store_info(),
            "methods": client.get_store_payment_methods(),
            "server": client.get_server_info(),
            "webhook": webhook,
            "webhooks": client.list_webhooks(),
            "invoice": invoice,
            "read": client.get_invoice(invoice["id"]),
            "invoice_methods": client.get_invoice_payment_methods(invoice["id"]),
            "new": [one["id"] for one in client.list_invoices(status="New")],
            "refused": refusal(lambda: client.create_invoice("0.001")),
            "missing": refusal(lambda: client.list_pull_payments()),
        }
    )
)
