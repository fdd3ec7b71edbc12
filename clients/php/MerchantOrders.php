<?php

/**
 * Client of version 2 of Merchant Orders, for PHP 7.4 or later.
 *
 *     $client = new MerchantOrders\Client('https://orders.example.com', $token);
 *     foreach ($client->orders('registered') as $order) {
 *         $client->accept($order->id);
 *     }
 *
 * Orders and events are objects as the interface shows them: amounts are integers in the minor unit of the currency, times
 * are texts in UTC. A call is retried after a broken connection, a timeout, and the statuses 408, 429, 5xx, and 409 with
 * Retry-After. Each write has an Idempotency-Key, which is the same in all attempts, so the service makes the change once.
 *
 * It uses the extension curl, which keeps connections open, or else the streams of PHP.
 */

declare(strict_types=1);

namespace MerchantOrders;

/** A call failed. If temporary, a later attempt may succeed. */
class ClientError extends \RuntimeException
{
    public bool $temporary;
    public int $status; // 0: no response
    public string $errorCode; // of the service, such as "10304"; may be empty
    public float $retryAfter; // seconds; 0: the service has not said
    public string $requestId; // for the log of the service; may be empty
    public string $detail; // of the service: what is wrong and what is right; may be empty

    public function __construct(
        string $message,
        bool $temporary = false,
        int $status = 0,
        string $errorCode = '',
        float $retryAfter = 0,
        string $requestId = '',
        string $detail = ''
    ) {
        $about = [];
        foreach (array_filter(['status' => $status, 'code' => $errorCode, 'request' => $requestId]) as $name => $value) {
            $about[] = "$name $value";
        }
        $message = in_array($detail, ['', $message, "$message."], true) ? $message : rtrim($message, '.') . ": $detail";
        parent::__construct($about ? "$message (" . implode(', ', $about) . ')' : $message);
        [$this->temporary, $this->status, $this->errorCode] = [$temporary, $status, $errorCode];
        [$this->retryAfter, $this->requestId, $this->detail] = [$retryAfter, $requestId, $detail];
    }
}

/** No complete response. */
class TransportError extends ClientError {}

/** 401: the token is missing or not valid. */
class UnauthorizedError extends ClientError {}

/** 403: the token does not allow this. */
class ForbiddenError extends ClientError {}

/** 404: it does not exist, or is another merchant's. */
class NotFoundError extends ClientError {}

/** 412: the order has changed since $ifMatch was read. */
class PreconditionError extends ClientError {}

/** 422: the key belongs to another write. */
class KeyReusedError extends ClientError {}

/** 429: too many requests. */
class RateLimitedError extends ClientError {}

/** 5xx: the service failed, or is temporarily unavailable. */
class UnavailableError extends ClientError {}

/** Event numbers have started again: discard the position and begin a new copy. */
class HistoryChanged extends ClientError {}

/** A request is no valid delivery of a webhook: respond with 401 and ignore it. */
class WebhookError extends \RuntimeException {}

/**
 * Calls one service with one token.
 *
 * Calls for changes take the tag that order returned as $ifMatch, so that the change fails if the order is no longer as it was
 * read, and a $key instead of a random one; store it before the call to repeat the change after a crash.
 *
 * @phpstan-import-type AnswerResult from Types
 * @phpstan-import-type CreatedToken from Types
 * @phpstan-import-type Delivery from Types
 * @phpstan-import-type Event from Types
 * @phpstan-import-type Feed from Types
 * @phpstan-import-type Invoice from Types
 * @phpstan-import-type InvoiceLink from Types
 * @phpstan-import-type Order from Types
 * @phpstan-import-type OrderSummary from Types
 * @phpstan-import-type RotatedToken from Types
 * @phpstan-import-type Token from Types
 * @phpstan-import-type UnansweredOrder from Types
 * @phpstan-import-type Webhook from Types
 * @phpstan-import-type WebhookSecret from Types
 */
class Client
{
    private string $baseUrl;
    private string $token;
    private int $timeout;
    private int $tries;
    private int $maxWait;
    /** @var resource|\CurlMultiHandle|null with a connection that no request uses */
    private $idle = null;

    /**
     * A call makes at most $tries attempts, with at most $maxWait seconds between two; each waits $timeout seconds for the
     * service to send something.
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter]
        string $token,
        int $timeout = 60,
        int $tries = 5,
        int $maxWait = 60
    ) {
        if (!preg_match('~^https?://[^/?#@\s]+(/[^?#\s]*)?$~D', $baseUrl)) {
            throw new \InvalidArgumentException('the address of the service must be a URL such as https://orders.example.com');
        }
        if (!preg_match('/^[!-\~]+$/D', $token)) {
            throw new \InvalidArgumentException('the token is empty or contains characters that are not allowed in a token');
        }
        [$this->baseUrl, $this->token] = [rtrim($baseUrl, '/'), $token];
        [$this->timeout, $this->tries, $this->maxWait] = [$timeout, $tries, $maxWait];
    }

    /**
     * Sends any request below /v2, such as GET /webhooks, and returns the JSON of the response, and its headers by their names
     * in lower case.
     * @param mixed $body
     * @return array{\stdClass, array<string, string>}
     */
    public function request(string $method, string $path, $body = null, string $ifMatch = '', string $key = ''): array
    {
        return $this->ask('', $method, $path, $body, $ifMatch, $key);
    }

    /**
     * Is request for a response that has a member.
     * @param mixed $body
     * @return array{\stdClass, array<string, string>}
     */
    private function ask(string $has, string $method, string $path, $body = null, string $ifMatch = '', string $key = ''): array
    {
        return $this->call($method, $path, $body === null ? null : json($body), $ifMatch, $key, 0, $has);
    }

    /**
     * Returns all orders, newest first, each that existed at the beginning exactly once. Days are like 2026-11-20.
     * @return \Generator<OrderSummary>
     */
    public function orders(string $state = '', string $dateFrom = '', string $dateTo = ''): \Generator
    {
        $query = query(['itemsPerPage' => 100, 'state' => $state, 'dateFrom' => $dateFrom, 'dateTo' => $dateTo]);
        while ($query !== '') {
            [$page, $headers] = $this->ask('orders', 'GET', "/orders$query");
            foreach ($page->orders as $order) {
                yield $order;
            }
            $query = preg_match('/<[^>]*(\?[^>]*)>; rel="next"/', $headers['link'] ?? '', $match) ? $match[1] : '';
        }
    }

    /**
     * Returns the orders to accept or reject, the earliest deadline first; only those with a deadline before a time such as
     * 2026-11-20T12:00:00Z.
     * @return \Generator<UnansweredOrder>
     */
    public function unanswered(string $before = ''): \Generator
    {
        return $this->withCursor('/orders/unanswered', ['expiresBefore' => $before]);
    }

    /**
     * Returns the orders whose customer asked for an invoice and that have no invoice file, oldest first, without those rejected
     * or canceled.
     * @return \Generator<OrderSummary>
     */
    public function withoutInvoice(): \Generator
    {
        return $this->withCursor('/orders/without-invoice', []);
    }

    /**
     * @param array<string, string> $query
     * @return \Generator<mixed>
     */
    private function withCursor(string $path, array $query): \Generator
    {
        for ($cursor = ''; $cursor !== null; $cursor = $page->next) {
            [$page] = $this->ask('orders', 'GET', $path . query(['limit' => 100, 'cursor' => $cursor] + $query));
            foreach ($page->orders as $order) {
                yield $order;
            }
        }
    }

    /**
     * Returns the orders with your own number, newest first, at most 100.
     * @return list<OrderSummary>
     */
    public function byMerchantReference(string $number): array
    {
        if (in_array($number, ['', '.', '..'], true)) { // the path would be another one
            throw new \InvalidArgumentException("'$number' is not a number to find orders by");
        }
        return $this->ask('orders', 'GET', '/orders/by-merchant-reference/' . rawurlencode($number))[0]->orders;
    }

    /**
     * Returns an order, and its tag for $ifMatch.
     * @return array{Order, string}
     */
    public function order(string $reference): array
    {
        [$body, $headers] = $this->ask('order', 'GET', path($reference));
        return [$body->order, (string) preg_replace('~^W/~', '', $headers['etag'] ?? '')]; // weak: of a proxy that compresses
    }

    /** Accepts a registered order. */
    public function accept(string $reference, string $ifMatch = '', string $key = ''): void
    {
        $this->ask('success', 'PATCH', path($reference, '/accept'), null, $ifMatch, $key);
    }

    /** Rejects a registered order, for a reason such as out-of-stock, or none. */
    public function reject(string $reference, ?string $reason = null, string $ifMatch = '', string $key = ''): void
    {
        $this->ask('success', 'PATCH', path($reference, '/reject'), ['status' => 'D', 'reason' => $reason], $ifMatch, $key);
    }

    /**
     * Accepts and rejects orders, 500 in a request, and returns a result for each, in their order. A refused answer affects
     * no other and throws nothing. $key is that of the first request; the n-th has "-n" after it.
     * @param iterable<array{orderReference: string, answer: string, reason?: ?string, ifMatch?: ?string}> $answers
     * @return \Generator<AnswerResult>
     */
    public function answers(iterable $answers, string $key = ''): \Generator
    {
        $key = $key ?: bin2hex(random_bytes(16));
        $lines = [];
        foreach ($answers as $answer) {
            $lines[] = json($answer) . "\n";
        }
        foreach (array_chunk($lines, 500) as $number => $batch) {
            [$results] = $this->call('POST', '/orders/answers', implode('', $batch), '', $number ? "$key-" . ($number + 1) : $key);
            if (count($results) !== count($batch)) {
                throw new ClientError('unexpected response: results are missing');
            }
            foreach ($results as $result) {
                yield $result;
            }
        }
    }

    /**
     * Changes your own number and note of an order (merchantReference, merchantNote); null removes one.
     * @param array{merchantReference?: ?string, merchantNote?: ?string} $update
     */
    public function update(string $reference, array $update, string $ifMatch = '', string $key = ''): void
    {
        $this->ask('success', 'PATCH', path($reference), $update, $ifMatch, $key);
    }

    /**
     * Stores an invoice file (pdf, png, jpeg, jpg) of at most 4,000,000 bytes, and returns its entry. $document says which document
     * it is. A service of version 1.0.0 ignores it: the entry has what was stored.
     * @param array{kind?: string, number?: string, mark?: string, link?: string} $document
     * @return Invoice
     */
    public function uploadInvoice(
        string $reference,
        string $filename,
        string $content,
        string $ifMatch = '',
        string $key = '',
        array $document = []
    ): object {
        if (strlen($content) > 4000000) {
            throw new \LengthException('the file is larger than 4000000 bytes');
        }
        $body = ['filename' => $filename, 'contentBase64' => base64_encode($content)] + $document;
        return $this->ask('invoice', 'POST', path($reference, '/invoices'), $body, $ifMatch, $key)[0]->invoice;
    }

    /**
     * Returns the bytes of an invoice file of an order. The token is sent to the service only, not to another storage.
     * @param Invoice $invoice
     */
    public function downloadInvoice(object $invoice): string
    {
        if (!preg_match('~^https?://~i', $invoice->url)) {
            throw new \InvalidArgumentException('the invoice file has no URL to download from');
        }
        for ($attempt = 1;; $attempt++) {
            try {
                return joined($this->send('GET', $invoice->url, '*/*')[1]);
            } catch (ClientError $error) {
                $this->pause($attempt, $error);
            }
        }
    }

    /**
     * Deletes an invoice file of an order, and returns the remaining ones.
     * @return list<Invoice>
     */
    public function deleteInvoice(string $reference, int $invoiceId, string $ifMatch = '', string $key = ''): array
    {
        return $this->ask('invoices', 'DELETE', path($reference, "/invoices/$invoiceId"), null, $ifMatch, $key)[0]->invoices;
    }

    /**
     * Makes an address of an invoice file (url, expiresAt) that everybody can open, without a token, until it expires.
     * @return InvoiceLink
     */
    public function invoiceLink(string $reference, int $invoiceId, string $ifMatch = '', string $key = ''): object
    {
        return $this->ask('url', 'POST', path($reference, "/invoices/$invoiceId/link"), null, $ifMatch, $key)[0];
    }

    /** Returns an export of whole orders. One whose stored data is damaged has only id and problem. */
    public function export(string $state = '', string $dateFrom = '', string $dateTo = ''): Export
    {
        $query = ['state' => $state, 'dateFrom' => $dateFrom, 'dateTo' => $dateTo];
        return new Export(function () use (&$query): \Generator {
            [$headers, $parts] = $this->send('GET', "$this->baseUrl/v2/orders/export" . query($query), 'application/x-ndjson');
            $lines = lines($parts, $headers);
            foreach ($lines as $order) {
                $query['cursor'] = ($headers['export-cursor'] ?? '') . ".$order->id";
                yield $order;
            }
            return $lines->getReturn();
        }, \Closure::fromCallable([$this, 'pause']));
    }

    /**
     * Returns the events after a number or 'latest', waiting up to $wait seconds (at most 30) for one.
     * @param int|string $after
     * @return Feed
     */
    public function eventsPage($after, int $limit = 1000, int $wait = 0, bool $withOrders = false): object
    {
        $query = query(['after' => $after, 'limit' => $limit, 'wait' => $wait, 'include' => $withOrders ? 'order' : '']);
        return $this->call('GET', "/events$query", null, '', '', $wait, 'events')[0];
    }

    /**
     * Returns the events after a number, up to the newest, $withOrders each with its order. To go on later, store seq and
     * history of the last one. Throws HistoryChanged if numbers have started again.
     * @return \Generator<Event>
     */
    public function events(int $after, string $history = '', bool $withOrders = false): \Generator
    {
        return $this->pages($after, $history, $withOrders, 0);
    }

    /**
     * Is events, but waits for new ones, without end.
     * @return \Generator<Event>
     */
    public function followEvents(int $after, string $history = '', bool $withOrders = false): \Generator
    {
        return $this->pages($after, $history, $withOrders, 30);
    }

    /** @return \Generator<Event> */
    private function pages(int $after, string $history, bool $withOrders, int $wait): \Generator
    {
        while (true) {
            $requested = microtime(true);
            $page = $this->eventsPage($after, 1000, $wait, $withOrders);
            if ($page->history !== ($history ?: $page->history) || $page->newest < $after) {
                throw new HistoryChanged('event numbers have started again; begin a new copy');
            }
            [$after, $history] = [$page->next, $page->history];
            foreach ($page->events as $event) {
                $event->history = $history;
                yield $event;
            }
            if (!$page->events && !$wait) {
                return;
            }
            if (!$page->events && microtime(true) - $requested < 1) { // too many clients wait, and the service responds at once
                usleep(random_int(1000000, 2000000));
            }
        }
    }

    /**
     * Returns the webhooks.
     * @return list<Webhook>
     */
    public function webhooks(): array
    {
        return $this->ask('webhooks', 'GET', '/webhooks')[0]->webhooks;
    }

    /**
     * Creates a webhook, such as ['url' => 'https://hooks.example.com/orders', 'include' => 'order'], and returns it with its
     * secret, which cannot be read again. The secret is null if the response to an earlier attempt was lost.
     * @param array<string, mixed> $webhook
     * @return WebhookSecret
     */
    public function createWebhook(array $webhook, string $key = ''): object
    {
        return $this->ask('webhook', 'POST', '/webhooks', $webhook, '', $key)[0];
    }

    /**
     * Replaces the secret of a webhook, and returns it as createWebhook does; both sign for $overlap, such as 24h.
     * @return WebhookSecret
     */
    public function rotateWebhookSecret(int $id, string $overlap, string $key = ''): object
    {
        return $this->ask('webhook', 'POST', "/webhooks/$id/secret", ['overlap' => $overlap], '', $key)[0];
    }

    /**
     * Changes a webhook, such as ['enabled' => true], and returns it.
     * @param array<string, mixed> $change
     * @return Webhook
     */
    public function updateWebhook(int $id, array $change, string $key = ''): object
    {
        return $this->ask('id', 'PATCH', "/webhooks/$id", $change, '', $key)[0];
    }

    /** Deletes a webhook. */
    public function deleteWebhook(int $id, string $key = ''): void
    {
        $this->ask('success', 'DELETE', "/webhooks/$id", null, '', $key);
    }

    /**
     * Sends a test event to a webhook, and returns what came of it.
     * @return Delivery
     */
    public function testWebhook(int $id, string $key = ''): object
    {
        return $this->ask('delivery', 'POST', "/webhooks/$id/test", null, '', $key)[0]->delivery;
    }

    /**
     * Returns all tokens of the merchant, by id.
     * @return \Generator<Token>
     */
    public function tokens(): \Generator
    {
        for ($after = 0; $after !== null; $after = $page->next) {
            [$page] = $this->ask('tokens', 'GET', '/tokens' . query(['after' => $after, 'limit' => 1000]));
            foreach ($page->tokens as $token) {
                yield $token;
            }
        }
    }

    /**
     * Creates a token, such as ['scopes' => ['orders:read'], 'label' => 'till'], and returns it with its text, which cannot be
     * read again. The text is null if the response to an earlier attempt was lost: revoke the token then.
     * @param array{scopes?: list<string>, label?: string, expires?: string} $request
     * @return CreatedToken
     */
    public function createToken(array $request = [], string $key = ''): object
    {
        return $this->ask('token', 'POST', '/tokens', (object) $request, '', $key)[0];
    }

    /**
     * Replaces a token, which may be the client's own, by a new one; the old one stays valid for $overlap, such as 24h.
     * @return RotatedToken
     */
    public function rotateToken(int $id, string $overlap, string $key = ''): object
    {
        return $this->ask('token', 'POST', "/tokens/$id/rotate", ['overlap' => $overlap], '', $key)[0];
    }

    /** Revokes a token. */
    public function revokeToken(int $id, string $key = ''): void
    {
        $this->ask('success', 'DELETE', "/tokens/$id", null, '', $key);
    }

    /**
     * Sends a request below /v2, with all attempts, and returns the JSON of the response, or that of its lines before the last,
     * and its headers.
     * @return array{mixed, array<string, string>}
     */
    private function call(string $method, string $path, ?string $body = null, string $ifMatch = '', string $key = '', int $wait = 0, string $has = ''): array
    {
        $type = $path === '/orders/answers' ? 'application/x-ndjson' : 'application/json';
        $write = $method === 'GET' ? [] : ['Idempotency-Key: ' . ($key ?: bin2hex(random_bytes(16)))];
        if ($ifMatch !== '') {
            $write[] = "If-Match: $ifMatch";
        }
        if (!preg_match('/^[ -~]*$/D', implode('', $write))) {
            throw new \InvalidArgumentException('a key or tag has other characters than printable ASCII');
        }
        for ($attempt = 1;; $attempt++) {
            try {
                [$headers, $parts] = $this->send($method, "$this->baseUrl/v2$path", $type, $body, $write, $wait);
                if ($type === 'application/x-ndjson') {
                    return [iterator_to_array(lines($parts, $headers), false), $headers];
                }
                $json = json_decode(joined($parts));
                if (!$json instanceof \stdClass) {
                    throw new TransportError('the response broke off', true, 0, '', 0, requestId($headers));
                }
                if ($has !== '' && ($json->$has ?? false) === false) { // it is of another server
                    throw new ClientError("unexpected response: it has no $has", false, (int) $headers[':status'], '', 0, requestId($headers));
                }
                return [$json, $headers];
            } catch (ClientError $error) {
                $this->pause($attempt, $error);
            }
        }
    }

    /**
     * Sends a request once, and returns the headers of a success, by their names in lower case, and the parts of its body, as
     * they arrive.
     * @param list<string> $write headers
     * @return array{array<string, string>, \Generator<string>}
     */
    private function send(string $method, string $url, string $type, ?string $body = null, array $write = [], int $wait = 0): array
    {
        $headers = array_merge(["Accept: $type", 'Prefer: handling=strict', 'User-Agent: merchant-orders-php/2'], $write);
        if (origin($url) === origin($this->baseUrl)) { // the token must not reach another address
            $headers[] = "Authorization: Bearer $this->token";
        }
        if ($body !== null) {
            $headers[] = "Content-Type: $type";
        }
        $lines = [];
        if (extension_loaded('curl')) {
            $parts = $this->curl($method, $url, $headers, $body, $this->timeout + $wait, $lines);
        } elseif (ini_get('allow_url_fopen') && in_array(parse_url($url, PHP_URL_SCHEME), stream_get_wrappers(), true)) {
            $parts = streams($method, $url, $headers, $body, $this->timeout + $wait, $lines);
        } else {
            throw new ClientError('PHP cannot reach the service: it needs the extension curl, or allow_url_fopen, for https with the extension openssl');
        }
        $parts->rewind(); // to the first part, after the headers
        $received = headers(str_replace($this->token, '[token]', $lines)); // errors show some
        $status = (int) $received[':status'];
        if ($status < 200 || $status > 299) {
            for ($page = ''; $parts->valid() && strlen($page) < 0x10000; $parts->next()) {
                $page .= $parts->current();
            }
            throw refusal($status, $received, str_replace($this->token, '[token]', $page));
        }
        if ($type !== '*/*' && stripos($received['content-type'] ?? '', $type) !== 0) {
            throw new ClientError("unexpected response: it is no $type", false, $status, '', 0, requestId($received));
        }
        return [$received, $parts];
    }

    /**
     * Sends a request with curl, and returns the parts of the body, at least an empty one. $lines are the status lines and headers
     * before.
     * @param list<string> $headers
     * @param list<string> $lines
     * @return \Generator<string>
     */
    private function curl(string $method, string $url, array $headers, ?string $body, int $timeout, array &$lines): \Generator
    {
        [$multi, $curl, $part] = [$this->idle ?? curl_multi_init(), curl_init(), ''];
        $this->idle = null; // a request while this one is read has another connection
        curl_setopt_array($curl, [
            CURLOPT_URL => $url, CURLOPT_CUSTOMREQUEST => $method, CURLOPT_HTTPHEADER => array_merge($headers, ['Expect:']), CURLOPT_ENCODING => '',
            CURLOPT_CONNECTTIMEOUT => $timeout, CURLOPT_LOW_SPEED_LIMIT => 1, CURLOPT_LOW_SPEED_TIME => $timeout,
            CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$lines): int {
                $lines[] = trim($line);
                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => function ($_, string $text) use (&$part): int {
                $part .= $text;
                return strlen($text);
            },
        ] + ($body === null ? [] : [CURLOPT_POSTFIELDS => $body]));
        curl_multi_add_handle($multi, $curl);
        do {
            curl_multi_exec($multi, $running);
            if ($part !== '') {
                yield $part;
                $part = '';
            } elseif ($running && curl_multi_select($multi) < 1) {
                usleep(1000);
            }
        } while ($running);
        $result = curl_multi_info_read($multi)['result'] ?? CURLE_OK;
        if ($result !== CURLE_OK) {
            $certificate = in_array($result, [CURLE_SSL_CACERT, CURLE_SSL_PEER_CERTIFICATE, CURLE_SSL_CACERT_BADFILE], true);
            throw new TransportError('no response: ' . curl_error($curl), !$certificate, 0, '', 0, requestId(headers($lines)));
        }
        curl_multi_remove_handle($multi, $curl);
        $this->idle = $multi;
        yield '';
    }

    /** Waits after an attempt, or throws its error if there is to be no other. The random part spreads many clients. */
    private function pause(int $attempt, ClientError $error): void
    {
        if ($attempt >= $this->tries || !$error->temporary || $error->retryAfter > $this->maxWait) {
            throw $error;
        }
        $random = mt_rand() / mt_getrandmax();
        $backoff = min(0.25 * 2 ** ($attempt - 1), $this->maxWait) * (0.5 + $random / 2);
        usleep((int) (1e6 * ($error->retryAfter ? $error->retryAfter + $random / 4 : $backoff)));
    }
}

/**
 * An export of whole orders, oldest first. After the last order, after and history are where the change feed ended before the
 * first was read: follow it from there, and the copy misses no change.
 *
 * @phpstan-import-type Order from Types
 */
class Export
{
    public int $after = 0;
    public string $history = '';
    /** @var callable(): \Generator<Order> from the last order on */
    private $rest;
    /** @var callable(int, ClientError): void */
    private $pause;

    /**
     * @internal
     * @param callable(): \Generator<Order> $rest
     * @param callable(int, ClientError): void $pause
     */
    public function __construct(callable $rest, callable $pause)
    {
        [$this->rest, $this->pause] = [$rest, $pause];
    }

    /**
     * Returns the orders. After a connection that breaks it goes on after the last order.
     * @return \Generator<Order>
     */
    public function orders(): \Generator
    {
        for ($attempt = 1;; $attempt++) {
            try {
                foreach ($orders = ($this->rest)() as $order) {
                    $attempt = 0;
                    yield $order;
                }
                [$this->after, $this->history] = [$orders->getReturn()->after, $orders->getReturn()->history];
                return;
            } catch (ClientError $error) {
                ($this->pause)(max($attempt, 1), $error);
            }
        }
    }
}

/**
 * Verifies a delivery of a webhook, given the headers of the request ($_SERVER, or headers by name) and its whole body
 * (file_get_contents('php://input')), and returns its event. Throws WebhookError unless one of the secrets signed it within
 * the last five minutes. A receiver that stores the header Webhook-Id processes no event twice. A webhook with a batch needs
 * webhookEvents.
 * @param array<mixed> $server
 */
function verifyWebhook(
    array $server,
    string $body,
    #[\SensitiveParameter]
    string ...$secrets
): \stdClass {
    $delivery = verified($server, $body, $secrets);
    if (isset($delivery->events)) {
        throw new \UnexpectedValueException('the delivery is a batch, which webhookEvents reads');
    }
    return $delivery;
}

/**
 * Is verifyWebhook for every webhook, with a batch or without: returns the list of the events of the delivery, in order. The
 * response acknowledges all of them, or none. An event may arrive again, also in another batch. It is the same one if seq and
 * at are.
 * @param array<mixed> $server
 * @return list<\stdClass>
 */
function webhookEvents(
    array $server,
    string $body,
    #[\SensitiveParameter]
    string ...$secrets
): array {
    $delivery = verified($server, $body, $secrets);
    $events = $delivery->events ?? [$delivery];
    foreach (is_array($events) ? $events : [null] as $event) {
        if (!isset($event->type)) {
            throw new \UnexpectedValueException('the delivery has no list of events with types');
        }
    }
    return $events;
}

/**
 * Verifies a delivery and returns its JSON.
 * @internal
 * @param array<mixed> $server
 * @param array<string> $secrets
 */
function verified(
    array $server,
    string $body,
    #[\SensitiveParameter]
    array $secrets
): \stdClass {
    $headers = ['WEBHOOK_ID' => '', 'WEBHOOK_TIMESTAMP' => '', 'WEBHOOK_SIGNATURE' => ''];
    foreach ($server as $name => $value) {
        $name = preg_replace('/^HTTP_/', '', strtoupper(strtr((string) $name, '-', '_')));
        if (isset($headers[$name])) {
            $headers[$name] = is_array($value) ? implode(' ', $value) : (string) $value;
        }
    }
    [$id, $sent, $signatures] = array_values($headers);
    if ($id === '' || !preg_match('/^[0-9]{1,12}$/D', $sent) || abs(time() - (int) $sent) > 300) {
        throw new WebhookError('the id or the time of the delivery is missing, or its time is more than five minutes off');
    }
    $valid = false;
    foreach ($secrets as $secret) {
        $key = base64_decode((string) preg_replace('/^whsec_/', '', $secret), true);
        if (!$key) {
            throw new \InvalidArgumentException('the secret of the webhook is not valid; it begins with whsec_');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
        foreach (explode(' ', $signatures) as $signature) {
            $valid = hash_equals($expected, $signature) || $valid;
        }
    }
    if (!$valid) {
        throw new WebhookError('no signature of the delivery matches');
    }
    $delivery = json_decode($body, false, 512, JSON_THROW_ON_ERROR);
    if (!$delivery instanceof \stdClass) {
        throw new \UnexpectedValueException('the delivery is no object');
    }
    return $delivery;
}

/**
 * Sends a request with the streams of PHP, and returns the parts of the body. $lines are the status lines and headers before.
 * @internal
 * @param list<string> $headers
 * @param list<string> $lines
 * @return \Generator<string>
 */
function streams(string $method, string $url, array $headers, ?string $body, int $timeout, array &$lines): \Generator
{
    $context = stream_context_create(['http' => [
        'method' => $method, 'header' => $headers, 'content' => (string) $body, 'timeout' => $timeout, 'protocol_version' => 1.1,
        'follow_location' => 0, 'ignore_errors' => true, // of statuses: the body is read, too
    ]]);
    $problem = '';
    set_error_handler(function (int $_, string $message) use (&$problem): bool {
        $problem .= "$message ";
        return true;
    });
    $source = fopen($url, 'r', false, $context);
    restore_error_handler();
    if (!$source) {
        $problem = (string) preg_replace('/\s+/', ' ', $problem);
        throw new TransportError("no response: $problem", !preg_match('/peer certificate|certificate verify failed/i', $problem));
    }
    $lines = stream_get_meta_data($source)['wrapper_data'];
    $missing = preg_match('/^Content-Length: *(\d+)/mi', implode("\n", $lines), $match) ? (int) $match[1] : 0;
    do {
        // More than has arrived would wait for all of it. The error is below.
        $part = (string) @fread($source, max(1, stream_get_meta_data($source)['unread_bytes']));
        yield $part;
        $missing -= strlen($part);
        $late = stream_get_meta_data($source)['timed_out'];
    } while (!$late && !feof($source));
    if ($late || $missing > 0) {
        $problem = $late ? 'nothing was received in time' : 'the response broke off';
        throw new TransportError("no response: $problem", true, 0, '', 0, requestId(headers($lines)));
    }
}

/**
 * @internal
 * @param \Generator<string> $parts
 */
function joined(\Generator $parts): string
{
    return implode('', iterator_to_array($parts, false));
}

/**
 * Returns the headers of a response by their names in lower case, and its :status, from its lines.
 * @internal
 * @param list<string> $lines
 * @return array<string, string>
 */
function headers(array $lines): array
{
    $headers = [':status' => '0'];
    foreach ($lines as $line) {
        if (preg_match('~^HTTP/\S+ (\d+)~', $line, $match)) { // after those of an interim response
            $headers = [':status' => $match[1]];
        } else {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $before = isset($headers[strtolower($name)]) ? $headers[strtolower($name)] . ', ' : '';
            $headers[strtolower($name)] = $before . trim($value);
        }
    }
    return $headers;
}

/**
 * @internal
 * @param array<string, string> $headers
 */
function requestId(array $headers): string
{
    return $headers['x-request-id'] ?? '';
}

/**
 * Returns the lines of a response before its summary, which the generator returns.
 * @internal
 * @param \Generator<string> $parts
 * @param array<string, string> $headers
 * @return \Generator<\stdClass>
 */
function lines(\Generator $parts, array $headers): \Generator
{
    [$rest, $end] = ['', null];
    foreach ($parts as $part) {
        $lines = explode("\n", $rest . $part);
        $rest = array_pop($lines);
        foreach ($lines as $line) {
            $document = json_decode($line);
            if ($document->complete ?? false) {
                $end = $document; // read to the end: the connection stays
            } elseif (!$document instanceof \stdClass || isset($document->complete)) {
                throw new TransportError($document->problem ?? 'the response broke off', true, 0, '', 0, requestId($headers));
            } else {
                yield $document;
            }
        }
    }
    if ($end === null) {
        throw new TransportError('the response has no end', true, 0, '', 0, requestId($headers));
    }
    return $end;
}

/**
 * Returns the error of a status that is no success.
 * @internal
 * @param array<string, string> $headers
 */
function refusal(int $status, array $headers, string $text): ClientError
{
    $body = json_decode($text);
    $after = $headers['retry-after'] ?? '';
    $seconds = max(is_numeric($after) ? (float) $after : (int) strtotime($after) - time(), 0);
    // A 409 without Retry-After stays.
    $temporary = in_array($status, [0, 408, 429], true) || $status >= 500 || $status === 409 && $seconds > 0;
    $kinds = [
        401 => UnauthorizedError::class, 403 => ForbiddenError::class, 404 => NotFoundError::class, 412 => PreconditionError::class,
        422 => KeyReusedError::class, 429 => RateLimitedError::class,
    ];
    $kind = $kinds[$status] ?? ($status >= 500 ? UnavailableError::class : ClientError::class);
    $error = $body->error ?? null;
    [$code, $message] = [$error->code ?? '', $error->message ?? $body->message ?? ''];
    if (!is_string($message) || $message === '' || $status === 404 && !$code && !preg_match('/^The .* was not found/', $message)) {
        $page = (string) preg_replace(['~<head.*?</head>|<[^>]*>~is', '/\s+/'], ' ', $text);
        $about = isset($headers['location']) ? "it is at {$headers['location']}" : substr(trim($page), 0, 200);
        $message = rtrim("a proxy or another server responded: $about", ': ');
        $kind = $status === 404 ? ClientError::class : $kind; // the order may exist
    }
    return new $kind($message, $temporary, $status, is_scalar($code) ? (string) $code : '', $seconds, requestId($headers), $headers['error-detail'] ?? '');
}

/**
 * @internal
 * @param mixed $value
 */
function json($value): string
{
    return json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR);
}

/**
 * Returns a query without the parameters that are empty.
 * @internal
 * @param array<string, int|string> $parameters
 */
function query(array $parameters): string
{
    return '?' . http_build_query(array_filter($parameters, fn ($value) => $value !== ''));
}

/** @internal */
function path(string $reference, string $below = ''): string
{
    if (!preg_match('/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/D', $reference)) {
        throw new \InvalidArgumentException("'$reference' is not a reference of an order");
    }
    return "/orders/$reference$below";
}

/**
 * Returns scheme, host and port of a URL.
 * @internal
 */
function origin(string $url): string
{
    $parts = parse_url(strtolower($url)) ?: [];
    $scheme = $parts['scheme'] ?? '';
    return "$scheme://" . ($parts['host'] ?? '') . ':' . ($parts['port'] ?? ($scheme === 'https' ? 443 : 80));
}
