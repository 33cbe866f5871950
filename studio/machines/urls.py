"""Addresses of workspaces on other machines."""

from django.urls import path

from studio.machines import views

urlpatterns = [
    path("workspaces/<word:slug>/machine/texts/", views.machine_texts, name="machine-texts"),
    path("workspaces/<word:slug>/machine/forget/", views.machine_forget, name="machine-forget"),
]
