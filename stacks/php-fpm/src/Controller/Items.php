<?php

declare(strict_types=1);

namespace Deadheat\Controller;

use Deadheat\Database;
use Deadheat\HttpException;
use Deadheat\Request;
use Deadheat\Response;

final readonly class Items
{
    private const READ = 'select id, name, price from items where id = ?';
    private const LIST = 'select id, name, price from items where id > ? order by id limit ?';
    private const CREATE = 'insert into items (name, price) values (?, ?) returning id, name, price';
    private const REPLACE = 'update items set name = ?, price = ? where id = ? returning id, name, price';
    private const DELETE = 'delete from items where id = ? returning id';

    private const MAX_ID = 2 ** 31 - 1;
    private const MAX_PRICE = 1_000_000;
    private const MAX_LIMIT = 100;

    public function __construct(private Database $database)
    {
    }

    public function list(Request $request): Response
    {
        $after = self::integer($request->query['after'] ?? 0, 0, self::MAX_ID)
            ?? throw new HttpException(400, 'after is a number from 0');
        $limit = self::integer($request->query['limit'] ?? 20, 1, self::MAX_LIMIT)
            ?? throw new HttpException(400, 'limit is a number from 1 to ' . self::MAX_LIMIT);

        return Response::json($this->database->rows(self::LIST, [$after, $limit]));
    }

    public function create(Request $request): Response
    {
        [$item] = $this->database->rows(self::CREATE, self::draft($request));

        return Response::json($item, 201, ['Location' => '/items/' . $item['id']]);
    }

    public function read(string $id): Response
    {
        return Response::json($this->one(self::READ, [self::id($id)]));
    }

    public function replace(string $id, Request $request): Response
    {
        $id = self::id($id);

        return Response::json($this->one(self::REPLACE, [...self::draft($request), $id]));
    }

    public function delete(string $id): Response
    {
        $this->one(self::DELETE, [self::id($id)]);

        return Response::noContent();
    }

    /**
     * @param list<int|string> $values
     * @return array<string, int|string> the row of the item that a statement is about
     */
    private function one(string $query, array $values): array
    {
        return $this->database->rows($query, $values)[0] ?? throw new HttpException(404, 'not found');
    }

    private static function id(string $text): int
    {
        return self::integer($text, 1, self::MAX_ID) ?? throw new HttpException(404, 'not found');
    }

    /** @return array{string, int} the name and the price */
    private static function draft(Request $request): array
    {
        $item = $request->json();
        $name = $item['name'] ?? null;
        $price = $item['price'] ?? null;
        // PostgreSQL's text holds any character but NUL.
        if (!is_string($name) || preg_match('/\A[^\0]{1,100}\z/u', $name) !== 1) {
            throw new HttpException(400, 'name has 1 to 100 characters');
        }
        if (!is_int($price) || $price < 0 || $price > self::MAX_PRICE) {
            throw new HttpException(400, 'price is an integer from 0 to ' . self::MAX_PRICE);
        }

        return [$name, $price];
    }

    private static function integer(mixed $value, int $min, int $max): ?int
    {
        $range = ['min_range' => $min, 'max_range' => $max];

        return filter_var($value, FILTER_VALIDATE_INT, ['options' => $range, 'flags' => FILTER_NULL_ON_FAILURE]);
    }
}
