<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\Response;
use Deadheat\Upstream;

final readonly class Proxy
{
    public function __construct(private Upstream $upstream)
    {
    }

    public function relay(): Response
    {
        [$contentType, $body] = $this->upstream->fetch();

        return new Response($body, $contentType);
    }
}
