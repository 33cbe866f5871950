"""Addresses of accounts."""

from django.urls import path

from studio.access import (
    audit_views,
    password_views,
    people_views,
    provider_views,
    token_views,
    views,
    webhook_views,
)

urlpatterns = [
    path("webhooks/", webhook_views.webhook_list, name="webhook-list"),
    path("webhooks/<number:pk>/", webhook_views.webhook_detail, name="webhook-detail"),
    path("webhooks/<number:pk>/secret/", webhook_views.webhook_secret, name="webhook-secret"),
    path("webhooks/<number:pk>/delete/", webhook_views.webhook_delete, name="webhook-delete"),
    path("deliveries/<number:pk>/again/", webhook_views.delivery_again, name="delivery-again"),
    path("signin/", views.signin, name="signin"),
    path("signin/provider/", provider_views.provider_signin, name="provider-signin"),
    path("signin/provider/callback/", provider_views.provider_callback, name="provider-callback"),
    path("signin/forgotten/", password_views.password_reset, name="password-reset"),
    path(
        "password/<str:uidb64>/<str:token>/",
        password_views.password_reset_confirm,
        name="password-reset-confirm",
    ),
    path("signin/<str:token>/", views.signin_link, name="signin-link"),
    path("audit/", audit_views.audit_list, name="audit-list"),
    path("signout/", views.signout, name="signout"),
    path("account/", views.account, name="account"),
    path("account/password/", views.account_password, name="account-password"),
    path("account/email/", views.account_email, name="account-email"),
    path("account/sessions/end/", views.account_sessions_end, name="account-sessions-end"),
    path("invitation/<str:token>/", people_views.invitation, name="invitation"),
    path("roles/", people_views.role_list, name="role-list"),
    path("people/", people_views.people, name="people"),
    path("people/invite/", people_views.person_invite, name="person-invite"),
    path("people/withdraw/<number:pk>/", people_views.invitation_withdraw, name="invitation-withdraw"),
    path("people/<number:pk>/", people_views.person, name="person"),
    path("people/<number:pk>/switch/", people_views.person_switch, name="person-switch"),
    path("people/<number:pk>/remove/", people_views.person_remove, name="person-remove"),
    path("account/tokens/", token_views.account_tokens, name="account-tokens"),
    path("account/tokens/<number:pk>/end/", token_views.account_token_end, name="account-token-end"),
    path("tokens/", token_views.service_tokens, name="service-tokens"),
    path("tokens/<number:pk>/end/", token_views.service_token_end, name="service-token-end"),
]
