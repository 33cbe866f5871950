"""The messages of the store for what it cannot answer."""

from builder.messages import message

MISSING = message(
    "db-missing",
    "There is no database at {path}.",
    "データベースがありません: {path}",
    fix_en="MixSeek makes it with its first run. If one has run, check the workspace's path.",
    fix_ja="MixSeekが最初の実行で作成します。実行済みであれば、ワークスペースのパスを確認してください。",
)
UNREADABLE = message(
    "db-unreadable",
    "{path} cannot be read: {reason}",
    "{path} を読み込めません: {reason}",
    fix_en="Check that the file may be read by the user who runs this program.",
    fix_ja="このプログラムを実行しているユーザがファイルを読めるか確認してください。",
)
NOT_A_FILE = message(
    "db-not-a-file",
    "{path} is not a regular file.",
    "{path} は通常のファイルではありません。",
)
ELSEWHERE = message(
    "db-elsewhere",
    "{path} is not read: it leads to {target}, which lies outside the folders that may be read.",
    "{path} は読み込みません。読み込みを許可されたフォルダの外（{target}）を指しています。",
    fix_en="Put the database itself into the workspace, or allow the folder that it lies in.",
    fix_ja="データベースそのものをワークスペースに置くか、置かれているフォルダを許可してください。",
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
DAMAGED = message(
    "db-damaged",
    "{path} does not open, although it did not change while it was copied: {reason}",
    "{path} はコピー中に変更されていませんが、開けません: {reason}",
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
    "データベースをコピーしています: {total_mb} MB中 {done_mb} MB",
    fix_en="Nothing is lost; what ran here can be read when the copy is ready.",
    fix_ja="コピーが終わると、ここで実行された内容を表示できます。",
)
MISSING_TABLE = message(
    "db-missing-table",
    "The database has no table `{table}`.",
    "データベースにテーブル `{table}` がありません。",
    fix_en="It was written by another version of MixSeek; what its other tables hold can still be shown.",
    fix_ja="別のバージョンのMixSeekが書いたデータベースです。ほかのテーブルの内容は表示できます。",
)
MISSING_COLUMN = message(
    "db-missing-column",
    "The table `{table}` has no column `{column}`.",
    "テーブル `{table}` に列 `{column}` がありません。",
    fix_en="It was written by another version of MixSeek; what its other columns hold can still be shown.",
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
    "`{team_id}` is a workflow of functions alone: no model was asked in round {round_number}, so there is no"
    " prompt.",
    "`{team_id}` は関数だけのワークフローです。ラウンド{round_number}ではモデルを呼び出していないため、"
    "プロンプトはありません。",
)
TASK_UNKNOWN = message(
    "db-task-unknown",
    "The task of execution `{execution_id}` is not stored: it has not finished.",
    "実行 `{execution_id}` は終了していないため、タスクの文が保存されていません。",
    fix_en="Wait until it is over, or name the template it ran with, so that the task can be read"
    " out of a stored prompt.",
    fix_ja="終了を待つか、使われたテンプレートを指定してください。保存されたプロンプトからタスクを読み取れます。",
)
FOLDER_UNSAFE = message(
    "db-folder-unsafe",
    "The folder for copies, {path}, is not private: {reason}",
    "コピー用のフォルダ {path} が非公開になっていません: {reason}",
    fix_en="Remove it, or name another folder; it must belong to you alone (mode 0700).",
    fix_ja="フォルダを削除するか、別のフォルダを指定してください。所有者だけが使えるもの（モード0700）に限ります。",
)
FOLDER_UNUSABLE = message(
    "db-folder-unusable",
    "The folder for copies, {path}, cannot be used: {reason}",
    "コピー用のフォルダ {path} を使えません: {reason}",
)
FOREIGN = message(
    "db-foreign-columns",
    "{path} keeps other kinds of values than MixSeek does: {reason}",
    "{path} の値の型がMixSeekのものと異なります: {reason}",
)
