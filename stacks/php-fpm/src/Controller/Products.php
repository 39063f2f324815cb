<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\HttpException;
use Deadheat\Request;
use Deadheat\Response;

final readonly class Products
{
    private const COUNT = 100;
    private const MAX_FROM = 1_000_000;
    private const CATEGORIES = ['books', 'garden', 'kitchen', 'music', 'tools'];

    /** nginx compresses the answer for clients that accept it. */
    public function list(Request $request): Response
    {
        $range = ['min_range' => 1, 'max_range' => self::MAX_FROM];
        $from = filter_var($request->query['from'] ?? null, FILTER_VALIDATE_INT, ['options' => $range]);
        if ($from === false) {
            throw new HttpException(400, 'from is a number from 1 to ' . self::MAX_FROM);
        }

        return Response::json(array_map(self::product(...), range($from, $from + self::COUNT - 1)));
    }

    /** @return array<string, int|string> */
    private static function product(int $id): array
    {
        return [
            'id' => $id,
            'name' => "Product $id",
            'category' => self::CATEGORIES[$id % count(self::CATEGORIES)],
            'price' => $id * 37 % 10_007,
            'stock' => $id * 31 % 101,
        ];
    }
}
