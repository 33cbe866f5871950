"""Addresses of the shell."""

from django.urls import path

from studio.shell import health_views, page_views, preference_views, signin_views

urlpatterns = [
    path("shortcuts/", page_views.shortcuts, name="shortcuts"),
    path("design/", page_views.design, name="design"),
    path("signin/", signin_views.signin, name="signin"),
    path("signin/<str:token>/", signin_views.signin_link, name="signin-link"),
    path("signout/", signin_views.signout, name="signout"),
    path("language/", preference_views.language, name="language"),
    path("theme/", preference_views.theme, name="theme"),
    path("keys/", preference_views.keys, name="keys"),
    path("healthz", health_views.healthz, name="healthz"),
]
