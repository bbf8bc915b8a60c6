<?php

require __DIR__ . '/verify.php';

foreach (explode("\n", trim(stream_get_contents(STDIN))) as $line) {
    [$id, $timestamp, $signatures, $body, $secrets] = explode("\t", $line);
    $headers = ['Webhook-Id' => $id, 'Webhook-Timestamp' => $timestamp, 'Webhook-Signature' => $signatures];
    try {
        verify_webhook(base64_decode($body), $headers, explode(' ', $secrets));
        echo "accepted\n";
    } catch (RuntimeException $error) {
        echo $error->getMessage(), "\n";
    }
}
