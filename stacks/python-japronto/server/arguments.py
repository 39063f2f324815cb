"""Numbers in a query or a path."""

from .errors import BadRequest


def read_integer(text: str, least: int, most: int) -> int:
    # int() alone would also read "1_000", " 5" and digits of other scripts.
    if text.isdecimal() and text.isascii() and len(text) <= len(str(most)):
        number = int(text)
        if least <= number <= most:
            return number
    raise BadRequest(f"a number from {least} to {most}, please")
