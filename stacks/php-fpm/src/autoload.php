<?php

// PSR-4, as Composer would generate it if there were packages to load.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $prefix = 'Deadheat\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    }
});
