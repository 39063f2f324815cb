<?php

declare(strict_types=1);

namespace Deadheat;

use Fiber;

/** A fiber that answers every message with the payload. It ends with the request, as everything in FPM does. */
final readonly class PayloadWorker
{
    public const SIZE = 1 << 20;

    private Fiber $fiber;

    public function __construct()
    {
        $this->fiber = new Fiber(static function (): void {
            $size = Fiber::suspend();
            while (true) {
                $size = Fiber::suspend(str_repeat('d', $size));
            }
        });
        $this->fiber->start();
    }

    public function ask(): string
    {
        return $this->fiber->resume(self::SIZE);
    }
}
