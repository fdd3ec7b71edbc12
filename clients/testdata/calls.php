<?php
// Makes every call of the client, for a test that compares what it prints.
declare(strict_types=1);

namespace MerchantOrders;

require 'MerchantOrders.php';

/** Replaces the clock of the client: a published delivery is old. */
function time(): int
{
    return $GLOBALS['now'] ?? \time();
}

/** Returns the error of a call. */
function refused(callable $call): ClientError
{
    try {
        $call();
    } catch (ClientError $error) {
        return $error;
    }
    throw new \LogicException('no error');
}

/** Returns a property of each element. */
function all(iterable $elements, string $name): array
{
    return array_column([...$elements], $name);
}

$client = new Client(getenv('ORDERS_URL'), getenv('ORDERS_TOKEN'), 60, 5, 1);
$end = $client->eventsPage('latest');
$listed = all($client->orders('registered'), 'id');
$sorted = $listed;
sort($sorted);
$unanswered = all($client->unanswered(), 'id');
sort($unanswered);
$result = ['listed' => count(array_unique($listed)), 'unanswered' => $unanswered === $sorted];
$without = all($client->withoutInvoice(), 'hasInvoice');
$result['withoutInvoice'] = !in_array(false, $without, true) ? count($without) : 0;
[$first, $second, $third, $fourth] = $sorted;
[$order, $tag] = $client->order($first);
$client->accept($first, $tag);
$result['state'] = $client->order($first)[0]->state;
$again = refused(fn () => $client->accept($first));
$result['again'] = [$again->status, $again->errorCode, $again->temporary, $again->detail !== '' && strpos($again->getMessage(), $again->detail) !== false];
$stale = refused(fn () => $client->accept($first, $tag));
$missing = refused(fn () => $client->order('NONE'));
$result += ['stale' => $stale->status, 'missing' => $missing->status];
$limited = refused(fn () => $client->order('LIMITED'));
$result['limited'] = [$limited->status, $limited->retryAfter, $limited->errorCode];
try {
    $client->accept($first, '', "a\r\nX-A: b");
} catch (\InvalidArgumentException $error) {
    $result['key'] = true;
}
$unknown = refused(fn () => (new Client(getenv('ORDERS_URL'), 'mo_unknown'))->order($first));
$named = [UnauthorizedError::class => $unknown, PreconditionError::class => $stale, NotFoundError::class => $missing, RateLimitedError::class => $limited];
$result['named'] = count(array_filter($named, fn ($error, $class) => $error instanceof $class, ARRAY_FILTER_USE_BOTH));
$result['requestId'] = $missing->requestId !== '' && strpos($missing->getMessage(), $missing->requestId) !== false;
$once = new Client(getenv('ORDERS_URL'), 'mo_x', 60, 1);
foreach ([fn () => $once->order('BROKEN'), fn () => $once->order('HTML'), fn () => iterator_to_array($once->export('', 'BROKEN')->orders())] as $call) {
    $result['broken'][] = refused($call)->requestId;
}
$gone = refused(fn () => $once->order('GONE'));
$result += ['proxied' => $gone->getMessage(), 'missed' => $gone instanceof NotFoundError];
$gateway = refused(fn () => $once->order('GATEWAY'));
$result['gateway'] = [$gateway instanceof NotFoundError, strpos($gateway->getMessage() . $gateway->detail . $gateway->requestId, 'mo_x') === false];
foreach ([fn () => $once->order('FOREIGN'), fn () => $once->accept('FOREIGN')] as $call) {
    $result['foreign'][] = refused($call)->status === 200;
}
$result['huge'] = refused(fn () => $once->order('HUGE'))->status;
$moved = strpos(refused(fn () => $once->order('MOVED'))->getMessage(), 'https://orders.example.com/') !== false;
$result += ['moved' => $moved, 'cut' => refused(fn () => $once->order('CUT'))->temporary];
$client->reject($second, 'damaged');
$result['answers'] = all($client->answers([
    ['orderReference' => $third, 'answer' => 'accept'],
    ['orderReference' => $fourth, 'answer' => 'reject', 'reason' => 'out-of-stock'],
    ['orderReference' => $first, 'answer' => 'reject'],
    ['orderReference' => 'NONE', 'answer' => 'accept'],
]), 'status');
$result['many'] = count(all($client->answers(array_fill(0, 501, ['orderReference' => 'NONE', 'answer' => 'accept'])), 'status'));
$invoice = $client->uploadInvoice($fourth, 'invoice.pdf', '%PDF-1.4', '', '', ['kind' => 'receipt', 'number' => 'R 7', 'mark' => '40', 'link' => 'https://x.example/7']);
$result['document'] = [$invoice->kind, $invoice->number, $invoice->mark, $invoice->link];
$client->update($fourth, ['merchantReference' => '20/17']);
$result['found'] = array_map(fn ($order) => $order->id === $fourth, $client->byMerchantReference('20/17'));
[$changed] = $client->order($fourth);
$result += ['invoices' => count($changed->invoices), 'merchantReference' => $changed->merchantReference];
$result['other'] = $client->request('GET', "/orders/$fourth")[0]->order == $changed;
$export = $client->export();
$result += ['exportedInTurn' => all($export->orders(), 'id') === array_reverse($listed), 'end' => $export->after - $end->next];
$events = $client->events($end->next, $end->history, true);
foreach ($events as $event) {
    $result['events'][] = [$event->type, $event->order->state];
}
foreach ($client->followEvents($end->next) as $event) {
    $result['followed'] = !isset($event->order) && $event->history === $end->history;
    break;
}
$result['history'] = refused(fn () => [...$client->events(0, 'other')]) instanceof HistoryChanged ? 'changed' : '';

// The file, through the proxy of the test.
$invoice->url = getenv('ORDERS_URL') . parse_url($invoice->url, PHP_URL_PATH);
$result['downloaded'] = $client->downloadInvoice($invoice);
$result['linked'] = file_get_contents($client->invoiceLink($fourth, $invoice->id)->url);
$result['deleted'] = count($client->deleteInvoice($fourth, $invoice->id));
$webhook = $client->createWebhook(['url' => 'https://hooks.example.com/orders', 'batch' => 100])->webhook;
$result['webhook'] = $client->updateWebhook($webhook->id, ['description' => 'till'])->description;
$result['rotated'] = $client->rotateWebhookSecret($webhook->id, '1h')->webhook->oldSecretUntil !== null;
$client->deleteWebhook($webhook->id);
$result['webhooks'] = count($client->webhooks());
$created = $client->createToken(['label' => 'till']);
$rotated = $client->rotateToken($created->token->id, '1h');
$client->revokeToken($rotated->token->id);
$result['tokens'] = array_slice(all($client->tokens(), 'label'), -2);

/** Returns the numbers of the events of a delivery, or what is wrong with it. */
function numbers(callable $read, array $delivery)
{
    $server = [];
    foreach ($delivery['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
    }
    $GLOBALS['now'] = $delivery['now'] ?? null;
    try {
        $events = $read($server, $delivery['body'], $delivery['secret'] ?? getenv('WEBHOOK_SECRET'));
    } catch (WebhookError $error) {
        return 'refused';
    } catch (\UnexpectedValueException | \JsonException $error) {
        return 'unreadable';
    }
    return array_map(fn ($event) => $event->seq ?? 0, is_array($events) ? $events : [$events]);
}

foreach (json_decode(getenv('DELIVERIES'), true) as $name => $delivery) {
    $read = [numbers('MerchantOrders\webhookEvents', $delivery), numbers('MerchantOrders\verifyWebhook', $delivery)];
    $result['deliveries'][$name] = $read;
}
echo json_encode($result), "\n";
