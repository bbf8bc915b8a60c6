<?php

/** $body has the bytes as they arrived: file_get_contents('php://input'). $secrets has two during a rotation. */
function verify_webhook(string $body, array $headers, array $secrets): array
{
    $headers = array_change_key_case($headers, CASE_LOWER);
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    $signatures = explode(' ', $headers['webhook-signature'] ?? '');
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        throw new RuntimeException('the timestamp is too far off');
    }
    foreach ($secrets as $secret) {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
        $digest = hash_hmac('sha256', "$id.$timestamp.$body", $key, true);
        $expected = 'v1,' . base64_encode($digest);
        foreach ($signatures as $given) {
            if (hash_equals($expected, $given)) {
                return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
            }
        }
    }
    throw new RuntimeException('no signature matches');
}
