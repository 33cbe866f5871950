"""All addresses: each room has its own `urls.py`."""

from django.urls import include, path, register_converter

from studio.shell import addresses

register_converter(addresses.SlugConverter, "word")
register_converter(addresses.NumberConverter, "number")
register_converter(addresses.RoundConverter, "round")
register_converter(addresses.SideConverter, "side")
register_converter(addresses.StoredNameConverter, "stored")

urlpatterns = [
    path("", include(f"studio.{room}.urls"))
    for room in [
        "workspaces.imports",  # prompts/import/ before prompts/<slug>/
        "prompts",
        "contexts",
        "preview",
        "compare",
        "editor",
        "machines",
        "workspaces",
        "workspaces.exports",
        "system",
        "runs",
        "results",
        "results.replay",
        "results.suggestions",
        "search",
        "help",
        "everything",
        "home",
        "api",
        "access",
        "shell",
    ]
]

handler400 = "studio.shell.error_views.bad_request"
handler403 = "studio.shell.error_views.permission_denied"
handler404 = "studio.shell.error_views.page_not_found"
handler500 = "studio.shell.error_views.server_error"
