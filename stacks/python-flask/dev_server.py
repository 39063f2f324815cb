"""Flask's own server, as `flask run` starts it, without the debugger, the reloader and the request log."""

import logging

from server import create_app
from server.settings import Settings

logging.getLogger("werkzeug").setLevel(logging.ERROR)
settings = Settings.from_env()
create_app().run(host=settings.host, port=settings.port, threaded=True, debug=False)
