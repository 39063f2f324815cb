<?php

declare(strict_types=1);

// As little of HTTP/1.1 as a first check needs: PHP's own server closes every connection, and refuses requests that come
// in pieces. Delete it for {{framework}}.

namespace Http;

const REASONS = [200 => 'OK', 400 => 'Bad Request', 404 => 'Not Found', 405 => 'Method Not Allowed'];
const LONGEST_HEAD = 16384;

final class Answer
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly int $status,
        public readonly string $body,
        public readonly array $headers = [],
    ) {
    }
}

/**
 * Answers all connections from one loop, until the process ends.
 *
 * @param resource $listener
 * @param callable(string, string): Answer $answer
 */
function serve($listener, callable $answer): never
{
    $clients = [];
    $unread = [];
    while (true) {
        $ready = [$listener, ...$clients];
        $none = [];
        if (stream_select($ready, $none, $none, null) === false) {
            continue;
        }
        foreach ($ready as $stream) {
            if ($stream === $listener) {
                $client = @stream_socket_accept($listener, 0);
                if ($client !== false) {
                    $clients[(int) $client] = $client;
                    $unread[(int) $client] = '';
                }
                continue;
            }
            $id = (int) $stream;
            $chunk = fread($stream, 65536);
            $unread[$id] .= $chunk;
            if ($chunk === '' || $chunk === false || !answer_all($stream, $unread[$id], $answer)) {
                unset($clients[$id], $unread[$id]);
                fclose($stream);
            }
        }
    }
}

/**
 * Answers every request that has come whole; whether the connection goes on.
 *
 * @param resource $stream
 * @param callable(string, string): Answer $answer
 */
function answer_all($stream, string &$unread, callable $answer): bool
{
    while (($end = strpos($unread, "\r\n\r\n")) !== false) {
        $head = substr($unread, 0, $end);
        $unread = substr($unread, $end + 4);
        if (preg_match('{^([A-Z]+) (/[^ ?]*)(\?[^ ]*)? HTTP/1\.([01])(\r\n|$)}', $head, $parts) !== 1) {
            write($stream, 'GET', new Answer(400, 'bad request'), true);

            return false;
        }
        // A body is not read and must not be taken for the next request; HTTP/1.0 asks for no more than one.
        $close = $parts[4] === '0' || preg_match('{\r\n(content-length|transfer-encoding):}i', $head) === 1;
        write($stream, $parts[1], $answer($parts[1], $parts[2]), $close);
        if ($close) {
            return false;
        }
    }

    return strlen($unread) <= LONGEST_HEAD;
}

/** @param resource $stream */
function write($stream, string $method, Answer $answer, bool $close): void
{
    $headers = ['Date' => gmdate(DATE_RFC7231), 'Content-Type' => 'text/plain; charset=utf-8', 'Content-Length' => strlen($answer->body)];
    $headers += $answer->headers;
    if ($close) {
        $headers['Connection'] = 'close';
    }
    $head = "HTTP/1.1 {$answer->status} " . REASONS[$answer->status] . "\r\n";
    foreach ($headers as $name => $value) {
        $head .= "$name: $value\r\n";
    }
    // A client that has gone is nobody to tell.
    @fwrite($stream, "$head\r\n" . ($method === 'HEAD' ? '' : $answer->body));
}
