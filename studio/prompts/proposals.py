"""Proposals: a releaser proposes where a protected label shall point, another one approves, and it moves.

Used by the page of a proposal and by the pages of versions.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import models, transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.access.audit import Event, record
from studio.access.roles import Action, require
from studio.prompts.labels import Label
from studio.prompts.models import PromptSet, PromptVersion
from studio.shell.refusal import RequestRefused


class ProposalState(models.TextChoices):
    """What became of a proposal."""

    OPEN = "open", gettext_lazy("Open")
    APPROVED = "approved", gettext_lazy("Approved")
    DECLINED = "declined", gettext_lazy("Declined")
    WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn")
    VOID = "void", gettext_lazy("Void")


class ProposalManager(models.Manager["Proposal"]):
    """Proposals are made here."""

    def propose(
        self, name: str, version: PromptVersion, *, by: User, at: datetime, message: str = ""
    ) -> "Proposal":
        """Ask for the label to be moved to the version; refused where it is there, or asked for already."""
        require(by, Action.PROTECTED_LABEL)
        with transaction.atomic():
            prompt_set = PromptSet.objects.select_for_update().get(pk=version.prompt_set_id)
            label = Label.objects.filter(prompt_set=prompt_set, name=name).first()
            if label is not None and label.version_id == version.pk:
                raise RequestRefused(409, _("The label points at this version already."))
            for other in self.open_of(prompt_set).filter(label=name):
                if not other.is_void:
                    raise RequestRefused(
                        409,
                        _("There is an open proposal for %(label)s.") % {"label": name},
                        _("Answer it first, or let its author withdraw it."),
                        ways=[(str(other), other.get_absolute_url())],
                    )
                self.filter(pk=other.pk).update(state=ProposalState.VOID)
            made = self.create(
                prompt_set=prompt_set,
                label=name,
                version=version,
                from_version=label.version if label else None,
                revision=prompt_set.revision,
                by=by,
                at=at,
                message=message,
            )
            made.note(Event.PROPOSAL_MADE)
        return made

    def open_of(self, prompt_set: PromptSet) -> "models.QuerySet[Proposal]":
        """Those that nobody has answered; void ones are among them."""
        rows: models.QuerySet[Proposal] = prompt_set.proposals.filter(state=ProposalState.OPEN)
        # Most sets have none: a join for each of them would cost more than two questions for the others.
        return rows.prefetch_related("version", "by")


class Proposal(models.Model):
    """One wish to move a label, with a message and an answer."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.CASCADE, related_name="proposals")
    label = models.CharField(max_length=40)
    version = models.ForeignKey(PromptVersion, on_delete=models.CASCADE, related_name="+")
    from_version = models.ForeignKey(PromptVersion, on_delete=models.CASCADE, null=True, related_name="+")
    # The set's newest version then: a newer one voids the proposal.
    revision = models.PositiveIntegerField()
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    message = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=ProposalState, default=ProposalState.OPEN)
    answer = models.CharField(max_length=500, blank=True)
    answered_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)

    objects = ProposalManager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.label} → v{self.version.number}"

    def get_absolute_url(self) -> str:
        return reverse("proposal-detail", args=[self.prompt_set.slug, self.pk])

    @property
    def is_void(self) -> bool:
        """Whether nobody can approve it any more: there is a newer version, or the label has moved."""
        if self.state == ProposalState.VOID:
            return True
        if self.state != ProposalState.OPEN:
            return False
        label = Label.objects.filter(prompt_set=self.prompt_set_id, name=self.label).first()
        moved = (label.version_id if label else None) != self.from_version_id
        return moved or self.prompt_set.revision != self.revision

    @property
    def is_open(self) -> bool:
        return self.state == ProposalState.OPEN and not self.is_void

    @property
    def state_label(self) -> str:
        return str(ProposalState.VOID.label if self.is_void else ProposalState(self.state).label)

    def approve(self, *, by: User, at: datetime, answer: str = "") -> None:
        """Move the label. Not by whoever proposed it, and not once it is void."""
        require(by, Action.PROTECTED_LABEL)
        if by.pk == self.by_id:
            raise RequestRefused(
                403, _("Another releaser has to approve it."), _("You proposed it; you can withdraw it.")
            )
        with transaction.atomic():
            self._answer(ProposalState.APPROVED, by, at, answer)
            Label.objects.move(self.label, self.version, by=by, at=at, note=self.message[:300], approved=True)
            self.note(Event.PROPOSAL_APPROVED)

    def decline(self, *, by: User, at: datetime, answer: str = "") -> None:
        """Leave the label where it is; of one's own proposal, that is to withdraw it."""
        require(by, Action.PROTECTED_LABEL)
        own = by.pk == self.by_id
        with transaction.atomic():
            self._answer(ProposalState.WITHDRAWN if own else ProposalState.DECLINED, by, at, answer)
            self.note(Event.PROPOSAL_WITHDRAWN if own else Event.PROPOSAL_DECLINED)

    def _answer(self, state: ProposalState, by: User, at: datetime, answer: str) -> None:
        # Whoever saves a version at this moment waits, or has been faster.
        self.prompt_set = PromptSet.objects.select_for_update().get(pk=self.prompt_set_id)
        self.refresh_from_db(fields=["state"])
        if not self.is_open:
            raise RequestRefused(
                409,
                _("This proposal is %(state)s: nothing was moved.") % {"state": self.state_label.lower()},
                _("Propose it again, if it is still wanted."),
                ways=[(str(self), self.get_absolute_url())],
            )
        self.state, self.answer, self.answered_by, self.answered_at = state, answer, by, at
        self.save(update_fields=["state", "answer", "answered_by", "answered_at"])

    def note(self, event: Event) -> None:
        """Record it, and so tell webhooks of it."""
        old = self.from_version
        record(
            event,
            self,
            name=f"{self.prompt_set}: {self}",
            before={"version": old.number} if old else None,
            after={
                "label": self.label,
                "version": self.version.number,
                "message": self.message,
                "answer": self.answer,
            },
        )
