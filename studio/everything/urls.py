"""Address of the page of everything."""

from django.urls import path

from studio.everything import views

urlpatterns = [path("everything/", views.everything, name="everything")]
