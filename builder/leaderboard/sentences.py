"""The messages of the store for what it cannot answer."""

from builder.messages import message

MISSING = message(
    "db-missing",
    "There is no database at {path}.",
    "データベースがありません：{path}",
    fix_en="MixSeek creates it in its first run. After a run, check the workspace's path.",
    fix_ja="MixSeekが最初の実行で作成します。実行済みであれば、ワークスペースのパスを確認してください。",
)
UNREADABLE = message(
    "db-unreadable",
    "{path} cannot be read: {reason}",
    "{path} を読み込めません：{reason}",
    fix_en="Check that the file may be read by the user who runs this program.",
    fix_ja="このプログラムを実行しているユーザーがファイルを読めるか確認してください。",
)
NOT_A_FILE = message(
    "db-not-a-file",
    "{path} is not a regular file.",
    "{path} は通常のファイルではありません。",
)
ELSEWHERE = message(
    "db-elsewhere",
    "{path} is not read: it points to {target}, which is outside the allowed folders.",
    "{path} は読み込みません。読み込みを許可されたフォルダーの外（{target}）を指しています。",
    fix_en="Put the database itself into the workspace, or allow the folder that contains it.",
    fix_ja="データベースそのものをワークスペースに置くか、置かれているフォルダーを許可してください。",
)
NOT_A_DATABASE = message(
    "db-not-duckdb",
    "{path} is not a DuckDB database.",
    "{path} はDuckDBのデータベースではありません。",
    fix_en="MixSeek writes `mixseek.db` itself; move the other file away and run again.",
    fix_ja="`mixseek.db` はMixSeekが作成します。別のファイルを移動してから実行し直してください。",
)
TOO_NEW = message(
    "db-newer-format",
    "{path} was written by a newer DuckDB than the {version} used here.",
    "{path} は、ここで使っているDuckDB {version} より新しいバージョンで書かれています。",
    fix_en="Upgrade the Python package `duckdb`.",
    fix_ja="Pythonパッケージ `duckdb` を更新してください。",
)
TOO_LARGE = message(
    "db-too-large",
    "{path} is not read: it has {size} MB, the limit for copies is {largest} MB.",
    "{path} は読み込みません。{size} MBあり、コピーする上限の{largest} MBを超えています。",
    fix_en="Move old executions out of it, or allow larger databases in the settings.",
    fix_ja="古い実行を別のファイルに移すか、設定で上限を上げてください。",
)
NO_SPACE = message(
    "db-no-space",
    "{path} is not copied: its {size} MB would leave too little free space on the disk for copies.",
    "{path} はコピーしません。{size} MBをコピーすると、コピー先のディスクの空きが少なくなりすぎます。",
    fix_en="Free some space on the disk.",
    fix_ja="ディスクの空き容量を増やしてください。",
)
_OWN = "MixSeek writes plain tables only. If you trust the file, move its rows into one that MixSeek created."
_OWN_JA = (
    "MixSeekは通常のテーブルだけを書きます。信頼できる場合は、MixSeekが作ったファイルに行を移してください。"
)
REFUSED = {
    "view": message(
        "db-refused-view",
        "{path} is not read: `{name}` is a view, and a view can run arbitrary code.",
        "{path} は読み込みません。`{name}` がビューになっており、ビューは任意の処理を実行できます。",
        fix_en=_OWN,
        fix_ja=_OWN_JA,
    ),
    "generated": message(
        "db-refused-generated",
        "{path} is not read: its column `{name}` is generated, which can run arbitrary code.",
        "{path} は読み込みません。列 `{name}` が生成列になっており、任意の処理を実行できます。",
        fix_en=_OWN,
        fix_ja=_OWN_JA,
    ),
    "macro": message(
        "db-refused-macro",
        "{path} is not read: it defines the macro `{name}`, which could replace a function.",
        "{path} は読み込みません。関数を置き換えられるマクロ `{name}` が定義されています。",
        fix_en=_OWN,
        fix_ja=_OWN_JA,
    ),
    "index": message(
        "db-refused-index",
        "{path} is not read: its index `{name}` uses an expression, which can run arbitrary code.",
        "{path} は読み込みません。索引 `{name}` が式に対するもので、任意の処理を実行できます。",
        fix_en=_OWN,
        fix_ja=_OWN_JA,
    ),
}
"""By what a reader process found in a file."""
_AGAIN = "It is read again when it changes, or when someone retries it on the workspace's page."
_AGAIN_JA = "ファイルが変更されるか、ワークスペースのページで再試行すると、もう一度読み込みます。"
QUARANTINED = {
    limit: message(f"db-quarantined-{limit}", english, japanese, fix_en=_AGAIN, fix_ja=_AGAIN_JA)
    for limit, english, japanese in (
        (
            "time",
            "{path} is quarantined: reading it exceeded the time limit.",
            "{path} を隔離しました。読み込みが時間の上限を超えました。",
        ),
        (
            "memory",
            "{path} is quarantined: reading it exceeded the memory limit.",
            "{path} を隔離しました。読み込みがメモリの上限を超えました。",
        ),
        (
            "crash",
            "{path} is quarantined: the process that read it crashed.",
            "{path} を隔離しました。読み込んでいたプロセスが異常終了しました。",
        ),
    )
}
"""By the limit that was met."""
ANSWER_TOO_LARGE = message(
    "db-answer-too-large",
    "The result is too large to show.",
    "結果が大きすぎて表示できません。",
    fix_en="Ask for fewer executions at once.",
    fix_ja="一度に表示する実行の数を減らしてください。",
)
NO_READER = message(
    "db-no-reader",
    "Cannot start a process to read the database: {reason}",
    "データベースを読み込むプロセスを起動できません：{reason}",
    fix_en="Make sure that the machine has memory and processes left, then try again.",
    fix_ja="メモリとプロセス数に余裕があることを確認してから、もう一度お試しください。",
)
READER_BUSY = message(
    "db-reader-busy",
    "This database did not answer in time: other queries take long, or the computer is very busy.",
    "このデータベースは時間内に応答しませんでした。ほかの問い合わせに時間がかかっているか、コンピューターが非常に混雑しています。",
    fix_en="Try again in a moment.",
    fix_ja="しばらくしてからもう一度お試しください。",
)
READERS_STOPPED = message(
    "db-readers-stopped",
    "This program is stopping; databases are no longer read.",
    "プログラムを終了しているため、データベースは読み込めません。",
)
DAMAGED = message(
    "db-damaged",
    "{path} cannot be opened, although it did not change while it was copied: {reason}",
    "{path} はコピー中に変更されていませんが、開けません：{reason}",
    fix_en="Open it once with MixSeek's own DuckDB, which can recover an interrupted write.",
    fix_ja="MixSeek側のDuckDBで一度開くと、中断された書き込みから復旧できることがあります。",
)
TORN = message(
    "db-torn-copy",
    "{path} changed during each of {attempts} attempts to copy it.",
    "{path} は{attempts}回のコピーのたびに変更されていました。",
    fix_en="A run is writing at this moment. Try again in a few seconds.",
    fix_ja="実行中の書き込みと重なっています。数秒後にもう一度お試しください。",
)
BUSY = message(
    "db-copy-under-way",
    "Another process is copying {path} at this moment.",
    "{path} は別のプロセスがコピー中です。",
    fix_en="Try again in a few seconds.",
    fix_ja="数秒後にもう一度お試しください。",
)
UNDER_WAY = message(
    "db-first-copy",
    "The database is being copied: {done_mb} of {total_mb} MB.",
    "データベースをコピーしています：{total_mb} MB中 {done_mb} MB",
    fix_en="Runs are shown when the copy is ready.",
    fix_ja="コピーが終わると、ここで実行された内容を表示できます。",
)
LATE = message(
    "db-copy-late",
    "{path} has changed, and {done_mb} of {total_mb} MB were copied within {seconds} s.",
    "{path} は変更後、{seconds}秒以内にコピーできませんでした（{total_mb} MB中 {done_mb} MB）。",
    fix_en="Wait longer (`patience`), or pass the store that has the database open.",
    fix_ja="`patience` を長くするか、データベースを開いているストアを渡してください。",
)
MISSING_TABLE = message(
    "db-missing-table",
    "The database has no table `{table}`.",
    "データベースにテーブル `{table}` がありません。",
    fix_en="It was written by another version of MixSeek; its other tables can still be shown.",
    fix_ja="別のバージョンのMixSeekが書いたデータベースです。ほかのテーブルの内容は表示できます。",
)
MISSING_COLUMN = message(
    "db-missing-column",
    "The table `{table}` has no column `{column}`.",
    "テーブル `{table}` に列 `{column}` がありません。",
    fix_en="It was written by another version of MixSeek; its other columns can still be shown.",
    fix_ja="別のバージョンのMixSeekが書いたデータベースです。ほかの列の内容は表示できます。",
)
UNKNOWN_EXECUTION = message(
    "db-unknown-execution",
    "There is no execution `{execution_id}` in this database.",
    "このデータベースに実行 `{execution_id}` はありません。",
)
UNKNOWN_TEAM = message(
    "db-unknown-team",
    "The team `{team_id}` does not take part in execution `{execution_id}`.",
    "チーム `{team_id}` は実行 `{execution_id}` に参加していません。",
)
UNKNOWN_ROUND = message(
    "db-unknown-round",
    "Team `{team_id}` has no round {round_number} in execution `{execution_id}`.",
    "実行 `{execution_id}` のチーム `{team_id}` にラウンド{round_number}はありません。",
)
PROMPT_NOT_STORED = message(
    "db-prompt-not-stored",
    "The prompt of round {round_number} of team `{team_id}` is not stored.",
    "チーム `{team_id}` のラウンド{round_number}に送られたプロンプトは保存されていません。",
)
NO_AGENTS = message(
    "db-no-agents",
    "`{team_id}` is a workflow of functions only: no model was called in round {round_number}, so there is no"
    " prompt.",
    "`{team_id}` は関数だけのワークフローです。ラウンド{round_number}ではモデルを呼び出していないため、"
    "プロンプトはありません。",
)
TASK_UNKNOWN = message(
    "db-task-unknown",
    "The task of execution `{execution_id}` is not stored: it has not finished.",
    "実行 `{execution_id}` は終了していないため、タスクの文が保存されていません。",
    fix_en="Wait until it has finished, or give the template it ran with: the task can then be read"
    " from a stored prompt.",
    fix_ja="終了を待つか、使われたテンプレートを指定してください。保存されたプロンプトからタスクを読み取れます。",
)
FOLDER_UNSAFE = message(
    "db-folder-unsafe",
    "The folder for copies, {path}, is not private: {reason}",
    "コピー用のフォルダー {path} が非公開になっていません：{reason}",
    fix_en="Remove it, or choose another folder; only you may have access to it (mode 0700).",
    fix_ja="フォルダーを削除するか、別のフォルダーを指定してください。所有者だけが使えるもの（モード0700）に限ります。",
)
FOLDER_UNUSABLE = message(
    "db-folder-unusable",
    "The folder for copies, {path}, cannot be used: {reason}",
    "コピー用のフォルダー {path} を使えません：{reason}",
)
FOREIGN = message(
    "db-foreign-columns",
    "{path} has other column types than MixSeek's: {reason}",
    "{path} の値の型がMixSeekのものと異なります：{reason}",
)
