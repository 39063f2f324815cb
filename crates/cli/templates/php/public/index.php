<?php

declare(strict_types=1);

// The routes, on PHP's own server until {{framework}} takes its place.
const ROUTES = [
    '/plaintext' => ['GET' => 'plaintext'],
];

function plaintext(): void
{
    answer(200, 'Hello, World!');
}

function answer(int $status, string $body): void
{
    http_response_code($status);
    header('Content-Type: text/plain; charset=utf-8');
    header('Content-Length: ' . strlen($body));
    echo $body;
}

$methods = ROUTES[parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)] ?? null;
$handler = $methods[$_SERVER['REQUEST_METHOD']] ?? null;

if ($methods === null) {
    answer(404, 'not found');
} elseif ($handler === null) {
    header('Allow: ' . implode(', ', array_keys($methods)));
    answer(405, 'method not allowed');
} else {
    $handler();
}
