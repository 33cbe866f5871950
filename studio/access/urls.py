"""Addresses of accounts."""

from django.urls import path

from studio.access import token_views, views

urlpatterns = [
    path("signin/", views.signin, name="signin"),
    path("signin/<str:token>/", views.signin_link, name="signin-link"),
    path("signout/", views.signout, name="signout"),
    path("account/", views.account, name="account"),
    path("account/password/", views.account_password, name="account-password"),
    path("account/sessions/end/", views.account_sessions_end, name="account-sessions-end"),
    path("account/tokens/", token_views.account_tokens, name="account-tokens"),
    path("account/tokens/<number:pk>/end/", token_views.account_token_end, name="account-token-end"),
    path("tokens/", token_views.service_tokens, name="service-tokens"),
    path("tokens/<number:pk>/end/", token_views.service_token_end, name="service-token-end"),
]
