"""Claims of background work: one at a time, and free again when whoever had it is gone."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from studio.shell import claims
from studio.shell.claims import WorkClaim, claimed


@pytest.mark.django_db
def test_work_has_one_claim_at_a_time_and_none_when_it_is_done() -> None:
    with claimed("a") as first, claimed("a") as second, claimed("b") as other:
        assert (first, second, other) == (True, False, True)
    assert not WorkClaim.objects.exists()
    with claimed("a") as again:
        assert again


@pytest.mark.django_db
@pytest.mark.parametrize("until", [-timedelta(seconds=1), timedelta(days=1)])
def test_a_claim_that_was_not_renewed_or_is_of_a_wrong_clock_is_taken_over(until: timedelta) -> None:
    WorkClaim.objects.create(what="a", who="a server that died", until=timezone.now() + until)
    with claimed("a") as mine:
        assert mine
        assert "died" not in WorkClaim.objects.get().who


@pytest.mark.django_db
def test_whoever_lost_a_claim_does_not_end_the_other_ones() -> None:
    with claimed("a"):
        WorkClaim.objects.update(who="another")
    assert WorkClaim.objects.get().who == "another"


@pytest.mark.django_db(transaction=True)
def test_long_work_keeps_its_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "RENEWED_EVERY", timedelta(milliseconds=1))
    with claimed("a"):
        before = WorkClaim.objects.get().until
        deadline = time.monotonic() + 20
        while WorkClaim.objects.get().until <= before and time.monotonic() < deadline:
            pass
        assert WorkClaim.objects.get().until > before


@pytest.mark.django_db(transaction=True)
def test_of_several_at_once_one_has_it() -> None:
    won: list[bool] = []
    start, all_tried = threading.Barrier(4), threading.Barrier(4)

    def compete() -> None:
        try:
            for _ in range(20):
                start.wait(20)
                with claimed("a") as mine:
                    won.append(mine)
                    all_tried.wait(20)
        finally:
            connection.close()

    threads = [threading.Thread(target=compete) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (won.count(True), len(won)) == (20, 80)
