"""Error inputs: calls that are refused, the class of each error and a part of its text.

Each module has three tables of rows. A call in `ALWAYS` or `FILLED` gets a function ``nest`` that makes a nested array
of components, and takes the dimension that is ragged. `ALWAYS` is refused for no components too; what is wrong in
`FILLED` lies in the components. A call in `DENSE` gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pynested

ErrorInput = tuple[Callable[..., Any], type[Exception], str]
pn: Any = pynested  # by its types, many of these calls are wrong already
