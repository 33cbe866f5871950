"""The way from a request's values to clean ones."""

from typing import Any

from django import forms
from django.http import QueryDict

from studio.problems import Problem


def clean_or_refuse(form_class: type[forms.Form], data: QueryDict) -> dict[str, Any]:
    """The clean values of a form that a link filled in; a value that no link of ours has is a 400."""
    form = form_class(data)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        label = form[field].label if field in form.fields else field
        raise Problem(400, f"{label}: {errors[0]}")
    return form.cleaned_data
