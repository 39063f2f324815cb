<?php

declare(strict_types=1);

namespace Deadheat;

use Closure;

final class Router
{
    /** @var array<string, array<string, Closure(Request): Response>> handlers by path and method */
    private array $routes = [];

    public function get(string $path, Closure $handler): self
    {
        return $this->add('GET', $path, $handler);
    }

    public function post(string $path, Closure $handler): self
    {
        return $this->add('POST', $path, $handler);
    }

    public function dispatch(Request $request): Response
    {
        $handlers = $this->routes[$request->path] ?? throw new HttpException(404, 'not found');
        $handler = $handlers[$request->method] ?? throw new HttpException(
            405,
            'method not allowed',
            ['Allow' => implode(', ', array_keys($handlers))],
        );

        return $handler($request);
    }

    private function add(string $method, string $path, Closure $handler): self
    {
        $this->routes[$path][$method] = $handler;

        return $this;
    }
}
