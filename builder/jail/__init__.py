"""Locked-down worker processes for text from people: the same check, render and merge, isolated."""

from builder.jail.answers import Examination, Match, Outcome
from builder.jail.limits import LIMIT_NAMES, LimitName, Limits
from builder.jail.pool import JailPool
from builder.jail.seccomp import supported as seccomp_supported
from builder.jail.stats import LaneStats, Stats
from builder.three_way import Choice, Region, ThreeWay

__all__ = [
    "LIMIT_NAMES",
    "Choice",
    "Examination",
    "JailPool",
    "LaneStats",
    "LimitName",
    "Limits",
    "Match",
    "Outcome",
    "Region",
    "Stats",
    "ThreeWay",
    "seccomp_supported",
]
