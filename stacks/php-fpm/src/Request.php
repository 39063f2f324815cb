<?php

declare(strict_types=1);

namespace Deadheat;

use JsonException;

final readonly class Request
{
    /** @param array<string, mixed> $query */
    public function __construct(
        public string $method,
        public string $path,
        public array $query,
        public string $mediaType,
    ) {
    }

    public static function fromGlobals(): self
    {
        return new self(
            method: $_SERVER['REQUEST_METHOD'],
            path: explode('?', $_SERVER['REQUEST_URI'], 2)[0],
            query: $_GET,
            mediaType: strtolower(trim(explode(';', $_SERVER['CONTENT_TYPE'] ?? '', 2)[0])),
        );
    }

    /** The body, which must be JSON. */
    public function json(): mixed
    {
        if ($this->mediaType !== 'application/json') {
            throw new HttpException(415, 'application/json, please');
        }
        try {
            return json_decode($this->body(), associative: true, flags: JSON_THROW_ON_ERROR);
        } catch (JsonException) {
            throw new HttpException(400, 'JSON, please');
        }
    }

    private function body(): string
    {
        return (string) file_get_contents('php://input');
    }
}
