"""Addresses of workspaces."""

from django.urls import path

from studio.workspaces import views

urlpatterns = [
    path("workspaces/", views.workspace_list, name="workspace-list"),
    path("workspaces/new/", views.workspace_new, name="workspace-new"),
    path("workspaces/<word:slug>/", views.workspace_detail, name="workspace-detail"),
    path("workspaces/<word:slug>/preview/", views.workspace_preview, name="workspace-preview"),
    path("workspaces/<word:slug>/database/", views.workspace_database, name="workspace-database"),
    path("workspaces/<word:slug>/settings/", views.workspace_settings, name="workspace-settings"),
    path("workspaces/<word:slug>/release/", views.workspace_release, name="workspace-release"),
    path("workspaces/<word:slug>/archive/", views.workspace_archive, name="workspace-archive"),
]
