<?php

declare(strict_types=1);

namespace Deadheat;

use Closure;

final class Router
{
    /** @var array<string, array<string, Closure(Request, string): Response>> handlers by path and method */
    private array $routes = [];

    /** The last segment of a path may be `{id}`, which stands for any and comes to the handler after the request. */
    public function get(string $path, Closure $handler): self
    {
        return $this->add('GET', $path, $handler);
    }

    public function post(string $path, Closure $handler): self
    {
        return $this->add('POST', $path, $handler);
    }

    public function put(string $path, Closure $handler): self
    {
        return $this->add('PUT', $path, $handler);
    }

    public function delete(string $path, Closure $handler): self
    {
        return $this->add('DELETE', $path, $handler);
    }

    public function dispatch(Request $request): Response
    {
        $start = (int) strrpos($request->path, '/') + 1;
        $id = substr($request->path, $start);
        $handlers = $this->routes[$request->path]
            ?? $this->routes[substr($request->path, 0, $start) . '{id}']
            ?? throw new HttpException(404, 'not found');
        $handler = $handlers[$request->method] ?? throw new HttpException(
            405,
            'method not allowed',
            ['Allow' => implode(', ', array_keys($handlers))],
        );

        return $handler($request, $id);
    }

    private function add(string $method, string $path, Closure $handler): self
    {
        $this->routes[$path][$method] = $handler;

        return $this;
    }
}
