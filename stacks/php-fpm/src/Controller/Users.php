<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\Database;
use Deadheat\Response;

final readonly class Users
{
    private const FIRST = 'select id, email from users order by id limit 10';

    public function __construct(private Database $database)
    {
    }

    public function first(): Response
    {
        return Response::json($this->database->rows(self::FIRST));
    }
}
