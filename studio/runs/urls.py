"""Addresses of pages of runs, rounds, teams and scores."""

from django.urls import path

from studio.runs import across_views, views

urlpatterns = [
    path("workspaces/<word:slug>/teams/", across_views.team_list, name="team-list"),
    path("workspaces/<word:slug>/teams/<stored:team>/", across_views.team_detail, name="team-detail"),
    path("workspaces/<word:slug>/scores/", across_views.workspace_scores, name="workspace-scores"),
    path("workspaces/<word:slug>/runs/compare/", across_views.run_compare_pick, name="run-compare-pick"),
    path(
        "workspaces/<word:slug>/runs/<stored:first>...<stored:second>/",
        across_views.run_compare,
        name="run-compare",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/",
        views.run_round,
        name="run-round",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/prompt.txt",
        views.run_round_text,
        {"kind": "prompt"},
        name="run-round-prompt",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>"
        "/submission.md",
        views.run_round_text,
        {"kind": "submission"},
        name="run-round-submission",
    ),
    path("workspaces/<word:slug>/runs/", views.workspace_runs, name="workspace-runs"),
    path("workspaces/<word:slug>/runs/<stored:execution>/", views.run_detail, name="run-detail"),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/", views.run_team, name="run-team"
    ),
    path("runs/", views.run_list, name="run-list"),
]
