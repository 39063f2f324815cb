<?php

declare(strict_types=1);

namespace Deadheat;

use PDO;
use PDOException;

final readonly class Database
{
    public function __construct(private Settings $settings)
    {
    }

    /**
     * @param list<int|string> $values
     * @return list<array<string, mixed>>
     */
    public function rows(string $query, array $values = []): array
    {
        try {
            $statement = $this->connection()->prepare($query);
            $statement->execute($values);

            return $statement->fetchAll();
        } catch (PDOException $failure) {
            throw new HttpException(503, 'the database failed', previous: $failure);
        }
    }

    /** The connection that this child of FPM keeps. */
    private function connection(): PDO
    {
        $url = $this->settings->databaseUrl ?? throw new HttpException(503, 'no DATABASE_URL');
        $parts = parse_url($url);
        $dsn = sprintf(
            'pgsql:host=%s;port=%d;dbname=%s',
            $parts['host'],
            $parts['port'] ?? 5432,
            rawurldecode(ltrim($parts['path'], '/')),
        );

        return new PDO($dsn, rawurldecode($parts['user']), rawurldecode($parts['pass'] ?? ''), [
            PDO::ATTR_PERSISTENT => true,
            PDO::ATTR_TIMEOUT => 5,
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            // A statement that is run once needs no name: without this, three round trips instead of one.
            PDO::PGSQL_ATTR_DISABLE_PREPARES => true,
        ]);
    }
}
