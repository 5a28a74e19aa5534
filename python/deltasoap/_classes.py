"""The classes of a contract's types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Classes:
    """Makes the class of each type once.

    The engine has a weak reference to this object: who imports the contract keeps it.

    :param make: called with the reference of a type, its name, and the names of its values
    """

    def __init__(self, make: Callable[[Any, str, list[str]], Any]) -> None:
        self.make = make
        #: What makes instances, by the engine's numbers of types.
        self.instances: dict[int, Callable[[dict[str, Any]], Any]] = {}
