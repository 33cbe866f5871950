"""A template that the check accepts and that takes too long: as many turns as loops may have, slow ones."""

HANGS = (
    "{% for a in range(1000) %}{% for b in range(999) %}"
    f"{{% set c = [{', '.join(['(a * b)|filesizeformat'] * 12)}] %}}"
    "{% endfor %}{% endfor %}"
)
