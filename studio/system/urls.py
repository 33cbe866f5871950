"""Addresses of system prompts."""

from django.urls import path

from studio.system import views

urlpatterns = [
    path("workspaces/<word:slug>/system/", views.system_detail, name="system-detail"),
    path("workspaces/<word:slug>/system/compare/", views.system_compare, name="system-compare"),
    path("workspaces/<word:slug>/system/keep/", views.system_keep, name="system-keep"),
    path("workspaces/<word:slug>/system/<word:mode>.txt", views.system_text, name="system-text"),
]
