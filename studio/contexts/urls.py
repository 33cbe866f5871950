"""Addresses of contexts."""

from django.urls import path

from studio.contexts import views

urlpatterns = [
    path("prompts/<word:slug>/contexts/", views.prompt_contexts, name="prompt-contexts"),
    path("contexts/", views.context_list, name="context-list"),
    path("contexts/new/", views.context_new, name="context-new"),
    path("contexts/new/json/", views.context_new_json, name="context-new-json"),
    path("contexts/new/samples/", views.context_samples, name="context-samples"),
    path("contexts/<word:slug>.json", views.context_json, name="context-json"),
    path("contexts/<word:slug>/", views.context_detail, name="context-detail"),
    path("contexts/<word:slug>/edit/", views.context_edit, name="context-edit"),
    path("contexts/<word:slug>/edit/json/", views.context_edit_json, name="context-edit-json"),
    path("contexts/<word:slug>/duplicate/", views.context_duplicate, name="context-duplicate"),
    path("contexts/<word:slug>/delete/", views.context_delete, name="context-delete"),
]
