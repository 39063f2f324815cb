<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\HttpException;
use Deadheat\Request;
use Deadheat\Response;
use Deadheat\Settings;

final readonly class Hashing
{
    private const MAX_ROUNDS = 1_000_000;

    public function __construct(private Settings $settings)
    {
    }

    public function digest(Request $request): Response
    {
        $rounds = $this->rounds($request);
        $digest = hash('sha256', file_get_contents($this->settings->blobPath), binary: true);
        for ($round = 1; $round < $rounds; $round++) {
            $digest = hash('sha256', $digest, binary: true);
        }

        return Response::text(base64_encode($digest));
    }

    private function rounds(Request $request): int
    {
        $range = ['min_range' => 1, 'max_range' => self::MAX_ROUNDS];
        $rounds = filter_var($request->query['rounds'] ?? null, FILTER_VALIDATE_INT, ['options' => $range]);
        if ($rounds === false) {
            throw new HttpException(400, 'rounds is a number from 1 to ' . self::MAX_ROUNDS);
        }

        return $rounds;
    }
}
