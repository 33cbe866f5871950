"""Addresses: readable, named, one stem from URL to view to template."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import RedirectView

from studio.stored_names import StoredNameConverter
from studio.views import (
    budgets,
    compare,
    conflicts,
    context_editing,
    contexts,
    drafts,
    editor,
    exports,
    health,
    imports,
    labels,
    language_models,
    matrix,
    pages,
    preferences,
    preview,
    prompts,
    replay,
    round_contexts,
    rounds,
    run_compare,
    runs,
    scores,
    signin,
    stability,
    suggestions,
    system_prompts,
    teams,
    version_scores,
    versions,
    workspaces,
)


class SlugConverter(StringConverter):
    """Words of any script joined by hyphens; a NUL, which databases refuse, is none."""

    regex = r"[-\w]+"


class NumberConverter:
    """1, 2, 3… up to what a database column holds."""

    regex = r"[1-9][0-9]{0,8}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


class RoundConverter(NumberConverter):
    """A round's number: whatever whole number somebody's database holds, from 1."""

    regex = r"[1-9][0-9]{0,17}"


class SideConverter(NumberConverter):
    """A side of a comparison: a version's number, or the reader's own draft."""

    regex = rf"{NumberConverter.regex}|draft"

    def to_python(self, value: str) -> int | str:  # type: ignore[override]
        return value if value == "draft" else int(value)


register_converter(SlugConverter, "word")
register_converter(NumberConverter, "number")
register_converter(RoundConverter, "round")
register_converter(SideConverter, "side")
register_converter(StoredNameConverter, "stored")

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="prompt-list"), name="home"),
    path("prompts/", prompts.prompt_list, name="prompt-list"),
    path("prompts/new/", prompts.prompt_new, name="prompt-new"),
    path("prompts/import/", imports.prompt_import, name="prompt-import"),
    path("prompts/import/<number:number>/", imports.upload_import, name="upload-import"),
    path("prompts/<word:slug>/", prompts.prompt_detail, name="prompt-detail"),
    path("prompts/<word:slug>/settings/", prompts.prompt_settings, name="prompt-settings"),
    path("prompts/<word:slug>/costs/", budgets.prompt_costs, name="prompt-costs"),
    path("prompts/<word:slug>/budgets/", budgets.prompt_budgets, name="prompt-budgets"),
    path("prompts/<word:slug>/archive/", prompts.prompt_archive, name="prompt-archive"),
    path("prompts/<word:slug>/duplicate/", prompts.prompt_duplicate, name="prompt-duplicate"),
    path("prompts/<word:slug>/compare/", versions.compare_pick, name="compare-pick"),
    path(
        "prompts/<word:slug>/compare/<side:old>...<side:new>", compare.prompt_compare, name="prompt-compare"
    ),
    path(
        "prompts/<word:slug>/compare/<side:old>...<side:new>/",
        RedirectView.as_view(pattern_name="prompt-compare", query_string=True),
    ),
    path(
        "prompts/<word:slug>/compare/<side:old>...<side:new>.diff",
        compare.prompt_compare_text,
        name="prompt-compare-text",
    ),
    path("prompts/<word:slug>/matrix/", matrix.prompt_matrix, name="prompt-matrix"),
    path("prompts/<word:slug>/versions/<number:number>/", versions.version_detail, name="version-detail"),
    path(
        "prompts/<word:slug>/versions/<number:number>/runs/", version_scores.version_runs, name="version-runs"
    ),
    path("prompts/<word:slug>/scores/", version_scores.prompt_scores, name="prompt-scores"),
    path(
        "prompts/<word:slug>/versions/<number:number>/restore/",
        versions.version_restore,
        name="version-restore",
    ),
    path("prompts/<word:slug>/export/", exports.prompt_export, name="prompt-export"),
    path("prompts/<word:slug>/labels/", labels.label_move, name="label-move"),
    path("prompts/<word:slug>/labels/<word:name>/", labels.label_history, name="label-history"),
    path("prompts/<word:slug>/edit/", editor.prompt_edit, name="prompt-edit"),
    path("prompts/<word:slug>/save/", editor.prompt_save, name="prompt-save"),
    path("prompts/<word:slug>/preview/", preview.prompt_preview, name="prompt-preview"),
    path("prompts/<word:slug>/coverage/", suggestions.prompt_coverage, name="prompt-coverage"),
    path("prompts/<word:slug>/stability/", stability.prompt_stability, name="prompt-stability"),
    path(
        "prompts/<word:slug>/stability/take/", stability.prompt_stability_take, name="prompt-stability-take"
    ),
    path("prompts/<word:slug>/prefixes/", stability.prompt_prefixes, name="prompt-prefixes"),
    path("prompts/<word:slug>/suggestions/", suggestions.prompt_suggestions, name="prompt-suggestions"),
    path("prompts/<word:slug>/draft/", drafts.prompt_draft, name="prompt-draft"),
    path("prompts/<word:slug>/discard/", drafts.prompt_discard, name="prompt-discard"),
    path("prompts/<word:slug>/copies/<number:number>/", drafts.prompt_copy, name="prompt-copy"),
    path("prompts/<word:slug>/conflict/", conflicts.prompt_conflict, name="prompt-conflict"),
    path("contexts/", contexts.context_list, name="context-list"),
    path("contexts/new/", context_editing.context_new, name="context-new"),
    path("contexts/new/json/", context_editing.context_new_json, name="context-new-json"),
    path("contexts/new/samples/", contexts.context_samples, name="context-samples"),
    path("contexts/new/run/", round_contexts.context_from_run, name="context-from-run"),
    path("contexts/<word:slug>.json", contexts.context_json, name="context-json"),
    path("contexts/<word:slug>/", contexts.context_detail, name="context-detail"),
    path("contexts/<word:slug>/edit/", context_editing.context_edit, name="context-edit"),
    path("contexts/<word:slug>/edit/json/", context_editing.context_edit_json, name="context-edit-json"),
    path("contexts/<word:slug>/duplicate/", context_editing.context_duplicate, name="context-duplicate"),
    path("contexts/<word:slug>/delete/", context_editing.context_delete, name="context-delete"),
    path("workspaces/", workspaces.workspace_list, name="workspace-list"),
    path("workspaces/new/", workspaces.workspace_new, name="workspace-new"),
    path("workspaces/<word:slug>/", workspaces.workspace_detail, name="workspace-detail"),
    path("workspaces/<word:slug>/preview/", workspaces.workspace_preview, name="workspace-preview"),
    path("workspaces/<word:slug>/settings/", workspaces.workspace_settings, name="workspace-settings"),
    path("workspaces/<word:slug>/archive/", workspaces.workspace_archive, name="workspace-archive"),
    path("workspaces/<word:slug>/import/", imports.workspace_import, name="workspace-import"),
    path("workspaces/<word:slug>/adopt/", imports.workspace_adopt, name="workspace-adopt"),
    path("workspaces/<word:slug>/system/", system_prompts.system_detail, name="system-detail"),
    path("workspaces/<word:slug>/system/compare/", system_prompts.system_compare, name="system-compare"),
    path("workspaces/<word:slug>/system/keep/", system_prompts.system_keep, name="system-keep"),
    path("workspaces/<word:slug>/system/<word:mode>.txt", system_prompts.system_text, name="system-text"),
    path("workspaces/<word:slug>/teams/", teams.team_list, name="team-list"),
    path("workspaces/<word:slug>/teams/<stored:team>/", teams.team_detail, name="team-detail"),
    path("workspaces/<word:slug>/scores/", scores.workspace_scores, name="workspace-scores"),
    path("workspaces/<word:slug>/runs/compare/", run_compare.run_compare_pick, name="run-compare-pick"),
    path(
        "workspaces/<word:slug>/runs/<stored:first>...<stored:second>/",
        run_compare.run_compare,
        name="run-compare",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/",
        rounds.run_round,
        name="run-round",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/prompt.txt",
        rounds.run_round_text,
        {"kind": "prompt"},
        name="run-round-prompt",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>"
        "/submission.md",
        rounds.run_round_text,
        {"kind": "submission"},
        name="run-round-submission",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/context/",
        round_contexts.run_round_context,
        name="run-round-context",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/rounds/<round:number>/replay/",
        replay.run_replay,
        name="run-replay",
    ),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/replay/", replay.run_replay_all, name="run-replay-all"
    ),
    path("workspaces/<word:slug>/runs/", runs.workspace_runs, name="workspace-runs"),
    path("workspaces/<word:slug>/runs/<stored:execution>/", runs.run_detail, name="run-detail"),
    path(
        "workspaces/<word:slug>/runs/<stored:execution>/teams/<stored:team>/", runs.run_team, name="run-team"
    ),
    path("exports/", exports.export_list, name="export-list"),
    path("exports/<uuid:batch>/", exports.export_detail, name="export-detail"),
    path("exports/<number:pk>/undo/", exports.export_undo, name="export-undo"),
    path("runs/", runs.run_list, name="run-list"),
    path("models/", language_models.model_list, name="model-list"),
    path("models/new/", language_models.model_new, name="model-new"),
    path("models/shipped/", language_models.model_shipped, name="model-shipped"),
    path("models/<number:pk>/", language_models.model_edit, name="model-edit"),
    path("models/<number:pk>/reset/", language_models.model_reset, name="model-reset"),
    path("models/<number:pk>/delete/", language_models.model_delete, name="model-delete"),
    path("shortcuts/", pages.shortcuts, name="shortcuts"),
    path("design/", pages.design, name="design"),
    path("signin/", signin.signin, name="signin"),
    path("signin/<str:token>/", signin.signin_link, name="signin-link"),
    path("signout/", signin.signout, name="signout"),
    path("language/", preferences.language, name="language"),
    path("theme/", preferences.theme, name="theme"),
    path("keys/", preferences.keys, name="keys"),
    path("healthz", health.healthz, name="healthz"),
]

handler400 = "studio.views.errors.bad_request"
handler403 = "studio.views.errors.permission_denied"
handler404 = "studio.views.errors.page_not_found"
handler500 = "studio.views.errors.server_error"
