"""Makes every call of the client, for a test that compares what it prints."""

from __future__ import annotations

import json
import os
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from merchant_orders import (
    Client, ClientError, HistoryChanged, NotFoundError, PreconditionError, RateLimitedError, UnauthorizedError, WebhookError, verify_webhook, webhook_events,
)

client = Client(os.environ["ORDERS_URL"], os.environ["ORDERS_TOKEN"], max_wait=1)
result: dict[str, Any] = {}


def refusal(call: Callable[..., Any], *args: Any, **options: Any) -> ClientError:
    try:
        call(*args, **options)
    except ClientError as error:
        return error
    raise AssertionError("no error")


end = client.events_page("latest")
listed = [order["id"] for order in client.orders(state="registered")]
result["listed"] = len(set(listed))
result["unanswered"] = sorted(order["id"] for order in client.unanswered()) == sorted(listed)
without = [order["hasInvoice"] for order in client.without_invoice()]
result["withoutInvoice"] = all(without) and len(without)
first, second, third, fourth = sorted(listed)[:4]
order, tag = client.order(first)
client.accept(first, if_match=tag)
result["state"] = client.order(first)[0]["state"]
again = refusal(client.accept, first)
result["again"] = [again.status, again.code, again.temporary, again.detail != "" and again.detail in str(again)]
result |= {"stale": refusal(client.accept, first, if_match=tag).status, "missing": refusal(client.order, "NONE").status}
limited = refusal(client.order, "LIMITED")
result["limited"] = [limited.status, limited.retry_after, limited.code]
try:
    client.accept(first, key="a\r\nX-A: b")
except ValueError:
    result["key"] = True
unknown = refusal(Client(os.environ["ORDERS_URL"], "mo_unknown").order, first)
named = {UnauthorizedError: unknown, PreconditionError: refusal(client.accept, first, if_match=tag), NotFoundError: refusal(client.order, "NONE"), RateLimitedError: limited}
result["named"] = sum(type(error) is kind for kind, error in named.items())
result["requestId"] = 0 < len(unknown.request_id) and unknown.request_id in str(unknown)
once = Client(os.environ["ORDERS_URL"], "mo_x", tries=1)
result["broken"] = [refusal(once.order, name).request_id for name in ("BROKEN", "HTML")] + [refusal(list, once.export(date_from="BROKEN").orders()).request_id]
gone = refusal(once.order, "GONE")
result |= {"proxied": str(gone), "missed": isinstance(gone, NotFoundError)}
gateway = refusal(once.order, "GATEWAY")
result["gateway"] = [isinstance(gateway, NotFoundError), "mo_x" not in str(gateway) + gateway.detail + gateway.request_id]
result["foreign"] = [refusal(once.order, "FOREIGN").status == 200, refusal(once.accept, "FOREIGN").status == 200]
result["huge"] = refusal(once.order, "HUGE").status
result |= {"moved": "https://orders.example.com/" in str(refusal(once.order, "MOVED")), "cut": refusal(once.order, "CUT").temporary}
client.reject(second, "damaged")
result["answers"] = [answer["status"] for answer in client.answers([
    {"orderReference": third, "answer": "accept"},
    {"orderReference": fourth, "answer": "reject", "reason": "out-of-stock"},
    {"orderReference": first, "answer": "reject"},
    {"orderReference": "NONE", "answer": "accept"},
])]
result["many"] = len(list(client.answers([{"orderReference": "NONE", "answer": "accept"}] * 501)))
invoice = client.upload_invoice(fourth, "invoice.pdf", b"%PDF-1.4", kind="receipt", number="R 7", mark="40", link="https://x.example/7")
result["document"] = [invoice.get("kind"), invoice.get("number"), invoice.get("mark"), invoice.get("link")]
client.update(fourth, {"merchantReference": "20/17"})
result["found"] = [order["id"] == fourth for order in client.by_merchant_reference("20/17")]
changed, _ = client.order(fourth)
result |= {"invoices": len(changed["invoices"]), "merchantReference": changed["merchantReference"]}
result["other"] = client.request("GET", "/orders/" + fourth)[0]["order"] == changed
export = client.export()
result |= {"exportedInTurn": [order["id"] for order in export.orders()] == listed[::-1], "end": export.after - end["next"]}
events = list(client.events(end["next"], history=end["history"], with_orders=True))
result["events"] = [[event["type"], (event.get("order") or order)["state"]] for event in events]
for event in client.follow_events(end["next"]):
    result["followed"] = "order" not in event and event["history"] == end["history"]
    break
try:
    list(client.events(0, history="other"))
except HistoryChanged:
    result["history"] = "changed"

invoice["url"] = os.environ["ORDERS_URL"] + urllib.parse.urlsplit(invoice["url"]).path  # through the proxy of the test
result["downloaded"] = client.download_invoice(invoice).decode()
with urllib.request.urlopen(client.invoice_link(fourth, invoice["id"])["url"]) as response:
    result["linked"] = response.read().decode()
result["deleted"] = len(client.delete_invoice(fourth, invoice["id"]))
webhook = client.create_webhook({"url": "https://hooks.example.com/orders", "batch": 100})["webhook"]
result["webhook"] = client.update_webhook(webhook["id"], {"description": "till"})["description"]
result["rotated"] = client.rotate_webhook_secret(webhook["id"], "1h")["webhook"]["oldSecretUntil"] is not None
client.delete_webhook(webhook["id"])
result["webhooks"] = len(client.webhooks())
created = client.create_token({"label": "till"})
client.revoke_token(client.rotate_token(created["token"]["id"], "1h")["token"]["id"])
result["tokens"] = [token["label"] for token in client.tokens()][-2:]

secret = os.environ["WEBHOOK_SECRET"]


def numbers(read: Callable[..., Any], delivery: dict[str, Any]) -> list[int] | str:
    clock = time.time
    if "now" in delivery:
        time.time = lambda: float(delivery["now"])  # a published delivery is old
    try:
        read_events = read(delivery["headers"], delivery["body"].encode(), delivery.get("secret", secret))
    except WebhookError:
        return "refused"
    except ValueError:
        return "unreadable"
    finally:
        time.time = clock
    return [event.get("seq", 0) for event in (read_events if isinstance(read_events, list) else [read_events])]


deliveries = json.loads(os.environ["DELIVERIES"])
result["deliveries"] = {name: [numbers(webhook_events, d), numbers(verify_webhook, d)] for name, d in deliveries.items()}

print(json.dumps(result))
