"""What the API stores: answers to requests with an idempotency key."""

from django.db import models

from studio.access.tokens import ApiToken


class StoredAnswer(models.Model):
    """The first answer to a key; without a status the request is under way."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="answers")
    key = models.CharField(max_length=200)
    # Of method, address and body: the same key with another request is a mistake.
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(default="")
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["token", "key"], name="one_answer_per_key"),)

    def __str__(self) -> str:
        return self.key
