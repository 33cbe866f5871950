"""Addresses of imports."""

from django.urls import path

from studio.workspaces.imports import views

urlpatterns = [
    path("prompts/import/", views.prompt_import, name="prompt-import"),
    path("prompts/import/<number:number>/", views.upload_import, name="upload-import"),
    path("workspaces/<word:slug>/import/", views.workspace_import, name="workspace-import"),
    path("workspaces/<word:slug>/adopt/", views.workspace_adopt, name="workspace-adopt"),
]
