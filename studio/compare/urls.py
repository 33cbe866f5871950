"""Addresses of comparisons and of the matrix."""

from django.urls import path
from django.views.generic import RedirectView

from studio.compare import proposal_views, views

urlpatterns = [
    path("prompts/<word:slug>/proposals/", proposal_views.proposal_new, name="proposal-new"),
    path(
        "prompts/<word:slug>/proposals/<number:pk>/", proposal_views.proposal_detail, name="proposal-detail"
    ),
    path("prompts/<word:slug>/compare/<side:old>...<side:new>", views.prompt_compare, name="prompt-compare"),
    path(
        "prompts/<word:slug>/compare/<side:old>...<side:new>/",
        RedirectView.as_view(pattern_name="prompt-compare", query_string=True),
    ),
    path(
        "prompts/<word:slug>/compare/<side:old>...<side:new>.diff",
        views.prompt_compare_text,
        name="prompt-compare-text",
    ),
    path("prompts/<word:slug>/matrix/", views.prompt_matrix, name="prompt-matrix"),
]
