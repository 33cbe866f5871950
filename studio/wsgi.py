"""The WSGI application, for `manage.py studio` and for any other WSGI server."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from studio.shell.proxies import BehindProxies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

application = BehindProxies(get_wsgi_application(), settings.ENVIRONMENT.proxies)
