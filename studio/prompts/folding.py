"""Text as a search sees it: one spelling for what people take for the same characters."""

import unicodedata


def fold(text: str) -> str:
    """Without case, and without the difference of full and half width: ``Ｒａｎｋ`` and ``ﾗﾝｸ`` fold too.

    Line by line or all at once comes out the same: nothing composes across a newline.
    """
    # Folding the case can undo the normal form, as with «ΐ».
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
