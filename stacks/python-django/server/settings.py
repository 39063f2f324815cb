"""Django's settings."""

import os
from pathlib import Path

import dj_database_url

from . import environment

# There is no SECRET_KEY, because nothing is signed: no sessions, cookies or forms.
DEBUG = False
ALLOWED_HOSTS = [environment.HOST]

INSTALLED_APPS = ["api"]
ROOT_URLCONF = "server.urls"
APPEND_SLASH = False  # the paths of this API end without one

# Of `django-admin startproject`'s list, what an API without cookies and forms needs.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]

TEMPLATES = [
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}
]

USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

DATABASES = {"default": dj_database_url.config()}  # from DATABASE_URL
DATABASES["default"]["OPTIONS"] = {
    "pool": {
        "min_size": environment.POOL_SIZE_PER_WORKER,
        "max_size": environment.POOL_SIZE_PER_WORKER,
        "timeout": 10,  # seconds that a request waits for a connection
    },
    # Each connection prepares a statement when it first runs it, and reuses it from then on. Without these two options,
    # Django prepares none.
    "server_side_binding": True,
    "prepare_threshold": 0,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        # At its usual level, it also logs each refused request.
        "django.request": {"level": "ERROR"},
    },
}

# This API's own settings.
BLOB_PATH = Path(os.environ.get("BLOB_PATH", "blob.bin"))
STATIC_DIR = Path(os.environ.get("STATIC_DIR", "static"))
UPSTREAM_URL = os.environ.get("UPSTREAM_URL")
