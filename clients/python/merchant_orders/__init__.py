"""Client of version 2 of Merchant Orders, for Python 3.9 or later without other packages.

    client = Client("https://orders.example.com", token)
    for order in client.orders(state="registered"):
        client.accept(order["id"])

Orders and events are dictionaries as the interface shows them: amounts are integers in
the minor unit of the currency, times are texts in UTC.

A call is retried after a broken connection, a timeout, and the statuses 408, 429, 5xx, and
409 with Retry-After. Each write has an Idempotency-Key, which is the same in all attempts,
so the service makes the change once. A Client keeps connections open, and may be used by
several threads.
"""

from __future__ import annotations

import base64
import contextlib
import email.message
import email.utils
import gzip
import hashlib
import hmac
import http.client
import itertools
import json
import os
import random
import re
import secrets
import ssl
import time
import urllib.parse
import urllib.request
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Literal, cast

from . import types
from .types import *
from .types import Answer, AnswerResult, CreatedToken, Delivery, Event, Feed, Invoice, InvoiceKind, InvoiceLink, Order, OrderSummary, OrderUpdate, Reason
from .types import RotatedToken, State, Token, TokenRequest, UnansweredOrder, Webhook, WebhookChange, WebhookRequest, WebhookSecret

__all__ = [
    "Client", "ClientError", "Export", "ForbiddenError", "HistoryChanged", "KeyReusedError", "NotFoundError", "PreconditionError", "RateLimitedError",
    "TransportError", "UnauthorizedError", "UnavailableError", "WebhookError", "verify_webhook", "webhook_events",
]
__all__ += types.__all__


class ClientError(Exception):
    """A call failed. temporary says that a later attempt may succeed."""

    def __init__(
        self, message: str, *, temporary: bool = False, status: int = 0, code: str = "", retry_after: float = 0, request_id: str = "", detail: str = ""
    ):
        details = {"status": status, "code": code, "request": request_id}
        about = ", ".join(f"{name} {value}" for name, value in details.items() if value)
        text = message if detail in ("", message, message + ".") else f"{message.removesuffix('.')}: {detail}"
        super().__init__(f"{text} ({about})" if about else text)
        self.temporary = temporary
        self.status = status  # 0: no response
        self.code = code  # of the service, such as "10304"; may be empty
        self.retry_after = retry_after  # seconds; 0: the service has not said
        self.request_id = request_id  # for the log of the service
        self.detail = detail  # of the service: what is wrong and what is right; may be empty


class TransportError(ClientError):
    """No complete response."""


class UnauthorizedError(ClientError):
    """401: the token is missing or not valid."""


class ForbiddenError(ClientError):
    """403: the token does not allow this."""


class NotFoundError(ClientError):
    """404: it does not exist, or is another merchant's."""


class PreconditionError(ClientError):
    """412: the order has changed since if_match was read."""


class KeyReusedError(ClientError):
    """422: the key belongs to another write."""


class RateLimitedError(ClientError):
    """429: too many requests."""


class UnavailableError(ClientError):
    """5xx: the service failed, or is temporarily unavailable."""


class HistoryChanged(ClientError):
    """Event numbers have started again: discard the position and begin a new copy."""


class WebhookError(Exception):
    """A request is no valid delivery of a webhook: respond with 401 and ignore it."""


class Client:
    """Calls one service with one token.

    A call makes at most tries attempts, with at most max_wait seconds between two.
    timeout is how many seconds an attempt waits for the service to send something.
    """

    def __init__(self, base_url: str, token: str, *, timeout: float = 60, tries: int = 5, max_wait: float = 60):
        if not re.fullmatch(r"https?://[^/?#@\s]+(/[^?#\s]*)?", base_url):
            raise ValueError("the address of the service must be a URL such as https://orders.example.com")
        if not re.fullmatch(r"[!-~]+", token):
            raise ValueError("the token is empty or contains characters that are not allowed in a token")
        self._base = base_url.rstrip("/") + "/v2"
        self._token, self._timeout, self._tries, self._max_wait = token, timeout, tries, max_wait
        self._idle: list[tuple[int, str, http.client.HTTPConnection]] = []  # with the process and the origin

    def request(self, method: str, path: str, body: object = None, *, key: str = "", if_match: str = "") -> tuple[Any, http.client.HTTPMessage]:
        """Sends any request below /v2, such as GET /webhooks, and returns the JSON of the response and its headers."""
        return self._ask("", method, path, body, key=key, if_match=if_match)

    def _ask(self, has: str, method: str, path: str, body: object = None, *, key: str = "", if_match: str = "") -> tuple[Any, http.client.HTTPMessage]:
        """Is request for a response that has a member."""
        return self._call(method, path, None if body is None else json.dumps(body).encode(), key, if_match, has=has)

    def orders(self, *, state: State | None = None, date_from: str | None = None, date_to: str | None = None) -> Iterator[OrderSummary]:
        """Returns all orders, newest first, each that existed at the beginning exactly once. Dates are like 2026-11-20."""
        query = _query(itemsPerPage=100, state=state, dateFrom=date_from, dateTo=date_to)
        while query:
            page, headers = self._ask("orders", "GET", "/orders?" + query)
            yield from page["orders"]
            following = re.search(r'<[^>]*\?([^>]*)>; rel="next"', ", ".join(headers.get_all("Link", [])))
            query = following[1] if following else ""

    def unanswered(self, before: str | None = None) -> Iterator[UnansweredOrder]:
        """Returns the orders to accept or reject, the earliest deadline first; only those with a deadline before a time such as 2026-11-20T12:00:00Z."""
        return self._pages("/orders/unanswered", expiresBefore=before)

    def without_invoice(self) -> Iterator[OrderSummary]:
        """Returns the orders whose customer asked for an invoice and that have no invoice file, oldest first, without those rejected or canceled."""
        return self._pages("/orders/without-invoice")

    def _pages(self, path: str, **query: object) -> Iterator[Any]:
        cursor = None
        while True:
            page, _ = self._ask("orders", "GET", f"{path}?{_query(limit=100, cursor=cursor, **query)}")
            yield from page["orders"]
            if (cursor := page["next"]) is None:
                return

    def by_merchant_reference(self, number: str) -> list[OrderSummary]:
        """Returns the orders with your own number, newest first, at most 100."""
        if number in ("", ".", ".."):  # the path would be another one
            raise ValueError(f"{number!r} is not a number to find orders by")
        return cast("list[OrderSummary]", self._ask("orders", "GET", "/orders/by-merchant-reference/" + urllib.parse.quote(number, safe=""))[0]["orders"])

    def order(self, reference: str) -> tuple[Order, str]:
        """Returns an order and its tag for if_match."""
        body, headers = self._ask("order", "GET", _path(reference))
        return body["order"], headers.get("ETag", "").removeprefix("W/")  # of a proxy that compresses

    def accept(self, reference: str, *, if_match: str = "", key: str = "") -> None:
        """Accepts a registered order. With if_match, only if it has not changed since its tag was read."""
        self._ask("success", "PATCH", _path(reference, "/accept"), key=key, if_match=if_match)

    def reject(self, reference: str, reason: Reason | None = None, *, if_match: str = "", key: str = "") -> None:
        """Rejects a registered order."""
        self._ask("success", "PATCH", _path(reference, "/reject"), {"status": "D", "reason": reason}, key=key, if_match=if_match)

    def answers(self, answers: Iterable[Answer], *, key: str = "") -> Iterator[AnswerResult]:
        """Accepts and rejects orders, 500 in a request, and returns a result for each, in their order.

        A refused answer affects no other and raises nothing. key is that of the first
        request; the n-th has "-n" after it.
        """
        key, waiting = key or secrets.token_hex(16), iter(answers)
        for number in itertools.count(1):
            batch = list(itertools.islice(waiting, 500))  # results are read when all is sent: of more, both sides would wait
            if not batch:
                return
            body = b"".join(json.dumps(answer).encode() + b"\n" for answer in batch)
            results, _ = self._call("POST", "/orders/answers", body, key if number == 1 else f"{key}-{number}")
            if len(results) != len(batch):
                raise ClientError("unexpected response: results are missing")
            yield from results

    def update(self, reference: str, update: OrderUpdate, *, if_match: str = "", key: str = "") -> None:
        """Changes your own number and note of an order."""
        self._ask("success", "PATCH", _path(reference), update, key=key, if_match=if_match)

    def upload_invoice(
        self, reference: str, filename: str, content: bytes, *, kind: InvoiceKind = None, number: str = "", mark: str = "", link: str = "",
        if_match: str = "", key: str = "",
    ) -> Invoice:
        """Stores an invoice file (pdf, png, jpeg, jpg) of at most 4,000,000 bytes.

        kind, number, mark and link say which document it is. A service of version 1.0.0
        ignores them: the returned entry has what was stored.
        """
        if len(content) > 4_000_000:
            raise ValueError("the file is larger than 4000000 bytes")
        document = {"kind": kind, "number": number, "mark": mark, "link": link}
        body = {"filename": filename, "contentBase64": base64.b64encode(content).decode(), **{name: text for name, text in document.items() if text}}
        uploaded, _ = self._ask("invoice", "POST", _path(reference, "/invoices"), body, key=key, if_match=if_match)
        invoice: Invoice = uploaded["invoice"]
        return invoice

    def download_invoice(self, invoice: Invoice) -> bytes:
        """Returns the bytes of an invoice file. The token is sent to the service only, not to another storage."""
        for number in itertools.count(1):
            try:
                with self._response("GET", invoice["url"], kind="*/*") as response:
                    return response.read()
            except ClientError as error:
                self._pause(number, error)
        raise AssertionError  # the loop does not end

    def delete_invoice(self, reference: str, invoice_id: int, *, if_match: str = "", key: str = "") -> list[Invoice]:
        """Deletes an invoice file of an order, and returns the remaining ones."""
        return cast("list[Invoice]", self._ask("invoices", "DELETE", _path(reference, f"/invoices/{invoice_id}"), key=key, if_match=if_match)[0]["invoices"])

    def invoice_link(self, reference: str, invoice_id: int, *, if_match: str = "", key: str = "") -> InvoiceLink:
        """Makes an address of an invoice file (url, expiresAt) that everybody can open, without a token, until it expires."""
        return cast(InvoiceLink, self._ask("url", "POST", _path(reference, f"/invoices/{invoice_id}/link"), key=key, if_match=if_match)[0])

    def export(self, *, state: State | None = None, date_from: str | None = None, date_to: str | None = None) -> Export:
        """Returns an export of whole orders. One whose stored data is damaged has only id and problem."""
        return Export(self, {"state": state, "dateFrom": date_from, "dateTo": date_to})

    def events_page(self, after: int | Literal["latest"], *, limit: int = 1000, wait: int = 0, with_orders: bool = False) -> Feed:
        """Returns the events after a number, waiting up to wait seconds (at most 30) for one."""
        query = _query(after=after, limit=limit, wait=wait, include="order" if with_orders else None)
        page: Feed = self._call("GET", "/events?" + query, wait=wait, has="events")[0]
        return page

    def events(self, after: int, *, history: str = "", with_orders: bool = False) -> Iterator[Event]:
        """Returns the events after a number, up to the newest, with_orders each with its order.

        To go on later, store seq and history of the last one. Raises HistoryChanged if
        numbers have started again.
        """
        return self._events(after, history, with_orders, 0)

    def follow_events(self, after: int, *, history: str = "", with_orders: bool = False) -> Iterator[Event]:
        """Is events, but waits for new ones, without end."""
        return self._events(after, history, with_orders, 30)

    def _events(self, after: int, history: str, with_orders: bool, wait: int) -> Iterator[Event]:
        while True:
            requested = time.monotonic()
            page = self.events_page(after, wait=wait, with_orders=with_orders)
            if page["history"] != (history or page["history"]) or page["newest"] < after:
                raise HistoryChanged("event numbers have started again; begin a new copy")
            after, history = page["next"], page["history"]
            for event in page["events"]:
                event["history"] = history
                yield event
            if not page["events"]:
                if not wait:
                    return
                if time.monotonic() - requested < 1:  # too many clients wait, and the service responds at once
                    time.sleep(1 + random.random())

    def webhooks(self) -> list[Webhook]:
        """Returns the webhooks."""
        return cast("list[Webhook]", self._ask("webhooks", "GET", "/webhooks")[0]["webhooks"])

    def create_webhook(self, webhook: WebhookRequest, *, key: str = "") -> WebhookSecret:
        """Creates a webhook, such as {"url": "https://hooks.example.com/orders"}, and returns it with its secret.

        The secret cannot be read again. It is None if the response to an earlier attempt
        was lost.
        """
        return cast(WebhookSecret, self._ask("webhook", "POST", "/webhooks", webhook, key=key)[0])

    def rotate_webhook_secret(self, webhook_id: int, overlap: str, *, key: str = "") -> WebhookSecret:
        """Replaces the secret of a webhook, and returns it as create_webhook does; both sign for overlap, such as 24h."""
        return cast(WebhookSecret, self._ask("webhook", "POST", f"/webhooks/{webhook_id}/secret", {"overlap": overlap}, key=key)[0])

    def update_webhook(self, webhook_id: int, change: WebhookChange, *, key: str = "") -> Webhook:
        """Changes a webhook, such as {"enabled": True}, and returns it."""
        return cast(Webhook, self._ask("id", "PATCH", f"/webhooks/{webhook_id}", change, key=key)[0])

    def delete_webhook(self, webhook_id: int, *, key: str = "") -> None:
        """Deletes a webhook."""
        self._ask("success", "DELETE", f"/webhooks/{webhook_id}", key=key)

    def test_webhook(self, webhook_id: int, *, key: str = "") -> Delivery:
        """Sends a test event to a webhook, and returns what came of it."""
        return cast(Delivery, self._ask("delivery", "POST", f"/webhooks/{webhook_id}/test", key=key)[0]["delivery"])

    def tokens(self) -> Iterator[Token]:
        """Returns all tokens of the merchant, by id."""
        after: int | None = 0
        while after is not None:
            page, _ = self._ask("tokens", "GET", "/tokens?" + _query(after=after, limit=1000))
            yield from page["tokens"]
            after = page["next"]

    def create_token(self, request: TokenRequest, *, key: str = "") -> CreatedToken:
        """Creates a token, such as {"scopes": ["orders:read"], "label": "till"}, and returns it with its text.

        The text cannot be read again. It is None if the response to an earlier attempt was
        lost: revoke the token then.
        """
        return cast(CreatedToken, self._ask("token", "POST", "/tokens", request, key=key)[0])

    def rotate_token(self, token_id: int, overlap: str, *, key: str = "") -> RotatedToken:
        """Replaces a token, which may be the client's own, by a new one; the old one stays valid for overlap, such as 24h."""
        return cast(RotatedToken, self._ask("token", "POST", f"/tokens/{token_id}/rotate", {"overlap": overlap}, key=key)[0])

    def revoke_token(self, token_id: int, *, key: str = "") -> None:
        """Revokes a token."""
        self._ask("success", "DELETE", f"/tokens/{token_id}", key=key)

    def _call(
        self, method: str, path: str, body: bytes | None = None, key: str = "", if_match: str = "", wait: int = 0, has: str = ""
    ) -> tuple[Any, http.client.HTTPMessage]:
        """Returns the JSON of a response, or that of its lines before the last, and its headers."""
        write = {} if method == "GET" else {"Idempotency-Key": key or secrets.token_hex(16)}
        if if_match:
            write["If-Match"] = if_match
        if not re.fullmatch("[ -~]*", key + if_match):
            raise ValueError("a key or tag has other characters than printable ASCII")
        kind = "application/x-ndjson" if path == "/orders/answers" else "application/json"
        for number in itertools.count(1):
            try:
                with self._response(method, self._base + path, body, write, wait, kind) as response:
                    if kind == "application/x-ndjson":
                        return list(_lines(response, {})), response.headers
                    document = json.loads(_plain(response).read())
                    if has and (not isinstance(document, dict) or document.get(has) in (None, False)):  # of another server
                        raise ClientError(f"unexpected response: it has no {has}", status=response.status, request_id=_request_id(response))
                    return document, response.headers
            except ClientError as error:
                self._pause(number, error)
        raise AssertionError  # the loop does not end

    @contextlib.contextmanager
    def _response(
        self, method: str, url: str, body: bytes | None = None, write: Mapping[str, str] = {}, wait: int = 0, kind: str = "application/json"
    ) -> Iterator[http.client.HTTPResponse]:
        """Sends a request once. The errors of the connection and of the service become a ClientError, also those of reading."""
        headers = {"User-Agent": "merchant-orders-python/2", "Accept": kind, "Prefer": "handling=strict", **write}
        if _origin(url) == _origin(self._base):  # the token must not reach another address
            headers["Authorization"] = "Bearer " + self._token
        if kind != "*/*":
            headers["Accept-Encoding"] = "gzip"
        if body is not None:
            headers["Content-Type"] = kind
        request_id = ""
        try:
            connection, response = self._send(method, url, body, headers, self._timeout + wait)
            for name, value in response.headers.items():  # errors show some
                if self._token in value:
                    response.headers.replace_header(name, value.replace(self._token, "[token]"))
            request_id = _request_id(response)
            try:
                if not 200 <= response.status <= 299:
                    raise _refusal(response, self._token)
                if kind not in (response.headers.get_content_type(), "*/*"):
                    raise ClientError("unexpected response: it is no " + kind, status=response.status, request_id=request_id)
                yield response
                response.read()  # the end of its compression and of its parts
            finally:
                if response.isclosed() and not response.will_close:  # it was read to its end
                    self._idle.append((os.getpid(), _origin(url), connection))
                else:
                    connection.close()
        except (OSError, http.client.HTTPException, EOFError, zlib.error) as error:
            raise TransportError(f"no response: {error}", temporary=not isinstance(error, ssl.SSLCertVerificationError), request_id=request_id) from error
        except ValueError as error:  # it is cut off
            raise TransportError(f"unexpected response: {error}", temporary=True, request_id=request_id) from error

    def _send(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Sends a request on an idle connection or a new one."""
        connection, target = _connection(url, timeout)
        while True:
            try:
                process, origin, kept = self._idle.pop()
            except IndexError:
                connection.request(method, target, body, headers)
                return connection, connection.getresponse()
            if kept.sock and (process, origin) == (os.getpid(), _origin(url)):
                kept.sock.settimeout(timeout)
                with contextlib.suppress(ConnectionError, ssl.SSLError):  # the service had closed it, or it recognizes the key of a write
                    kept.request(method, target, body, headers)
                    return kept, kept.getresponse()
            kept.close()

    def _pause(self, number: int, error: ClientError) -> None:
        """Waits after an attempt, or raises its error if there is to be no other. The random part spreads many clients."""
        if number >= self._tries or not error.temporary or error.retry_after > self._max_wait:
            raise error
        backoff = min(0.25 * 2 ** (number - 1), self._max_wait)
        time.sleep(error.retry_after + 0.25 * random.random() if error.retry_after else backoff * (0.5 + 0.5 * random.random()))


class Export:
    """An export of whole orders, oldest first.

    After the last order, after and history are where the change feed ended before the
    first was read: follow it from there, and the copy misses no change.
    """

    def __init__(self, client: Client, query: dict[str, str | None]):
        self._client, self._query = client, query
        self.after, self.history = 0, ""

    def orders(self) -> Iterator[Order]:
        """Returns the orders. After a connection that breaks it goes on after the last order."""
        attempts = 0
        while True:
            attempts += 1
            try:
                url = f"{self._client._base}/orders/export?{_query(**self._query)}"
                with self._client._response("GET", url, kind="application/x-ndjson") as response:
                    end: dict[str, Any] = {}
                    for order in _lines(response, end):
                        self._query["cursor"], attempts = f"{response.headers['Export-Cursor']}.{order['id']}", 0
                        yield order
                    self.after, self.history = end["after"], end["history"]
                    return
            except ClientError as error:
                self._client._pause(max(attempts, 1), error)


def verify_webhook(headers: Mapping[str, str] | email.message.Message, body: bytes, *signing_secrets: str) -> Event:
    """Verifies a delivery of a webhook, given its headers and whole body, and returns its event.

    Raises WebhookError unless one of the secrets signed it within the last five minutes.
    A receiver that stores the header Webhook-Id processes no event twice. A webhook with
    a batch needs webhook_events.
    """
    delivery = _verified(headers, body, signing_secrets)
    if "events" in delivery:
        raise ValueError("the delivery is a batch, which webhook_events reads")
    event: Event = delivery
    return event


def webhook_events(headers: Mapping[str, str] | email.message.Message, body: bytes, *signing_secrets: str) -> list[Event]:
    """Is verify_webhook for every webhook, with a batch or without: returns the events of the delivery, in order.

    The response acknowledges all of them, or none. An event may arrive again, also in
    another batch. It is the same one if seq and at are.
    """
    delivery = _verified(headers, body, signing_secrets)
    events: list[Event] = delivery["events"] if "events" in delivery else [delivery]
    if not isinstance(events, list) or not all(isinstance(event, dict) and event.get("type") for event in events):
        raise ValueError("the delivery has no list of events with types")
    return events


def _verified(headers: Mapping[str, str] | email.message.Message, body: bytes, signing_secrets: tuple[str, ...]) -> Any:
    """Verifies a delivery and returns its JSON."""
    header = {name.lower(): value for name, value in headers.items()}
    message_id, sent = header.get("webhook-id", ""), header.get("webhook-timestamp", "")
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", sent) or abs(time.time() - int(sent)) > 300:
        raise WebhookError("the id or the time of the delivery is missing, or its time is more than five minutes off")
    valid = False
    for secret in signing_secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        if not key:
            raise ValueError("the secret of the webhook is empty")
        signature = hmac.digest(key, f"{message_id}.{sent}.".encode() + body, hashlib.sha256)
        expected = b"v1," + base64.b64encode(signature)
        for got in header.get("webhook-signature", "").encode().split():
            valid |= hmac.compare_digest(expected, got)
    if not valid:
        raise WebhookError("no signature of the delivery matches")
    return json.loads(body)


def _origin(url: str) -> str:
    """Returns scheme, host and port of a URL."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or {'http': 80, 'https': 443}.get(parts.scheme)}"


def _connection(url: str, timeout: float) -> tuple[http.client.HTTPConnection, str]:
    """Returns a new connection for a URL, by the proxy of the environment if there is one, and what to request."""
    parts = urllib.parse.urlsplit(url)
    kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}[parts.scheme]
    target = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
    proxy = urllib.request.getproxies().get(parts.scheme)
    if not proxy or urllib.request.proxy_bypass(parts.netloc):
        return kind(parts.netloc, timeout=timeout), target
    through = urllib.parse.urlsplit(proxy if "://" in proxy else "//" + proxy)
    connection = kind(through.netloc.rpartition("@")[2], timeout=timeout)
    if parts.scheme == "http":
        return connection, url
    secret = base64.b64encode(urllib.parse.unquote(through.netloc.rpartition("@")[0]).encode()).decode()
    connection.set_tunnel(parts.netloc, headers={"Proxy-Authorization": "Basic " + secret} if secret else {})
    return connection, target


def _query(**parameters: object) -> str:
    return urllib.parse.urlencode({name: value for name, value in parameters.items() if value is not None})


def _path(reference: str, below: str = "") -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", reference):
        raise ValueError(f"{reference!r} is not a reference of an order")
    return f"/orders/{reference}{below}"


def _plain(response: http.client.HTTPResponse) -> IO[bytes]:
    """Returns the body without its compression."""
    return gzip.GzipFile(fileobj=response) if response.headers.get("Content-Encoding") == "gzip" else response  # type: ignore[return-value]


def _request_id(response: http.client.HTTPResponse) -> str:
    return response.headers.get("X-Request-Id", "")


def _lines(response: http.client.HTTPResponse, end: dict[str, Any]) -> Iterator[Any]:
    """Returns the lines of a response before its summary, which it writes to end."""
    for line in _plain(response):
        document = json.loads(line) if line.endswith(b"\n") else {}
        if document.get("complete"):
            end.update(document)
            return
        if not document or "complete" in document:
            raise TransportError(document.get("problem", "the response broke off"), temporary=True, request_id=_request_id(response))
        yield document
    raise TransportError("the response has no end", temporary=True, request_id=_request_id(response))


def _refusal(response: http.client.HTTPResponse, token: str) -> ClientError:
    """Returns the error of a status that is no success."""
    code, message, text = "", "", ""
    with contextlib.suppress(OSError, http.client.HTTPException, EOFError, zlib.error, ValueError, AttributeError):
        text = _plain(response).read(64 << 10).decode(errors="replace").replace(token, "[token]")
        body = json.loads(text)
        error = body["error"] if isinstance(body.get("error"), dict) else body  # a proxy has other forms
        code, message = str(error.get("code") or ""), str(error.get("message") or "")
    status, retry_after = response.status, _seconds(response.headers.get("Retry-After", ""))
    # A 409 without Retry-After stays.
    temporary = status in (408, 429) or status >= 500 or status == 409 and retry_after > 0
    kind = UnavailableError if status >= 500 else _KINDS.get(status, ClientError)
    if not message or status == 404 and not code and not re.match("The .* was not found", message):
        moved, page = response.headers.get("Location"), " ".join(re.sub("(?is)<head.*?</head>|<[^>]*>", " ", text).split())[:200]
        message = "a proxy or another server responded" + (f": it is at {moved}" if moved else f": {page}" if page else "")
        kind = ClientError if status == 404 else kind  # the order may exist
    return kind(
        message, temporary=temporary, status=status, code=code, retry_after=retry_after,
        request_id=_request_id(response), detail=response.headers.get("Error-Detail", ""),
    )


_KINDS = {
    401: UnauthorizedError, 403: ForbiddenError, 404: NotFoundError, 412: PreconditionError, 422: KeyReusedError, 429: RateLimitedError,
}


def _seconds(retry_after: str) -> float:
    """Returns the value of Retry-After, which is a number of seconds or a date."""
    if re.fullmatch(r"[0-9]{1,9}", retry_after):
        return int(retry_after)
    with contextlib.suppress(ValueError, TypeError):  # the latter in Python 3.9
        return max(email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time(), 0)
    return 0
