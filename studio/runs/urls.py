"""Addresses of runs."""

from django.urls import path

from studio.runs import compare_views, round_views, score_views, team_views, views

urlpatterns = [
    path("workspaces/<word:slug>/teams/", team_views.team_list, name="team-list"),
    path("workspaces/<word:slug>/teams/<stored:team>/", team_views.team_detail, name="team-detail"),
    path("workspaces/<word:slug>/scores/", score_views.workspace_scores, name="workspace-scores"),
    path("workspaces/<word:slug>/runs/compare/", compare_views.run_compare_pick, name="run-compare-pick"),
    path(
        "workspaces/<word:slug>/runs/<stored:first>...<stored:second>/",
        compare_views.run_compare,
        name="run-compare",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/",
        round_views.run_round,
        name="run-round",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/prompt.txt",
        round_views.run_round_text,
        {"kind": "prompt"},
        name="run-round-prompt",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>"
        "/submission.md",
        round_views.run_round_text,
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
