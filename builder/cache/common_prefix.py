"""What two texts share from their start; apart, since the jail's workers load only what they need."""


def common_prefix(one: str, other: str) -> int:
    """How many characters two texts have in common from the start; halving, since comparing is fast."""
    same, differs = 0, min(len(one), len(other)) + 1
    while differs - same > 1:
        middle = (same + differs) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            differs = middle
    return same
