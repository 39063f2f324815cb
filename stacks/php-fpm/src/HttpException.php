<?php

declare(strict_types=1);

namespace Deadheat;

use RuntimeException;
use Throwable;

/** A failure that is an answer; its code is the status. */
final class HttpException extends RuntimeException
{
    /** @param array<string, string> $headers */
    public function __construct(
        int $status,
        string $message,
        public readonly array $headers = [],
        ?Throwable $previous = null,
    ) {
        parent::__construct($message, $status, $previous);
    }
}
