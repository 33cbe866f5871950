"""The texts of simulated teams: submissions, comments and judgments that read like real work.
Used by ``play``."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from builder.messages import Language

TASKS: Mapping[Language, tuple[str, ...]] = {
    "ja": (
        "生成AIを使った問い合わせ対応を来期から始めたい。中堅製造業に合う進め方を3案、費用と効果つきで提案してください。",
        "社内規程の検索システムの要件を整理し、評価方法と合格基準を決めてください。",
        "直近3年の公開情報をもとに、国内の物流倉庫の自動化動向をまとめ、投資判断に使える比較表を作ってください。",
        "新入社員向けの情報セキュリティ研修（90分）の構成案を、演習つきで作成してください。",
        "コールセンターの応対ログから解約の兆候を早く見つける方法を設計してください。",
    ),
    "en": (
        "Compare three ways to cut the nightly batch from six hours to one, with risks and a rollback plan.",
        "Write a migration guide from REST polling to webhooks for our partners.",
        "Summarise this year's changes in EU battery regulation and what a parts supplier must do by March.",
        "Design an experiment that tells whether the new onboarding e-mail brings customers back.",
        "Draft an incident review for last week's two-hour outage, for readers outside engineering.",
    ),
}


@dataclass(frozen=True)
class _Material:
    title: str
    summary: str
    body: tuple[str, ...]
    improved: tuple[str, ...]
    table_head: str
    rows: tuple[str, ...]
    closing: tuple[str, ...]
    delegation: tuple[str, ...]
    findings: tuple[str, ...]
    leader: str
    go_on: tuple[str, ...]
    stop: tuple[str, ...]
    praise: tuple[str, ...]
    middling: tuple[str, ...]
    blame: tuple[str, ...]


_JA = _Material(
    title="# 提出 第{round}版",
    summary="## 要旨",
    body=(
        "現状の作業を{n}件聞き取った結果、時間の{p}%が同じ種類の確認に使われていました。ここを最初の対象にします。",
        "費用は初年度{n}百万円、2年目以降は保守のみで約{q}百万円と見積もりました。前提は付録に示します。",
        "対象を1部門に絞り、{n}週間で効果を測ってから広げます。判断基準は処理時間と誤回答率の2つです。",
        "競合{q}社の公開事例を比べると、成果が出ているのは担当者が回答を直せる仕組みを持つところでした。",
        "リスクは、データの品質、権限の管理、評価の再現性の3点です。それぞれに担当と期限を置きました。",
        "数値は{n}件の一次情報に基づきます。出典のない推計は使っていません。",
        "利用者{n}名の試行では、1件あたりの所要時間が平均{q}分短くなりました（標準偏差は付録）。",
    ),
    improved=(
        "前回の指摘を受け、費用の内訳と前提を表に分けました。",
        "前回不足していた失敗例を{q}件加え、何を変えれば防げたかを書きました。",
        "結論を先頭に移し、判断に要る数字だけを残しました。",
        "比較の軸をそろえ、同じ単位で並べ直しました。",
    ),
    table_head="| 案 | 効果 | 費用（百万円） |\n|---|---:|---:|",
    rows=(
        "| 既存の窓口に組み込む | {p}% | {n} |",
        "| 専任チームを置く | {p}% | {n} |",
        "| 外部に委託する | {p}% | {n} |",
    ),
    closing=(
        "次の一歩: 来週中に対象部門を決め、計測の準備を始めます。",
        "承認が要るのは費用と対象部門の2点です。",
        "以上を踏まえ、第1案を推奨します。",
    ),
    delegation=(
        "一次情報を3件集め、要点を箇条書きにしてください。",
        "費用の前提を洗い出し、幅で示してください。",
        "反対意見を2つ挙げ、根拠を確かめてください。",
    ),
    findings=(
        "- 公的統計（2025年版）: 対象業務は前年比{p}%増\n- 事例集: 成功{n}件、中止{q}件"
        "\n- 用語の定義が資料間で異なるため注意",
        "- 初期費用は{n}〜{p}百万円\n- 運用費は利用者数に比例\n- 解約条項に1年の縛りあり",
        "- 反対1: 現場の負担が先に増える\n- 反対2: 効果の測定に{n}週間かかる",
    ),
    leader="あなたは調査チームのリーダーです。必要に応じてメンバーに任せ、根拠のある提案にまとめてください。",
    go_on=(
        "スコアは上がっており、根拠の補強にまだ余地があるため、続けるのがよいと考えます。",
        "指摘のうち費用面が残っています。もう1ラウンドで埋められる見込みです。",
    ),
    stop=(
        "前回からの伸びが小さく、主な論点は満たされているため、ここで終えるのが妥当です。",
        "順位とスコアから見て、追加のラウンドで大きな改善は見込めません。",
    ),
    praise=(
        "構成が明快で、結論と根拠の対応が取れています。",
        "要求された3案がそろい、比較の軸も一貫しています。",
    ),
    middling=(
        "主な論点は押さえていますが、費用の前提が読み取りにくいです。",
        "根拠はありますが、出典の新しさにばらつきがあります。",
    ),
    blame=(
        "結論が埋もれており、何を決めればよいか分かりません。",
        "数値の出典がなく、比較の単位もそろっていません。",
    ),
)

_EN = _Material(
    title="# Submission, version {round}",
    summary="## Summary",
    body=(
        "We timed {n} runs: {p}% of the time goes into one step, so that step comes first.",
        "The change costs about {n} engineer days; {q} of them are for tests we do not have today.",
        "Rolling back is one switch. We tried it {q} times, the longest took {n} seconds.",
        "Of {n} comparable reports, {q} publish their raw data; only those are used for the figures below.",
        "Two sources disagree on the definition of latency. We use the stricter one and say so in the table.",
        "The sample is small (n={n}), so the interval is wide; a second week would halve it.",
        "Readers outside engineering need three facts: what failed, who noticed, and what is different now.",
    ),
    improved=(
        "As asked, the cost assumptions now stand in their own table.",
        "The last review missed failure modes; {q} are listed with what would have caught them.",
        "The recommendation moved to the top, and figures that change no decision are gone.",
        "All options are now measured in the same unit.",
    ),
    table_head="| Option | Gain | Cost (days) |\n|---|---:|---:|",
    rows=(
        "| Partition by day | {p}% | {n} |",
        "| Stream instead of batch | {p}% | {n} |",
        "| Bigger machine | {p}% | {n} |",
    ),
    closing=(
        "Next step: agree on the measure before anything is built.",
        "What we need from you: the date, and a name for the on-call rota.",
        "We recommend the first option.",
    ),
    delegation=(
        "Collect three primary sources and list their key points.",
        "Work out what the estimate depends on and give a range.",
        "Find the two strongest objections and check them.",
    ),
    findings=(
        "- Vendor benchmark: {p}% faster, raw data available"
        "\n- Two user reports, {n} and {q} nodes\n- Release notes confirm the default",
        "- Between {n} and {p} days, depending on the data model\n- Licence cost unchanged",
        "- Objection 1: the gain vanishes below {n} GB\n- Objection 2: nobody owns the old job",
    ),
    leader="You lead a research team. Delegate where it helps and bring the findings into one proposal.",
    go_on=(
        "The score is rising and the evidence can still be strengthened, so another round is worth it.",
        "One of the reviewer's points is still open; a further round should close it.",
    ),
    stop=(
        "The last round gained little and the main points are covered; stopping here is reasonable.",
        "Given the rank and the trend, another round is unlikely to change the outcome.",
    ),
    praise=(
        "Well structured; every claim has its evidence beside it.",
        "All options asked for are there and compared fairly.",
    ),
    middling=(
        "Covers most of the question, but the cost assumptions are hard to find.",
        "Sound, though the sources differ in age.",
    ),
    blame=(
        "The recommendation is buried; it is unclear what to decide.",
        "Figures lack sources and use different units.",
    ),
)

_MATERIAL: Mapping[Language, _Material] = {"ja": _JA, "en": _EN}


def language_of(task: str) -> Language:
    """Teams answer in the language they were asked in."""
    return "ja" if any("\u3040" <= letter <= "\u9fff" for letter in task) else "en"


class Voice:
    """Writes a team's texts in one language, always the same for the same random state."""

    def __init__(self, language: Language, rng: random.Random) -> None:
        self._words = _MATERIAL[language]
        self._rng = rng

    @property
    def leader_instructions(self) -> str:
        return self._words.leader

    def submission(self, round_number: int) -> str:
        words, rng = self._words, self._rng
        body = rng.sample(words.body, k=min(len(words.body), 2 + round_number))
        if round_number > 1:
            body.insert(0, rng.choice(words.improved))
        parts = [words.title.format(round=round_number), words.summary, "\n".join(map(self._filled, body))]
        if rng.random() < 0.7:
            parts.append("\n".join([words.table_head, *map(self._filled, words.rows)]))
        parts.append(rng.choice(words.closing))
        return "\n\n".join(parts)

    def delegation(self) -> str:
        return self._rng.choice(self._words.delegation)

    def finding(self) -> str:
        return self._filled(self._rng.choice(self._words.findings))

    def comment(self, score: float) -> str:
        words = self._words
        return self._rng.choice(
            words.praise if score >= 75 else words.middling if score >= 55 else words.blame
        )

    def reasoning(self, should_continue: bool) -> str:
        return self._rng.choice(self._words.go_on if should_continue else self._words.stop)

    def _filled(self, text: str) -> str:
        numbers = {
            "{n}": self._rng.randint(6, 40),
            "{p}": self._rng.randint(8, 64),
            "{q}": self._rng.randint(2, 9),
        }
        for mark, number in numbers.items():
            text = text.replace(mark, str(number))
        return text
