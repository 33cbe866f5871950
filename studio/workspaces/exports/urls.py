"""Addresses of exports."""

from django.urls import path

from studio.workspaces.exports import plan_views, views

urlpatterns = [
    path("prompts/<word:slug>/export/", plan_views.prompt_export, name="prompt-export"),
    path("exports/", views.export_list, name="export-list"),
    path("exports/<uuid:batch>/", views.export_detail, name="export-detail"),
    path("exports/<number:pk>/undo/", views.export_undo, name="export-undo"),
]
