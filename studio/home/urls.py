"""Addresses of the home page and of the demo's removal."""

from django.urls import path

from studio.home import views

urlpatterns = [
    path("", views.home, name="home"),
    path("score-changes/", views.score_changes, name="score-changes"),
    path("demo/", views.demo_remove, name="demo-remove"),
]
