<?php

declare(strict_types=1);

namespace Deadheat;

/** A file of `templates/`, in PHP's own template syntax. */
final readonly class Template
{
    public function __construct(private string $name)
    {
    }

    /** @param array<string, mixed> $variables those of the template, by name */
    public function render(array $variables): string
    {
        extract($variables, EXTR_SKIP);
        ob_start();
        try {
            require __DIR__ . '/../templates/' . $this->name . '.php';

            return ob_get_contents();
        } finally {
            ob_end_clean();
        }
    }
}
