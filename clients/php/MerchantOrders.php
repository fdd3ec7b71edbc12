<?php

/**
 * Webhooks and the change feed of version 2 of Merchant Orders, for PHP 8.1 or later with its extensions json and openssl.
 *
 *     $client = new MerchantOrders\Client('https://orders.example.com', $token);
 *     foreach ($client->followEvents(0, withOrders: true) as $event) { ... }
 *
 * Events and orders are objects as the interface shows them: amounts are integers in the minor unit of the currency, times
 * are texts in UTC. A call is retried after a broken connection, a timeout, and the statuses 408, 429 and 5xx.
 */

declare(strict_types=1);

namespace MerchantOrders;

/** A call failed. If temporary, a later attempt may succeed. */
class ClientError extends \RuntimeException
{
    public function __construct(
        string $message,
        public readonly bool $temporary = false,
        public readonly int $status = 0, // 0: no response
        public readonly string $errorCode = '', // of the service; may be empty
        public readonly float $retryAfter = 0, // seconds; 0: the service has not said
        public readonly string $detail = '', // of the service: what is wrong and what is right; may be empty
    ) {
        $text = $detail ? rtrim($message, '.') . ": $detail" : $message;
        parent::__construct($status ? "$text (status $status)" : $text);
    }
}

/** Event numbers have started again: discard the position and begin a new copy. */
class HistoryChanged extends ClientError
{
}

/** A request is no valid delivery of a webhook: respond with 401 and ignore it. */
class WebhookError extends \RuntimeException
{
}

/** Calls one service with one token. */
class Client
{
    /** A call makes at most $tries attempts, with at most $maxWait seconds between two; each waits $timeout seconds for the service. */
    public function __construct(
        private readonly string $baseUrl,
        #[\SensitiveParameter] private readonly string $token,
        private readonly int $timeout = 60,
        private readonly int $tries = 5,
        private readonly int $maxWait = 60,
    ) {
        if (!preg_match('~^https?://[^/?#@\s]+(/[^?#\s]*)?$~D', $baseUrl)) {
            throw new \InvalidArgumentException('the address of the service must be a URL such as https://orders.example.com');
        }
        if (!preg_match('/^[!-\~]+$/D', $token)) {
            throw new \InvalidArgumentException('the token is empty or contains characters that are not allowed in a token');
        }
    }

    /** Returns the events after a number or 'latest', waiting up to $wait seconds (at most 30) for one. */
    public function eventsPage(int|string $after, int $limit = 1000, int $wait = 0, bool $withOrders = false): \stdClass
    {
        $query = ['after' => $after, 'limit' => $limit, 'wait' => $wait] + ($withOrders ? ['include' => 'order'] : []);
        for ($attempt = 1;; $attempt++) {
            try {
                return $this->get('/events?' . http_build_query($query), $wait);
            } catch (ClientError $error) {
                if ($attempt >= $this->tries || !$error->temporary || $error->retryAfter > $this->maxWait) {
                    throw $error;
                }
                // The random part spreads many clients.
                $backoff = min(0.25 * 2 ** ($attempt - 1), $this->maxWait) * (0.5 + lcg_value() / 2);
                usleep((int) (1e6 * ($error->retryAfter ? $error->retryAfter + lcg_value() / 4 : $backoff)));
            }
        }
    }

    /**
     * Returns the events after a number, up to the newest, $withOrders each with its order. To go on later, store seq and
     * history of the last one. Throws HistoryChanged if numbers have started again.
     */
    public function events(int $after, string $history = '', bool $withOrders = false): \Generator
    {
        return $this->pages($after, $history, $withOrders, 0);
    }

    /** Is events, but waits for new ones, without end. */
    public function followEvents(int $after, string $history = '', bool $withOrders = false): \Generator
    {
        return $this->pages($after, $history, $withOrders, 30);
    }

    private function pages(int $after, string $history, bool $withOrders, int $wait): \Generator
    {
        while (true) {
            $requested = microtime(true);
            $page = $this->eventsPage($after, wait: $wait, withOrders: $withOrders);
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
                usleep(random_int(1_000_000, 2_000_000));
            }
        }
    }

    /** Sends a request once and returns the JSON of the response. */
    private function get(string $path, int $wait): \stdClass
    {
        $context = stream_context_create(['http' => [
            'header' => ["Authorization: Bearer $this->token", 'Accept: application/json', 'User-Agent: merchant-orders-php/2'],
            'timeout' => $this->timeout + $wait,
            'follow_location' => 0, // the token must not reach another address
            'ignore_errors' => true, // of statuses: the body is read, too
        ]]);
        $stream = @fopen(rtrim($this->baseUrl, '/') . '/v2' . $path, 'r', false, $context);
        $text = $stream ? stream_get_contents($stream) : false;
        if ($text === false) {
            throw new ClientError('no response: ' . (error_get_last()['message'] ?? ''), temporary: true);
        }
        $lines = implode("\n", stream_get_meta_data($stream)['wrapper_data']);
        $status = preg_match('~^HTTP/\S+ (\d+)~', $lines, $match) ? (int) $match[1] : 0;
        $body = json_decode($text);
        if ($status === 200 && $body instanceof \stdClass) {
            return $body;
        }
        if ($status === 200) {
            throw new ClientError('the response broke off', temporary: true, status: $status);
        }
        $after = preg_match('/^Retry-After: *(.+)$/mi', $lines, $match) ? trim($match[1]) : '';
        $seconds = is_numeric($after) ? (float) $after : max((int) strtotime($after) - time(), 0);
        $detail = preg_match('/^Error-Detail: *(.+)$/mi', $lines, $match) ? trim($match[1]) : '';
        $message = $body->error->message ?? $body->message ?? 'the service refused the request';
        throw new ClientError($message, in_array($status, [408, 429], true) || $status >= 500, $status, $body->error->code ?? '', $seconds, $detail);
    }
}

/**
 * Verifies a delivery of a webhook, given the headers of the request ($_SERVER) and its whole body
 * (file_get_contents('php://input')), and returns its event. Throws WebhookError unless one of the secrets signed it within
 * the last five minutes. A receiver that stores the header Webhook-Id processes no event twice. A webhook with a batch needs
 * webhookEvents.
 */
function verifyWebhook(array $server, string $body, #[\SensitiveParameter] string ...$secrets): \stdClass
{
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
 */
function webhookEvents(array $server, string $body, #[\SensitiveParameter] string ...$secrets): array
{
    $delivery = verified($server, $body, $secrets);
    $events = $delivery->events ?? [$delivery];
    foreach (is_array($events) ? $events : [null] as $event) {
        if (!isset($event->type)) {
            throw new \UnexpectedValueException('the delivery has no list of events with types');
        }
    }
    return $events;
}

/** Verifies a delivery and returns its JSON. @internal */
function verified(array $server, string $body, #[\SensitiveParameter] array $secrets): \stdClass
{
    [$id, $sent] = [$server['HTTP_WEBHOOK_ID'] ?? '', $server['HTTP_WEBHOOK_TIMESTAMP'] ?? ''];
    if ($id === '' || !preg_match('/^[0-9]{1,12}$/D', $sent) || abs(time() - (int) $sent) > 300) {
        throw new WebhookError('the id or the time of the delivery is missing, or its time is more than five minutes off');
    }
    $valid = false;
    foreach ($secrets as $secret) {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if (!$key) {
            throw new \InvalidArgumentException('the secret of the webhook is not valid; it begins with whsec_');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
        foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
            $valid = hash_equals($expected, $signature) || $valid;
        }
    }
    if (!$valid) {
        throw new WebhookError('no signature of the delivery matches');
    }
    return json_decode($body, flags: JSON_THROW_ON_ERROR);
}
