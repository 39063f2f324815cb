<?php

declare(strict_types=1);

namespace Deadheat;

use RuntimeException;

final readonly class Upstream
{
    private const CONNECT_PATIENCE_SECONDS = 2;
    private const PATIENCE_SECONDS = 10;

    public function __construct(private Settings $settings)
    {
    }

    /** @return array{string, string} the content type and the body */
    public function fetch(): array
    {
        $url = $this->settings->upstreamUrl ?? throw new HttpException(502, 'no UPSTREAM_URL');
        $curl = curl_init($url);
        curl_setopt_array($curl, [
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FAILONERROR => true,
            // Not through a proxy of the environment, which is made for other hosts.
            CURLOPT_PROXY => '',
            CURLOPT_CONNECTTIMEOUT => self::CONNECT_PATIENCE_SECONDS,
            CURLOPT_TIMEOUT => self::PATIENCE_SECONDS,
        ]);
        $body = curl_exec($curl);
        if ($body === false) {
            throw new HttpException(502, 'the upstream failed', previous: new RuntimeException(curl_error($curl)));
        }

        return [curl_getinfo($curl, CURLINFO_CONTENT_TYPE) ?? 'text/plain', $body];
    }
}
