"""Addresses of workspaces."""

from django.urls import path

from studio.workspaces import registering_views, views

urlpatterns = [
    path("workspaces/", views.workspace_list, name="workspace-list"),
    path("workspaces/new/", registering_views.workspace_new, name="workspace-new"),
    path("workspaces/new/allow/", registering_views.folder_allow, name="folder-allow"),
    path("workspaces/new/take-back/", registering_views.folder_take_back, name="folder-take-back"),
    path("workspaces/<word:slug>/", views.workspace_detail, name="workspace-detail"),
    path("workspaces/<word:slug>/preview/", views.workspace_preview, name="workspace-preview"),
    path("workspaces/<word:slug>/database/", views.workspace_database, name="workspace-database"),
    path("workspaces/<word:slug>/settings/", views.workspace_settings, name="workspace-settings"),
    path("workspaces/<word:slug>/release/", views.workspace_release, name="workspace-release"),
    path("workspaces/<word:slug>/archive/", views.workspace_archive, name="workspace-archive"),
]
