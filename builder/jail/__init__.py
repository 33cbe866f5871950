"""Locked-down worker processes for text from people: the same check, render and merge, isolated."""

from builder.diff.three_way import Choice, Region, ThreeWay
from builder.files.file_check import MISSING_FIELD
from builder.files.prompt_file import NamedFile, PromptFile
from builder.jail.answers import BranchTrial, Examination, Match
from builder.jail.landlock import supported as landlock_supported
from builder.jail.limits import LIMIT_NAMES, LimitName, Limits
from builder.jail.pool import JailPool
from builder.jail.seccomp import supported as seccomp_supported
from builder.jail.stats import LaneStats, Stats
from builder.template.coverage import Coverage

__all__ = [
    "LIMIT_NAMES",
    "MISSING_FIELD",
    "BranchTrial",
    "Choice",
    "Coverage",
    "Examination",
    "JailPool",
    "LaneStats",
    "LimitName",
    "Limits",
    "Match",
    "NamedFile",
    "PromptFile",
    "Region",
    "Stats",
    "ThreeWay",
    "landlock_supported",
    "seccomp_supported",
]
