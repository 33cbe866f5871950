"""Addresses of the editor, its drafts and conflicts."""

from django.urls import path

from studio.editor import release_views, views

urlpatterns = [
    path("prompts/<word:slug>/edit/", views.prompt_edit, name="prompt-edit"),
    path("prompts/<word:slug>/save/", views.prompt_save, name="prompt-save"),
    path("prompts/<word:slug>/draft/", views.prompt_draft, name="prompt-draft"),
    path("prompts/<word:slug>/variables/", views.prompt_variables, name="prompt-variables"),
    path("prompts/<word:slug>/discard/", views.prompt_discard, name="prompt-discard"),
    path("prompts/<word:slug>/copies/<number:number>/", views.prompt_copy, name="prompt-copy"),
    path("prompts/<word:slug>/release/", release_views.prompt_release, name="prompt-release"),
    path("prompts/<word:slug>/conflict/", views.prompt_conflict, name="prompt-conflict"),
]
