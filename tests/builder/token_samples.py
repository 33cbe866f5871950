"""Passages written for this project, against which the token estimate is measured."""

ENGLISH = (
    """Read the task below with care before you write anything. Your team has three rounds, and what you hand
in at the end of each round is scored by a separate evaluator. A higher score in a later round replaces the
earlier one, so it pays to mend what was weak rather than to start again from nothing.
""",
    """# Goal of this round
Use the feedback above to improve your submission. Focus on the points that were criticised:

- State the source of every figure you quote.
- Explain why the second method was rejected.
- Keep the summary under two hundred words.
""",
    """The harbour was quiet when the last ferry came in. Two people stepped off with bicycles, nodded to the
man who coiled the ropes, and rode up the hill without a word. Behind them the lights of the ship went out one
after another until only the lamp above the gangway was left.
""",
    """## Round 2
Score: 81.25/100
Score details:
{
  "accuracy": 85.0,
  "completeness": 77.5,
  "clarity": 81.25
}
Your submission: The regression was fitted on the monthly totals, with the holidays taken out.
""",
    """Please compare the two vendors on price, delivery time and support. Vendor A asks for $1,250 a month
and answers within four hours; vendor B asks for $980, answers within two working days, and charges $75 for
each additional seat. Say which one you would choose for a team of twelve, and what would change your mind.
""",
    """If the store cannot be reached, the function waits a moment and tries again, at most five times. After
that it raises an error which names the file, so that the person who reads the log knows where to look.
Nothing is written unless the check of the previous step succeeded.
""",
)

JAPANESE = (
    """# ユーザから指定されたタスク
都市ごとの気温の記録を読み、過去十年でどの季節に変化が大きかったかを説明してください。図は不要ですが、
数値の根拠を必ず示してください。
""",
    """# 今回の目標
前回の評価で指摘された点を直してください。とくに次の三つに注意しましょう。

- 引用した数字の出典を書く
- 二つ目の方法を採らなかった理由を説明する
- 要約は二百字以内にまとめる
""",
    """最終の渡し船が着くころ、港はもう静かだった。自転車を押した二人が降りてきて、綱を巻いている男に軽く頭を下げ、
何も言わずに坂を上っていった。船の明かりは一つずつ消え、最後にはタラップの上の灯だけが残った。
""",
    """## ラウンド 2
スコア: 81.25/100
スコア詳細:
{
  "正確さ": 85.0,
  "網羅性": 77.5
}
あなたの提出内容: 月ごとの合計に回帰を当てはめ、祝日の影響を取り除きました。
""",
    """二つの会社を、料金・納期・サポートの三点で比べてください。A社は月額12万5千円で、問い合わせには四時間以内に
答えます。B社は月額9万8千円ですが、返事には二営業日かかり、利用者が一人増えるごとに7,500円が必要です。
十二人のチームにはどちらを勧めますか。どんな条件なら考えを変えるかも書いてください。
""",
    """データベースに接続できないときは、少し待ってからもう一度試します。五回続けて失敗した場合は、ファイル名を含む
エラーを出して終了します。直前の確認に成功していない限り、何も書き込みません。
""",
)
