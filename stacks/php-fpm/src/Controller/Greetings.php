<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\HttpException;
use Deadheat\Request;
use Deadheat\Response;

final readonly class Greetings
{
    public function plaintext(): Response
    {
        return Response::text('Hello, World!');
    }

    public function people(): Response
    {
        return Response::json([['name' => 'John', 'username' => 'Doe']]);
    }

    public function greet(Request $request): Response
    {
        $person = $request->json();
        if (!is_string($person['name'] ?? null) || !is_string($person['username'] ?? null)) {
            throw new HttpException(400, 'an object with a name and a username, please');
        }

        return Response::text('Hello, ' . $person['name'] . '!');
    }
}
