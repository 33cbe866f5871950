"""Addresses of the search page and the palette."""

from django.urls import path

from studio.search import views

urlpatterns = [
    path("search/", views.search, name="search"),
    path("search/palette/", views.palette, name="palette"),
]
