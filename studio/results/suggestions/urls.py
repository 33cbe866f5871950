"""Addresses of suggestions and contexts from rounds."""

from django.urls import path

from studio.results.suggestions import views

urlpatterns = [
    path("prompts/<word:slug>/coverage/", views.prompt_coverage, name="prompt-coverage"),
    path("prompts/<word:slug>/suggestions/", views.prompt_suggestions, name="prompt-suggestions"),
    path("contexts/new/run/", views.context_from_run, name="context-from-run"),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/context/",
        views.run_round_context,
        name="run-round-context",
    ),
]
