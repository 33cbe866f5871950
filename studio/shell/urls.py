"""Addresses of the shell."""

from django.urls import path

from studio.shell import views

urlpatterns = [
    path("shortcuts/", views.shortcuts, name="shortcuts"),
    path("design/", views.design, name="design"),
    path("language/", views.language, name="language"),
    path("theme/", views.theme, name="theme"),
    path("keys/", views.keys, name="keys"),
    path("healthz", views.healthz, name="healthz"),
]
