"""Addresses of results."""

from django.urls import path

from studio.results import views

urlpatterns = [
    path("prompts/<word:slug>/versions/<number:number>/runs/", views.version_runs, name="version-runs"),
    path("prompts/<word:slug>/scores/", views.prompt_scores, name="prompt-scores"),
]
