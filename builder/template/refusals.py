"""The sentences of the gate: what it refuses, and what to write instead."""

from collections.abc import Mapping

from builder.messages import message

_NO_METHOD = "The method `{name}()` is not allowed.", "メソッド `{name}()` は使えません。"
_NO_FILTER = "The filter `{name}` is not allowed.", "フィルター `{name}` は使えません。"
_NO_PARTS = (
    "`{name}` is a plain value and has no part `{key}`.",
    "`{name}` は単純な値なので、`{key}` という部分はありません。",
)

TAG = message(
    "gate-tag",
    "The tag `{tag}` is not allowed in a prompt template.",
    "タグ `{tag}` はプロンプトテンプレートでは使えません。",
    fix_en="A template cannot include others: write the text here; for repeated text use {% macro %}.",
    fix_ja="テンプレートは単独で完結します。本文をここに書いてください。繰り返しは {% macro %} でできます。",
)
POWER = message(
    "gate-power",
    "The operator `**` is not allowed.",
    "演算子 `**` は使えません。",
    fix_en="Multiply with `*`, or write the number.",
    fix_ja="`*` で掛けるか、数値を直接書いてください。",
)
NUMBER = message(
    "gate-number",
    "A number in a template may not be larger than {most}.",
    "テンプレートに書ける数値は{most}までです。",
    fix_en="Write a smaller number, or put it in quotes if it is only text.",
    fix_ja="小さい数値にするか、文字として表示するだけなら引用符で囲んでください。",
)
ESCAPED_CHARACTER = message(
    "gate-character",
    "A string contains the character {character}, which is not allowed in a prompt.",
    "文字列に、プロンプトに使えない文字 {character} が含まれています。",
    fix_en="Write the character itself instead of a \\u escape.",
    fix_ja="\\u エスケープではなく、文字をそのまま書いてください。",
)
UNDERSCORE = message(
    "gate-underscore",
    "`{name}` begins with an underscore; such names are not allowed.",
    "`{name}` はアンダースコアで始まっています。このような名前は使えません。",
    fix_en="Choose a name that begins with a letter.",
    fix_ja="英字などの文字で始まる名前にしてください。",
)
NAME_FORM = message(
    "gate-name-form",
    "The name `{name}` is written with characters that Python reads as `{plain}`.",
    "名前 `{name}` は、Pythonでは `{plain}` と読まれる文字で書かれています。",
    fix_en="Write `{plain}`.",
    fix_ja="`{plain}` と書いてください。",
)
ELSEWHERE = message(
    "gate-name",
    "`{name}` is not available in a prompt template.",
    "`{name}` はプロンプトテンプレートでは使えません。",
    fix_en="Use the variables of this template; lists are written [1, 2] and dictionaries {'a': 1}.",
    fix_ja="このテンプレートの変数を使ってください。リストは [1, 2]、辞書は {'a': 1} と書きます。",
)
READ_ONLY = message(
    "gate-read-only",
    "`{name}` is a variable of this template and cannot be given another value.",
    "`{name}` はこのテンプレートの変数なので、別の値を入れることはできません。",
    fix_en="Choose another name, such as `my_{name}`.",
    fix_ja="`my_{name}` など、別の名前にしてください。",
)
RESERVED = message(
    "gate-reserved",
    "`{name}` is reserved and cannot be used as a name.",
    "`{name}` は予約語なので、名前として使えません。",
    fix_en="Choose another name.",
    fix_ja="別の名前にしてください。",
)
TWO_MEANINGS = message(
    "gate-two-meanings",
    "`{name}` is used for two different things, such as a macro and a value.",
    "`{name}` がマクロと値など、別々のものに使われています。",
    fix_en="Give one of them another name.",
    fix_ja="どちらかを別の名前にしてください。",
)
FUNCTION_UNCALLED = message(
    "gate-function-uncalled",
    "`{name}` can only be called: `{name}(…)`.",
    "`{name}` は `{name}(…)` の形でしか使えません。",
    fix_en="Write for instance `{% for i in range(3) %}` or `{% set ns = namespace(n=0) %}`.",
    fix_ja="`{% for i in range(3) %}` や `{% set ns = namespace(n=0) %}` のように書いてください。",
)
MACRO_UNCALLED = message(
    "gate-macro-uncalled",
    "The macro `{name}` can only be called: `{name}(…)`.",
    "マクロ `{name}` は `{name}(…)` の形でしか使えません。",
    fix_en="Write `{{ {name}() }}`.",
    fix_ja="`{{ {name}() }}` と書いてください。",
)
LOOP_BARE = message(
    "gate-loop-bare",
    "`loop` can only be used with one of its values, such as `loop.index`.",
    "`loop` は `loop.index` のように、その値を指定して使います。",
    fix_en="Write `loop.index`, `loop.first`, `loop.last` or `loop.length`.",
    fix_ja="`loop.index`、`loop.first`、`loop.last`、`loop.length` などと書いてください。",
)
LOOP_ATTRIBUTE = message(
    "gate-loop-attribute",
    "`loop` has no value `{name}`.",
    "`loop` に `{name}` という値はありません。",
    fix_en="It has: {known}.",
    fix_ja="使えるもの：{known}",
)
NAMESPACE_BARE = message(
    "gate-namespace-bare",
    "`{name}` is a namespace; only its values can be used, such as `{name}.total`.",
    "`{name}` はnamespaceなので、`{name}.total` のように中の値だけを使えます。",
    fix_en="Write `{name}.` and the name of the value.",
    fix_ja="`{name}.` に続けて値の名前を書いてください。",
)
NAMESPACE = message(
    "gate-namespace",
    "`namespace(…)` can only be given to a name, with named values.",
    "`namespace(…)` は、名前付きの値とともに変数に入れる形でしか使えません。",
    fix_en="Write `{% set ns = namespace(total=0) %}`.",
    fix_ja="`{% set ns = namespace(total=0) %}` のように書いてください。",
)
NOT_A_NAMESPACE = message(
    "gate-not-a-namespace",
    "`{name}` is not a namespace, so its parts cannot be set.",
    "`{name}` はnamespaceではないので、その一部に値を入れることはできません。",
    fix_en="First write `{% set {name} = namespace() %}`.",
    fix_ja="先に `{% set {name} = namespace() %}` と書いてください。",
)
METHOD = message(
    "gate-method",
    *_NO_METHOD,
    fix_en="Allowed: {known}.",
    fix_ja="使えるもの：{known}",
)
FORMAT = message(
    "gate-format",
    "`{name}` is not allowed, because it can access Python internals.",
    "`{name}` は、Pythonの内部にアクセスできるため使えません。",
    fix_en="Join texts with `~`, for instance `'Round ' ~ round_number`; round numbers with `|round(2)`.",
    fix_ja="`'Round ' ~ round_number` のように `~` でつないでください。数値の丸めは `|round(2)` が使えます。",
)
_METHOD_ITEMS = message(
    "gate-method-items",
    *_NO_METHOD,
    fix_en="Write `{% for key, value in table|items %}`, or `{% for key in table %}` for the keys alone.",
    fix_ja="`{% for key, value in table|items %}`、キーだけなら `{% for key in table %}` と書いてください。",
)
_METHOD_GET = message(
    "gate-method-get",
    *_NO_METHOD,
    fix_en="Write `table['key']|default('')`.",
    fix_ja="`table['key']|default('')` と書いてください。",
)
_METHOD_CHANGES = message(
    "gate-method-changes",
    "The method `{name}()` changes its list or dictionary, and is not allowed.",
    "メソッド `{name}()` はリストや辞書を変更するものなので、使えません。",
    fix_en="Make a new list: `{% set names = names + ['new'] %}`; inside a loop, keep it in a `namespace`.",
    fix_ja="`{% set names = names + ['new'] %}` と新しく作り、ループの中では `namespace` に入れてください。",
)
_METHOD_STRIP = message(
    "gate-method-strip",
    *_NO_METHOD,
    fix_en="Use `strip()`, or `|trim`.",
    fix_ja="`strip()` か `|trim` を使ってください。",
)
METHODS: Mapping[str, str] = {
    **dict.fromkeys(("lstrip", "rstrip"), _METHOD_STRIP),
    **dict.fromkeys(("items", "keys", "values"), _METHOD_ITEMS),
    "get": _METHOD_GET,
    **dict.fromkeys(
        ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "sort", "update"),
        _METHOD_CHANGES,
    ),
    **dict.fromkeys(("format", "format_map"), FORMAT),
}
METHOD_UNCALLED = message(
    "gate-method-uncalled",
    "`{name}` is a method and must be called: `{name}()`.",
    "`{name}` はメソッドなので、`{name}()` のように呼び出してください。",
    fix_en="Add the parentheses. As a key of a dictionary, choose another word.",
    fix_ja="括弧を付けてください。辞書のキーとしては別の語を使ってください。",
)
KEY = message(
    "gate-attribute",
    "`{name}` is an internal attribute of Python values and is not allowed.",
    "`{name}` はPythonの値が内部に持つ名前なので、使えません。",
    fix_en="As a key of a dictionary, choose another word.",
    fix_ja="辞書のキーとして使う場合は、別の語にしてください。",
)
NO_PARTS = message(
    "gate-no-parts",
    *_NO_PARTS,
    fix_en="Write `{{ {name} }}`.",
    fix_ja="`{{ {name} }}` と書いてください。",
)
NO_PARTS_A_FILTER = message(
    "gate-no-parts-a-filter",
    *_NO_PARTS,
    fix_en="Write `{{ {name}|{key} }}`.",
    fix_ja="`{{ {name}|{key} }}` と書いてください。",
)
SUBSCRIPT = message(
    "gate-subscript",
    "In square brackets only a number, a slice or a fixed text is allowed.",
    "角括弧の中に書けるのは、数値・スライス・決まった文字列だけです。",
    fix_en="For a number that is computed, write `[…|int]`; to go through a dictionary,"
    " `{% for key, value in table|items %}`; to choose from it, {% if %}.",
    fix_ja="計算した数値なら `[…|int]`、辞書を順に見るなら `{% for key, value in table|items %}`、"
    "選ぶなら {% if %} を使ってください。",
)
CALL = message(
    "gate-call",
    "Only macros, `range`, `namespace` and methods of texts can be called.",
    "呼び出せるのは、マクロ・`range`・`namespace`・文字列のメソッドだけです。",
    fix_en="Write the value without `(…)`, or define a {% macro %}.",
    fix_ja="`(…)` を外すか、{% macro %} を定義してください。",
)
NOT_CALLABLE = message(
    "gate-not-callable",
    "`{name}` is a value and cannot be called.",
    "`{name}` は値なので、呼び出せません。",
    fix_en="Write `{name}` without parentheses.",
    fix_ja="括弧を付けずに `{name}` と書いてください。",
)
STAR_ARGUMENTS = message(
    "gate-star-arguments",
    "`*` and `**` before an argument are not allowed.",
    "引数の前に `*` や `**` を付けることはできません。",
    fix_en="Write the arguments one by one.",
    fix_ja="引数を1つずつ書いてください。",
)
TWICE = message(
    "gate-twice",
    "`{name}` is given twice.",
    "`{name}` が2回指定されています。",
    fix_en="Remove one of the two.",
    fix_ja="どちらか一方を消してください。",
)
RANGE = message(
    "gate-range",
    "`range` takes one to three whole numbers and gives at most {most} of them.",
    "`range` には整数を1〜3個渡します。作れる数は{most}個までです。",
    fix_en="Write a shorter range.",
    fix_ja="範囲を短くしてください。",
)
FILTER = message(
    "gate-filter",
    *_NO_FILTER,
    fix_en="Allowed: {known}.",
    fix_ja="使えるもの：{known}",
)
FILTER_MISSPELT = message(
    "gate-filter-misspelt",
    "There is no filter `{name}`. Did you mean `{meant}`?",
    "`{name}` というフィルターはありません。`{meant}` のことですか？",
    fix_en="Write `{meant}`.",
    fix_ja="`{meant}` と書いてください。",
)
_FILTER_LOOP = message(
    "gate-filter-loop",
    "The filter `{name}` is not allowed, because it can access Python internals.",
    "フィルター `{name}` は、Pythonの内部にアクセスできるため使えません。",
    fix_en="Use a loop: `{% for item in items if … %}{{ item|upper }}{% endfor %}`.",
    fix_ja="`{% for item in items if … %}{{ item|upper }}{% endfor %}` のようにループで書いてください。",
)
_FILTER_PPRINT = message(
    "gate-filter-pprint",
    *_NO_FILTER,
    fix_en="Use `|tojson(indent=2)`.",
    fix_ja="`|tojson(indent=2)` を使ってください。",
)
_FILTER_RANDOM = message(
    "gate-filter-random",
    "The filter `{name}` is not allowed: a prompt must come out the same each time.",
    "フィルター `{name}` は使えません。プロンプトは毎回同じ結果になる必要があります。",
    fix_en="Use `|first`, or pick by round: `items[round_number % 3]`.",
    fix_ja="`|first` を使うか、`items[round_number % 3]` のようにラウンドで選んでください。",
)
_FILTER_HTML = message(
    "gate-filter-html",
    "The filter `{name}` makes HTML and is not allowed.",
    "フィルター `{name}` はHTMLを作るものなので使えません。",
    fix_en="Write the text as it should be read; a prompt is not a web page.",
    fix_ja="プロンプトはWebページではありません。読ませたい文章をそのまま書いてください。",
)
FILTERS: Mapping[str, str] = {
    **dict.fromkeys(("attr", "map", "select", "selectattr", "reject", "rejectattr", "groupby"), _FILTER_LOOP),
    "format": FORMAT,
    "pprint": _FILTER_PPRINT,
    "random": _FILTER_RANDOM,
    "urlize": _FILTER_HTML,
    "xmlattr": _FILTER_HTML,
}
FILTER_ARGUMENTS = message(
    "gate-filter-arguments",
    "The filter `{name}` is given arguments that are not allowed.",
    "フィルター `{name}` に、使えない引数が渡されています。",
    fix_en="It takes: {known}.",
    fix_ja="使える引数：{known}",
)
LAZY = message(
    "gate-filter-lazy",
    "The filter `{name}` does not return a text or list by itself.",
    "フィルター `{name}` の結果は、そのままでは文字列やリストになりません。",
    fix_en="Write `|{name}|list`, `|{name}|join` or `{% for … in …|{name} %}`.",
    fix_ja="`|{name}|list`、`|{name}|join`、`{% for … in …|{name} %}` のいずれかで書いてください。",
)
TEST = message(
    "gate-test",
    "The test `is {name}` is not allowed.",
    "判定 `is {name}` は使えません。",
    fix_en="Allowed: {known}.",
    fix_ja="使えるもの：{known}",
)
RECURSIVE_LOOP = message(
    "gate-recursive-loop",
    "A loop may not be `recursive`.",
    "ループに `recursive` は使えません。",
    fix_en="Write the levels as separate loops.",
    fix_ja="段ごとに別のループとして書いてください。",
)
NESTED_LOOPS = message(
    "gate-nested-loops",
    "Loops may be nested {most} deep.",
    "ループの入れ子は{most}段までです。",
    fix_en="Move the inner loop out, or write its text once.",
    fix_ja="内側のループを外に出すか、直接書いてください。",
)
CALL_BLOCK = message(
    "gate-call-block",
    "{% call %} can only call a macro of this template.",
    "{% call %} で呼べるのは、このテンプレートのマクロだけです。",
    fix_en="Define the macro before: `{% macro box() %}…{{ caller() }}…{% endmacro %}`.",
    fix_ja="先に `{% macro box() %}…{{ caller() }}…{% endmacro %}` のように定義してください。",
)
SET_BLOCK_FILTER = message(
    "gate-set-block-filter",
    "The filter of a {% set %} block can only take fixed values.",
    "{% set %} ブロックのフィルターには、決まった値しか渡せません。",
    fix_en="Write `{% set a %}…{% endset %}{% set b = a|replace(…) %}`.",
    fix_ja="`{% set a %}…{% endset %}{% set b = a|replace(…) %}` のように分けて書いてください。",
)
