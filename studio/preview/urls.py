"""Addresses of the preview, of cacheable prefixes, and of budgets and costs."""

from django.urls import path

from studio.preview import views

urlpatterns = [
    path("prompts/<word:slug>/costs/", views.prompt_costs, name="prompt-costs"),
    path("prompts/<word:slug>/budgets/", views.prompt_budgets, name="prompt-budgets"),
    path("prompts/<word:slug>/preview/", views.prompt_preview, name="prompt-preview"),
    path("prompts/<word:slug>/rounds/", views.prompt_rounds, name="prompt-rounds"),
    path("prompts/<word:slug>/stability/", views.prompt_cacheable_prefix, name="prompt-cacheable-prefix"),
    path(
        "prompts/<word:slug>/stability/take/",
        views.prompt_cacheable_prefix_take,
        name="prompt-cacheable-prefix-take",
    ),
    path("prompts/<word:slug>/prefixes/", views.prompt_prefixes, name="prompt-prefixes"),
]
