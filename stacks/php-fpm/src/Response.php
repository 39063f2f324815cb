<?php

declare(strict_types=1);

namespace Deadheat;

final readonly class Response
{
    /** @param array<string, string> $headers */
    public function __construct(
        private string $body,
        private ?string $contentType,
        private int $status = 200,
        private array $headers = [],
    ) {
    }

    /** @param array<string, string> $headers */
    public static function text(string $body, int $status = 200, array $headers = []): self
    {
        return new self($body, 'text/plain; charset=utf-8', $status, $headers);
    }

    /** @param array<string, string> $headers */
    public static function json(mixed $value, int $status = 200, array $headers = []): self
    {
        $body = json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);

        return new self($body, 'application/json', $status, $headers);
    }

    public static function noContent(): self
    {
        return new self('', null, 204);
    }

    public static function html(string $page): self
    {
        return new self($page, 'text/html; charset=utf-8');
    }

    public static function octets(string $body): self
    {
        return new self($body, 'application/octet-stream');
    }

    public function send(): void
    {
        http_response_code($this->status);
        if ($this->contentType === null) {
            // PHP would send its default.
            ini_set('default_mimetype', '');
        } else {
            header('Content-Type: ' . $this->contentType);
            header('Content-Length: ' . strlen($this->body));
        }
        foreach ($this->headers as $name => $value) {
            header($name . ': ' . $value);
        }
        echo $this->body;
    }
}
