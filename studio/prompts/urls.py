"""Addresses of prompts."""

from django.urls import path

from studio.prompts import language_model_views, version_views, views

urlpatterns = [
    path("prompts/", views.prompt_list, name="prompt-list"),
    path("prompts/new/", views.prompt_new, name="prompt-new"),
    path("prompts/<word:slug>/", views.prompt_detail, name="prompt-detail"),
    path("prompts/<word:slug>/settings/", views.prompt_settings, name="prompt-settings"),
    path("prompts/<word:slug>/archive/", views.prompt_archive, name="prompt-archive"),
    path("prompts/<word:slug>/protection/", views.prompt_protection, name="prompt-protection"),
    path("prompts/<word:slug>/duplicate/", views.prompt_duplicate, name="prompt-duplicate"),
    path("prompts/<word:slug>/compare/", version_views.compare_pick, name="compare-pick"),
    path(
        "prompts/<word:slug>/versions/<number:number>/", version_views.version_detail, name="version-detail"
    ),
    path(
        "prompts/<word:slug>/versions/<number:number>/restore/",
        version_views.version_restore,
        name="version-restore",
    ),
    path("prompts/<word:slug>/labels/", version_views.label_move, name="label-move"),
    path("prompts/<word:slug>/labels/<word:name>/", version_views.label_history, name="label-history"),
    path("models/", language_model_views.model_list, name="model-list"),
    path("models/new/", language_model_views.model_new, name="model-new"),
    path("models/shipped/", language_model_views.model_shipped, name="model-shipped"),
    path("models/<number:pk>/", language_model_views.model_edit, name="model-edit"),
    path("models/<number:pk>/reset/", language_model_views.model_reset, name="model-reset"),
    path("models/<number:pk>/delete/", language_model_views.model_delete, name="model-delete"),
]
