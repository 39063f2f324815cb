<?php

declare(strict_types=1);

// Starts the server that the contract asks for: HOST and PORT. SIGTERM ends it at once, as it does where nobody handles it.

require __DIR__ . '/src/http.php';
require __DIR__ . '/src/routes.php';

$address = 'tcp://' . getenv('HOST') . ':' . getenv('PORT');
$options = ['socket' => ['backlog' => 1024, 'tcp_nodelay' => true]];
$listener = stream_socket_server(
    $address,
    $code,
    $message,
    STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
    stream_context_create($options)
);
if ($listener === false) {
    fwrite(STDERR, "listening on $address: $message\n");
    exit(1);
}
Http\serve($listener, Routes\answer(...));
