<?php

declare(strict_types=1);

namespace Deadheat;

use Deadheat\Controller\Fortunes;
use Deadheat\Controller\Greetings;
use Deadheat\Controller\Hashing;
use Deadheat\Controller\Items;
use Deadheat\Controller\Payload;
use Deadheat\Controller\Products;
use Deadheat\Controller\Proxy;
use Deadheat\Controller\Uploads;
use Deadheat\Controller\Users;
use Throwable;

final readonly class Application
{
    private function __construct(private Router $router)
    {
    }

    /** Routes make their controllers when they are asked: a request needs one of them. */
    public static function create(Settings $settings): self
    {
        $items = static fn (): Items => new Items(new Database($settings));

        return new self(
            (new Router())
                ->get('/plaintext', static fn () => (new Greetings())->plaintext())
                ->get('/json', static fn () => (new Greetings())->people())
                ->post('/json', static fn (Request $request) => (new Greetings())->greet($request))
                ->get('/bytes', static fn (Request $request) => (new Hashing($settings))->digest($request))
                ->get('/products', static fn (Request $request) => (new Products())->list($request))
                ->post('/upload', static fn () => (new Uploads())->digest())
                ->get('/payload', static fn () => (new Payload())->direct())
                ->get('/ping-pong', static fn () => (new Payload())->handedOver())
                ->get('/proxy', static fn () => (new Proxy(new Upstream($settings)))->relay())
                ->get('/users', static fn () => (new Users(new Database($settings)))->first())
                ->get('/fortunes', static fn () => (new Fortunes(new Database($settings)))->page())
                ->get('/items', static fn (Request $request) => $items()->list($request))
                ->post('/items', static fn (Request $request) => $items()->create($request))
                ->get('/items/{id}', static fn (Request $request, string $id) => $items()->read($id))
                ->put('/items/{id}', static fn (Request $request, string $id) => $items()->replace($id, $request))
                ->delete('/items/{id}', static fn (Request $request, string $id) => $items()->delete($id)),
        );
    }

    public function handle(Request $request): Response
    {
        try {
            return $this->router->dispatch($request);
        } catch (HttpException $failure) {
            if ($failure->getPrevious() !== null) {
                error_log($request->path . ': ' . $failure->getPrevious()->getMessage());
            }

            return Response::text($failure->getMessage(), $failure->getCode(), $failure->headers);
        } catch (Throwable $failure) {
            error_log((string) $failure);

            return Response::text('internal server error', 500);
        }
    }
}
