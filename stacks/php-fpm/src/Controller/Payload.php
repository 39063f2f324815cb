<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\PayloadWorker;
use Deadheat\Response;

final readonly class Payload
{
    public function direct(): Response
    {
        return Response::octets(str_repeat('d', PayloadWorker::SIZE));
    }

    public function handedOver(): Response
    {
        return Response::octets((new PayloadWorker())->ask());
    }
}
