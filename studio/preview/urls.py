"""Addresses of preview."""

from django.urls import path

from studio.preview import budget_views, stability_views, views

urlpatterns = [
    path("prompts/<word:slug>/costs/", budget_views.prompt_costs, name="prompt-costs"),
    path("prompts/<word:slug>/budgets/", budget_views.prompt_budgets, name="prompt-budgets"),
    path("prompts/<word:slug>/preview/", views.prompt_preview, name="prompt-preview"),
    path("prompts/<word:slug>/stability/", stability_views.prompt_stability, name="prompt-stability"),
    path(
        "prompts/<word:slug>/stability/take/",
        stability_views.prompt_stability_take,
        name="prompt-stability-take",
    ),
    path("prompts/<word:slug>/prefixes/", stability_views.prompt_prefixes, name="prompt-prefixes"),
]
