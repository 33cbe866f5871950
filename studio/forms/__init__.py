"""Input from people, made clean: one module per noun."""

from studio.forms.clean import clean_or_refuse
from studio.forms.preferences import KeysForm, ThemeForm
from studio.forms.search import PromptSearchForm, SearchForm
from studio.forms.signin import SignInForm

__all__ = [
    "KeysForm",
    "PromptSearchForm",
    "SearchForm",
    "SignInForm",
    "ThemeForm",
    "clean_or_refuse",
]
