"""Addresses of the help."""

from django.urls import path

from studio.help import views

urlpatterns = [
    path("help/", views.help_index, name="help"),
    path("help/<word:slug>/", views.help_page, name="help-page"),
]
