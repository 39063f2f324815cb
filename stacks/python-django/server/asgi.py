"""The ASGI application, which uvicorn serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.asgi_settings")

application = get_asgi_application()
