"""What is never changed once it is made, because many share it."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from pynested.backends.errors import ReadOnlyError


class Immutable:
    """Copying returns the same object, since it cannot change; unpickling checks its fields as the constructor does.

    Who makes it puts the attributes into its ``__dict__``.
    """

    _fields: tuple[str, ...]

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise ReadOnlyError(
            f"{type(self).__name__}.{name}: a structure cannot be changed, as other arrays may share it; make another "
            "one."
        )

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field) for field in self._fields)
