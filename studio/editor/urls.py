"""Addresses of editor."""

from django.urls import path

from studio.editor import conflict_views, draft_views, views

urlpatterns = [
    path("prompts/<word:slug>/edit/", views.prompt_edit, name="prompt-edit"),
    path("prompts/<word:slug>/save/", views.prompt_save, name="prompt-save"),
    path("prompts/<word:slug>/draft/", draft_views.prompt_draft, name="prompt-draft"),
    path("prompts/<word:slug>/discard/", draft_views.prompt_discard, name="prompt-discard"),
    path("prompts/<word:slug>/copies/<number:number>/", draft_views.prompt_copy, name="prompt-copy"),
    path("prompts/<word:slug>/conflict/", conflict_views.prompt_conflict, name="prompt-conflict"),
]
