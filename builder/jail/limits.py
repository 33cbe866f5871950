"""The limits of a job: what it may use before it is stopped, and the words for the limit that it met or for
a job that was not taken. Used on both sides of the jail."""

import os
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from builder.errors import LimitExceeded
from builder.messages import message

LimitName = Literal["time", "cpu", "memory", "output", "input", "depth", "crash"]
LIMIT_NAMES: tuple[LimitName, ...] = get_args(LimitName)

MEBIBYTE = 1024 * 1024


def cores() -> int:
    """How many of the machine's this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class Seconds(NamedTuple):
    """How long one job may take: CPU time of its worker, the clock on the wall, what the kernel allows."""

    time: float
    wall: float
    cpu: int


@dataclass(frozen=True)
class Limits:
    """How far a job may go. Times are seconds, ``memory`` and ``input`` bytes, ``output`` characters."""

    time: float = 1.0
    """One check or render, in CPU time of its worker: how busy the machine is must not decide on a text."""
    file_time: float = 15.0
    """One reading or merging of a prompt file: 200,000 characters of TOML take seconds."""
    wall: float = 10.0
    """How long a worker may take for it by the clock on the wall, on a machine that is busy otherwise."""
    file_wall: float = 60.0
    cpu: int = 2
    """What the kernel allows, also where nobody is left outside to stop the worker."""
    file_cpu: int = 20
    memory: int = 256 * MEBIBYTE
    """Address space of a worker; about 35 MB of it are used when it starts."""
    output: int = 1_000_000
    input: int = 8 * MEBIBYTE
    wait: float = 5.0
    """How long a job waits for its turn and for a free worker."""
    batch_wait: float = 60.0
    """The same for batches and files."""
    waiting: int = 8
    """How many jobs of one owner may wait at a time."""
    cool_down: float = 10.0
    start: float = 10.0
    """How long a new worker may take until it is ready."""
    jobs: int = 10_000
    """A worker that did so many is replaced."""

    def seconds(self, *, file: bool = False) -> Seconds:
        if file:
            return Seconds(self.file_time, self.file_wall, self.file_cpu)
        return Seconds(self.time, self.wall, self.cpu)


_TRY_LESS = "Use fewer or smaller loops and repetitions: in MixSeek the same template would hang a whole run."
_TRY_LESS_JA = (
    "ループや繰り返しの数を減らしてください。MixSeekでも同じテンプレートが実行全体を止めてしまいます。"
)

_CODES: dict[LimitName, str] = {
    "time": message(
        "jail-time",
        "Stopped at the time limit: this took longer than {seconds} s",
        "時間の上限で停止しました（{seconds}秒を超えました）",
        fix_en=_TRY_LESS,
        fix_ja=_TRY_LESS_JA,
    ),
    "cpu": message(
        "jail-cpu",
        "Stopped at the processor limit: this used more than {seconds} s of CPU time",
        "CPU時間の上限で停止しました（{seconds}秒を超えました）",
        fix_en=_TRY_LESS,
        fix_ja=_TRY_LESS_JA,
    ),
    "memory": message(
        "jail-memory",
        "Stopped at the memory limit: this needed more than {megabytes} MB",
        "メモリの上限で停止しました（{megabytes} MBを超えました）",
        fix_en="Build smaller texts and lists: repeated or joined texts grow fastest.",
        fix_ja="作成する文字列やリストを小さくしてください。繰り返しや連結は特に大きくなります。",
    ),
    "output": message(
        "jail-output",
        "Stopped at the output limit: the text grew beyond {characters} characters",
        "出力の上限で停止しました（{characters}文字を超えました）",
        fix_en="No model accepts a prompt of this length: reduce what the loops write.",
        fix_ja="この長さのプロンプトを受け取れるモデルはありません。ループが書き出す量を減らしてください。",
    ),
    "input": message(
        "jail-input",
        "Too large to process: more than {megabytes} MB",
        "大きすぎて処理できません（{megabytes} MBを超えています）",
        fix_en="Shorten the template or the texts of the context.",
        fix_ja="テンプレートまたはコンテキストの文章を短くしてください。",
    ),
    "depth": message(
        "jail-depth",
        "Stopped at the depth limit: values or calls are nested too deeply",
        "深さの上限で停止しました（値や呼び出しの入れ子が深すぎます）",
        fix_en="Do not put lists into lists, or calls into calls, inside a loop.",
        fix_ja="ループの中でリストや呼び出しを入れ子に重ねないでください。",
    ),
    "crash": message(
        "jail-crash",
        "Stopped: the worker process crashed ({reason})",
        "処理していたプロセスが異常終了したため停止しました（{reason}）",
        fix_en="Simplify the template: very deep nesting or very large values crash the interpreter.",
        fix_ja="テンプレートを簡潔にしてください。極端に深い入れ子や巨大な値は異常終了の原因になります。",
    ),
}


_FILE = message(
    "jail-file",
    "The file is too large or too complex to process",
    "ファイルが大きすぎるか複雑すぎるため、処理できませんでした",
    fix_en="Remove the tables and keys other than the three templates.",
    fix_ja="3つのテンプレート以外のテーブルやキーを取り除いてください。",
)

# What is said to a person whose job was not taken.
CLOSED = message(
    "jail-closed",
    "The workers that render templates are stopped",
    "テンプレートを処理するワーカーは停止しています",
    fix_en="Try again after the workers have been restarted.",
    fix_ja="ワーカーの再起動後にもう一度お試しください。",
)
BUSY = message(
    "jail-busy",
    "All workers are busy; none became free within {seconds} s",
    "ワーカーがすべて使用中です（{seconds}秒待ちました）",
    fix_en="Try again in a moment.",
    fix_ja="しばらくしてからもう一度お試しください。",
)
TOO_MANY = message(
    "jail-too-many",
    "{count} of your jobs are waiting already",
    "処理待ちがすでに{count}件あります",
    fix_en="Try again once they are done.",
    fix_ja="それらが終わってからもう一度お試しください。",
)
NO_START = message(
    "jail-no-start",
    "No worker can be started: {reason}",
    "ワーカーを起動できません：{reason}",
    fix_en="Make sure that the machine has memory and processes left, then try again.",
    fix_ja="メモリとプロセス数に余裕があることを確認してから、もう一度お試しください。",
)
COOLING_DOWN = message(
    "jail-cooling-down",
    "Your last templates were stopped; you can try again in {seconds} s",
    "直前のテンプレートが続けて停止されたため、次の処理まで{seconds}秒お待ちください",
    fix_en="Meanwhile, remove the loop or repetition that takes too long.",
    fix_ja="その間に、時間のかかるループや繰り返しを取り除いてください。",
)
SUPERSEDED = message(
    "jail-superseded",
    "Replaced by a newer preview",
    "より新しいプレビューに置き換えられました",
)


def exceeded(
    limit: LimitName,
    limits: Limits,
    *,
    seconds: float | None = None,
    line: int | None = None,
    reason: str = "",
    file: bool = False,
) -> LimitExceeded:
    """The error of a job that met ``limit``; its ``line`` is the template's, where it is known.

    A ``file`` that is read or merged has no loops that could be made smaller.
    """
    params: dict[str, str | int] = {"limit": limit}
    if file:
        return LimitExceeded(_FILE, line=line, **params)
    if limit in ("time", "cpu"):
        default = limits.time if limit == "time" else limits.cpu
        params["seconds"] = f"{default if seconds is None else seconds:g}"
    elif limit in ("memory", "input"):
        params["megabytes"] = (limits.memory if limit == "memory" else limits.input) // MEBIBYTE
    elif limit == "output":
        params["characters"] = f"{limits.output:,}"
    elif limit == "crash":
        params["reason"] = reason
    return LimitExceeded(_CODES[limit], line=line, **params)
