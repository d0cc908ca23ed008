"""What tests hold of a message: the words that matter to who reads it, and not its sentence."""


class says:
    """Equal to a text that has these words in this order, such as the item, the field and the remedy."""

    def __init__(self, *words: str):
        self.words = words

    def __eq__(self, text: object) -> bool:
        place = 0
        for word in self.words:
            place = text.find(word, place) if isinstance(text, str) else -1
            if place < 0:
                return False
            place += len(word)
        return True

    __hash__ = None

    def __repr__(self) -> str:
        return " … ".join(self.words)
