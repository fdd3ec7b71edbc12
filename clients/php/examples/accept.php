<?php
// Accepts all orders that wait for an answer.
declare(strict_types=1);

require __DIR__ . '/../MerchantOrders.php';

$client = new MerchantOrders\Client((string) getenv('ORDERS_URL'), (string) getenv('ORDERS_TOKEN'));
foreach ($client->unanswered() as $order) {
    try {
        $client->accept($order->id);
    } catch (MerchantOrders\ClientError $error) { // somebody else has answered it, for example
        echo $order->id, ' ', $error->getMessage(), "\n";
    }
}
