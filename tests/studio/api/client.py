"""A small typed client of the API, for tests: every answer is checked against the shape that it promises."""

import json
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.http import HttpResponse
from django.test import Client
from pydantic import BaseModel

from studio.api.problems import Problem

Shape = TypeVar("Shape", bound=BaseModel)


class Refused(Exception):
    """The API answered with a problem."""

    def __init__(self, problem: Problem, headers: dict[str, str]) -> None:
        super().__init__(problem)
        self.problem, self.headers = problem, headers


@dataclass
class Api:
    """Requests of one token."""

    key: str
    client: Client = field(default_factory=Client)
    headers: dict[str, str] = field(default_factory=dict)
    """Of the last answer."""

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The raw answer."""
        sent = {
            "Authorization": f"Bearer {self.key}",
            **{name.replace("_", "-"): headers[name] for name in headers},
        }
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer = self.client.generic(
            method, f"/api/v1/{path}", data, content_type="application/json", headers=sent
        )
        self.headers = dict(answer.headers)
        return answer

    def ask(self, shape: type[Shape], method: str, path: str, body: Any = None, **headers: str) -> Shape:
        """The answer in its shape, or ``Refused``."""
        answer = self.send(method, path, body, **headers)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"
            raise Refused(problem_of(answer), self.headers)
        made = shape.model_validate_json(answer.content)
        assert json.loads(made.model_dump_json()) == answer.json(), "the answer has more than its shape"
        return made

    def get(self, shape: type[Shape], path: str, **headers: str) -> Shape:
        return self.ask(shape, "GET", path, **headers)

    def post(self, shape: type[Shape], path: str, body: Any, **headers: str) -> Shape:
        return self.ask(shape, "POST", path, body, **headers)

    def put(self, shape: type[Shape], path: str, body: Any, **headers: str) -> Shape:
        return self.ask(shape, "PUT", path, body, **headers)


def problem_of(answer: HttpResponse) -> Problem:
    """The problem of a refusal."""
    problem = Problem.model_validate_json(answer.content)
    assert problem.status == answer.status_code
    return problem
