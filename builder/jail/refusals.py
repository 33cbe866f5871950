"""What is said to a person whose job was not taken, and what to do then."""

from builder.messages import message

CLOSED = message(
    "jail-closed",
    "The workers that render templates are stopped",
    "テンプレートを処理するワーカーは停止しています",
    fix_en="Try again once the workers have been started again.",
    fix_ja="ワーカーの再起動後にもう一度お試しください。",
)
BUSY = message(
    "jail-busy",
    "All workers are busy; none came free within {seconds} s",
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
    "ワーカーを起動できません: {reason}",
    fix_en="Make sure that the machine has memory and processes left, then try again.",
    fix_ja="メモリとプロセス数に余裕があることを確認してから、もう一度お試しください。",
)
COOLING_DOWN = message(
    "jail-cooling-down",
    "Your last templates had to be stopped; the next one is taken in {seconds} s",
    "直前のテンプレートが続けて停止されたため、次の処理まで{seconds}秒お待ちください",
    fix_en="Meanwhile take out the loop or repetition that takes too long.",
    fix_ja="その間に、時間のかかるループや繰り返しを取り除いてください。",
)
SUPERSEDED = message(
    "jail-superseded",
    "A newer preview took the place of this one",
    "より新しいプレビューに置き換えられました",
)
