<?php

declare(strict_types=1);

// What answers each path and method.

namespace Routes;

use Http\Answer;

const TABLE = [
    '/plaintext' => ['GET' => 'Routes\plaintext'],
];

function answer(string $method, string $path): Answer
{
    $methods = TABLE[$path] ?? null;
    if ($methods === null) {
        return new Answer(404, 'not found');
    }
    $handler = $methods[$method] ?? null;
    if ($handler === null) {
        return new Answer(405, 'method not allowed', ['Allow' => implode(', ', array_keys($methods))]);
    }

    return $handler();
}

function plaintext(): Answer
{
    return new Answer(200, 'Hello, World!');
}
