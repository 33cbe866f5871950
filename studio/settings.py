"""Django's settings. What a deployment may choose comes from `environment.py`; the rest is decided here."""

import os
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from studio.access.environment import read_mail, read_provider
from studio.shell.data_folder import kept_secret
from studio.shell.environment import CHECKOUT, PACKAGE, read_environment

ENVIRONMENT = read_environment(os.environ)

# In a checkout templates and bundle stand at the top level; a wheel carries both inside the package.
TEMPLATES_DIR = CHECKOUT / "templates" if CHECKOUT else PACKAGE / "templates"
STATIC_DIR = CHECKOUT / "static" / "dist" if CHECKOUT else PACKAGE / "static"

STUDIO_DATA = ENVIRONMENT.data
STUDIO_WORKSPACE_ROOTS = ENVIRONMENT.workspace_roots
STUDIO_LARGEST_DATABASE = ENVIRONMENT.largest_database
STUDIO_BATCH_FOLDER = ENVIRONMENT.batch_folder
STUDIO_SKILL_ROOTS = ENVIRONMENT.skill_roots
STUDIO_API_RATE = ENVIRONMENT.api_rate
STUDIO_COPY_PATIENCE = 0.3  # seconds that a page waits for the copy of a workspace's database
STUDIO_MIXSEEK_WORKSPACE = ENVIRONMENT.mixseek_workspace

DEBUG = ENVIRONMENT.debug
SECRET_KEY = ENVIRONMENT.secret_key or kept_secret(STUDIO_DATA)
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *ENVIRONMENT.hosts]
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.origins)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "studio",
]
MIDDLEWARE = [
    "studio.shell.middleware.SecurityHeaders",  # outermost, so that static files and errors carry them too
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "studio.access.actors.Actors",
    "studio.shell.middleware.SignInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "studio.shell.middleware.RefusalPages",
]
ROOT_URLCONF = "studio.urls"
WSGI_APPLICATION = "studio.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [TEMPLATES_DIR],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "studio.shell.layout.layout",
                "studio.access.roles.permissions",
            ],
            "builtins": ["studio.help.tags"],  # a "?" may stand on any page
            # Each room has its own tags; templates load them by these names.
            "libraries": {
                room: f"studio.{room}.tags"
                for room in (
                    "shell",
                    "access",
                    "prompts",
                    "preview",
                    "compare",
                    "workspaces",
                    "system",
                    "runs",
                    "results",
                )
            },
        },
    }
]

DATABASES: dict[str, dict[str, Any]]
if ENVIRONMENT.database:
    if find_spec("psycopg") is None:
        raise ImproperlyConfigured(
            "DATABASE_URL needs the package psycopg: install it with «pip install prompt-studio[postgres]»."
        )
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            **ENVIRONMENT.database,
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
        }
    }
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": STUDIO_DATA / "studio.sqlite3",
            "CONN_MAX_AGE": None,  # the server's threads live as long as it does
            "OPTIONS": {
                # Together these lost nothing and never met a lock with eight writers and kill -9;
                # Django's defaults met «database is locked» in half of the writes.
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                # What is deleted is overwritten: texts of a workspace may have to be gone.
                "init_command": (
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
                ),
            },
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

FILE_UPLOAD_HANDLERS = ["studio.shell.files.SmallUploads"]

STUDIO_MAIL = read_mail(os.environ)
if STUDIO_MAIL:
    EMAIL_HOST, EMAIL_PORT = STUDIO_MAIL.host, STUDIO_MAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = STUDIO_MAIL.user, STUDIO_MAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = STUDIO_MAIL.starttls, STUDIO_MAIL.ssl
    EMAIL_TIMEOUT = 10
    DEFAULT_FROM_EMAIL = STUDIO_MAIL.sender
STUDIO_OIDC = read_provider(os.environ)
if STUDIO_OIDC:
    INSTALLED_APPS += [
        "allauth.account",
        "allauth.socialaccount",
        "allauth.socialaccount.providers.openid_connect",
    ]
    MIDDLEWARE.append("allauth.account.middleware.AccountMiddleware")
    SOCIALACCOUNT_ADAPTER = "studio.access.provider.ProviderAdapter"
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": "oidc",
                    "name": STUDIO_OIDC.name,
                    "client_id": STUDIO_OIDC.client_id,
                    "secret": STUDIO_OIDC.secret,
                    "settings": {"server_url": STUDIO_OIDC.issuer},
                }
            ],
        }
    }
# Seconds, and how many attempts to sign in there may be within them: of one name from one address, and of all
# names from one address, which people behind a proxy share. Django-allauth counts them, in the database.
SIGNIN_PAUSES = {"name": {20: 5, 120: 8, 900: 12}, "address": {60: 30, 3600: 200}}
ACCOUNT_RATE_LIMITS = {
    f"{counted}-{seconds}": f"{most}/{seconds}s/key"
    for counted, pauses in SIGNIN_PAUSES.items()
    for seconds, most in pauses.items()
}
CACHES = {"default": {"BACKEND": "studio.access.counts.Counts"}}
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60

LOGIN_URL = "signin"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "signin"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ja", "日本語")]
LOCALE_PATHS = [PACKAGE / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = ENVIRONMENT.time_zone

STATIC_URL = "/static/"
# The wheel's bundle lies where the finder of app folders looks anyway.
STATICFILES_DIRS = [STATIC_DIR] if CHECKOUT else []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "studio.shell.files.VersionedStaticFiles"},
}
WHITENOISE_USE_FINDERS = True  # no collectstatic step
WHITENOISE_MAX_AGE = 0 if DEBUG else 31_536_000  # an address changes with its file's content

# Browsers drop Secure and `__Host-` cookies on plain http, so a local studio must do without them.
_https = ENVIRONMENT.https
SESSION_ENGINE = "studio.access.sessions"
SESSION_COOKIE_NAME = "__Host-studio-session" if _https else "studio-session"
SESSION_COOKIE_SECURE = _https
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "__Host-studio-csrf" if _https else "studio-csrf"
CSRF_COOKIE_SECURE = _https
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "studio.shell.error_views.csrf_failure"
LANGUAGE_COOKIE_NAME = "studio-language"
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = _https
LANGUAGE_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = _https
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # probes ask the server itself, not the proxy before it
SECURE_HSTS_SECONDS = 31_536_000 if _https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _https
SILENCED_SYSTEM_CHECKS = ["security.W021"]  # preloading binds a whole domain: its owner's choice, not ours

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"outages": {"()": "studio.shell.outages.InOneLine"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["outages"]},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "waitress.queue": {"level": "ERROR"},  # it warns of every request that waits for a moment
    },
}
