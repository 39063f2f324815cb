<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\Database;
use Deadheat\Response;
use Deadheat\Template;

final readonly class Fortunes
{
    private const ALL = 'select id, message from fortune';

    public function __construct(private Database $database)
    {
    }

    public function page(): Response
    {
        $fortunes = $this->database->rows(self::ALL);
        $fortunes[] = ['id' => 0, 'message' => 'Additional fortune added at request time.'];
        usort($fortunes, static fn (array $a, array $b): int => strcmp($a['message'], $b['message']));

        return Response::html((new Template('fortunes'))->render(['fortunes' => $fortunes]));
    }
}
