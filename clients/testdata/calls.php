<?php
// Makes every call of the client, for a test that compares what it prints.
declare(strict_types=1);

require 'MerchantOrders.php';

use MerchantOrders\{Client, ClientError, HistoryChanged, WebhookError};
use function MerchantOrders\{verifyWebhook, webhookEvents};

/** Returns the error of a call. */
function refusal(callable $call): Throwable
{
    try {
        $call();
    } catch (ClientError $error) {
        return $error;
    }
    throw new LogicException('no error');
}

$client = new Client(getenv('ORDERS_URL'), getenv('ORDERS_TOKEN'), maxWait: 1);
$end = $client->eventsPage('latest');
$result = ['end' => $end->next];
$events = iterator_to_array($client->events($end->next - 2, $end->history, withOrders: true), false);
$result['events'] = array_map(fn ($event) => [$event->type, $event->order->state], $events);
foreach ($client->followEvents($end->next - 2) as $event) {
    $result['followed'] = !isset($event->order) && $event->history === $end->history;
    break;
}
$result['history'] = refusal(fn () => iterator_to_array($client->events(0, 'other'))) instanceof HistoryChanged ? 'changed' : '';
$unknown = refusal(fn () => (new Client(getenv('ORDERS_URL'), 'mo_unknown'))->eventsPage(0));
$result['unknown'] = [$unknown->status, $unknown->errorCode, $unknown->temporary, $unknown->detail !== '' && str_contains($unknown->getMessage(), $unknown->detail)];
$limited = refusal(fn () => $client->eventsPage(0, limit: 999));
$result['limited'] = [$limited->status, $limited->retryAfter];

/** Returns the numbers of the events of a delivery, or what is wrong with it. */
function numbers(callable $read, array $delivery): array|string
{
    $server = [];
    foreach ($delivery['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
    }
    try {
        $events = $read($server, $delivery['body'], getenv('WEBHOOK_SECRET'));
    } catch (WebhookError) {
        return 'refused';
    } catch (UnexpectedValueException | JsonException) {
        return 'unreadable';
    }
    return array_map(fn ($event) => $event->seq, is_array($events) ? $events : [$events]);
}

foreach (json_decode(getenv('DELIVERIES'), true) as $name => $delivery) {
    $result['deliveries'][$name] = [numbers(webhookEvents(...), $delivery), numbers(verifyWebhook(...), $delivery)];
}
echo json_encode($result), "\n";
