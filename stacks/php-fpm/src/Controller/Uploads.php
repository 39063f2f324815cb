<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\Response;

final readonly class Uploads
{
    /** The body is read in pieces, and never held whole. */
    public function digest(): Response
    {
        return Response::text(base64_encode(hash_file('sha256', 'php://input', binary: true)));
    }
}
