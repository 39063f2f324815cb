<?php

declare(strict_types=1);

use Deadheat\Application;
use Deadheat\Request;
use Deadheat\Settings;

require __DIR__ . '/../src/autoload.php';

Application::create(Settings::fromEnvironment())
    ->handle(Request::fromGlobals())
    ->send();
