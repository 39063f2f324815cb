<?php

declare(strict_types=1);

namespace Deadheat;

final readonly class Settings
{
    public function __construct(
        public ?string $databaseUrl,
        public ?string $upstreamUrl,
        public ?string $blobPath,
    ) {
    }

    public static function fromEnvironment(): self
    {
        return new self(
            databaseUrl: getenv('DATABASE_URL') ?: null,
            upstreamUrl: getenv('UPSTREAM_URL') ?: null,
            blobPath: getenv('BLOB_PATH') ?: null,
        );
    }
}
