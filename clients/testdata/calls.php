<?php
// Makes every call of the client, for a test that compares what it prints.
declare(strict_types=1);

require 'MerchantOrders.php';

use MerchantOrders\{Client, ClientError, HistoryChanged, WebhookError};
use function MerchantOrders\verifyWebhook;

/** Returns the error of a call. */
function refusal(callable $call): Throwable
{
    try {
        $call();
    } catch (ClientError | WebhookError $error) {
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
$result['unknown'] = [$unknown->status, $unknown->errorCode, $unknown->temporary];
$limited = refusal(fn () => $client->eventsPage(0, limit: 999));
$result['limited'] = [$limited->status, $limited->retryAfter];

$delivery = json_decode(getenv('DELIVERY'), true);
$server = [];
foreach ($delivery['headers'] as $name => $value) {
    $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
}
$result['webhook'] = verifyWebhook($server, $delivery['body'], $delivery['secret'])->seq;
$forged = refusal(fn () => verifyWebhook($server, $delivery['body'] . ' ', $delivery['secret']));
$old = refusal(fn () => verifyWebhook(['HTTP_WEBHOOK_TIMESTAMP' => '1'] + $server, $delivery['body'], $delivery['secret']));
$result['forged'] = $forged instanceof WebhookError ? 'refused' : '';
$result['old'] = $old instanceof WebhookError ? 'refused' : '';
echo json_encode($result), "\n";
