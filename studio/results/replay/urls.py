"""Addresses of replays."""

from django.urls import path

from studio.results.replay import views

urlpatterns = [
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/replay/",
        views.run_replay,
        name="run-replay",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/replay/", views.run_replay_all, name="run-replay-all"
    ),
]
