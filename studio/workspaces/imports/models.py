"""Uploads: files that a person handed in, kept so that they can be looked at before they become a version."""

import hashlib
from datetime import datetime

from django.contrib.auth.models import User
from django.db import models, transaction
from django.urls import reverse

UPLOADS_KEPT = 20
"""Of one person; the oldest goes first."""
NAME_LENGTH = 255


class UploadManager(models.Manager["Upload"]):
    """Files are kept here, a bounded number of them."""

    def keep(self, person: User, name: str, data: bytes, *, at: datetime) -> "Upload":
        """Store a file; the same one again is the one that is there."""
        digest = hashlib.sha256(data).hexdigest()
        mine = self.filter(person=person)
        with transaction.atomic():
            same = mine.filter(sha256=digest, name=name[:NAME_LENGTH]).first()
            if same is not None:
                mine.filter(pk=same.pk).update(at=at)
                return same
            made = self.create(person=person, name=name[:NAME_LENGTH], data=data, sha256=digest, at=at)
            kept = list(mine.order_by("-at", "-pk").values_list("pk", flat=True)[:UPLOADS_KEPT])
            mine.exclude(pk__in=kept).delete()
        return made


class Upload(models.Model):
    """A file as it came. Nobody but the person sees it."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=NAME_LENGTH)
    data = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    at = models.DateTimeField()

    objects = UploadManager()

    class Meta:
        indexes = (models.Index(fields=["person", "-at"], name="uploads_of_a_person"),)

    def __str__(self) -> str:
        return f"{self.person}: {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("upload-import", args=[self.pk])
