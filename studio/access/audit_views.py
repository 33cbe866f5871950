"""The view of the audit."""

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from studio.access.audit_forms import AuditForm
from studio.access.audit_page import audit_page, entries_for, json_lines
from studio.access.roles import Action, may
from studio.shell.downloads import attachment
from studio.shell.requests import person_of, valid_or_refuse


@require_safe
def audit_list(request: HttpRequest) -> HttpResponseBase:
    """Who changed what: all of it, of a set or a workspace, or what a search finds; also as a file."""
    person, form = person_of(request), valid_or_refuse(AuditForm(request.GET))
    if form.cleaned_data["format"]:
        lines = json_lines(form.chosen(entries_for(person)), addresses=may(person, Action.PEOPLE))
        answer = StreamingHttpResponse(lines, content_type="application/jsonl; charset=utf-8")
        answer.headers["Content-Disposition"] = attachment("audit.jsonl")
        answer.headers["Cache-Control"] = "no-store"
        return answer
    return render(request, "access/audit.html", {"page": audit_page(form, person)})
