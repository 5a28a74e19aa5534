"""The engine of the package: contracts, messages and calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, final

from deltasoap._classes import Classes

__all__ = [
    "BatchDecoder",
    "ColumnView",
    "Contract",
    "Engine",
    "Http",
    "Listener",
    "Operation",
    "RecordBatches",
    "Reply",
    "Rows",
    "Server",
    "body",
    "command",
    "files",
    "served",
]

_Ref = str | int | None
"""A type by its name ``{namespace}local``, or by its number if it has none."""

_Message = tuple[str, _Ref, list[str]]
"""The name of an element, its type, and the names of its values."""

@final
class Contract:
    """An imported WSDL or schema."""

    @staticmethod
    def load(
        location: str,
        *,
        load: Callable[[str], bytes] | None = None,
        progress: Callable[[str], object] | None = None,
    ) -> Contract: ...
    @staticmethod
    def parse(
        document: bytes,
        location: str = "",
        *,
        load: Callable[[str], bytes] | None = None,
        root: str | None = None,
    ) -> Contract: ...
    def compile(self) -> bytes: ...
    @property
    def services(self) -> list[dict[str, Any]]: ...
    @property
    def definitions(self) -> dict[str, Any]: ...
    @property
    def namespaces(self) -> list[str]: ...
    @property
    def type_names(self) -> list[str]: ...
    @property
    def element_names(self) -> list[str]: ...
    def type(self, reference: _Ref) -> dict[str, Any]: ...
    def element(self, name: str) -> dict[str, Any]: ...
    def attribute(self, name: str) -> dict[str, Any]: ...
    def operation(self, binding: str, name: str) -> Operation: ...
    def set_classes(self, classes: Classes) -> None: ...
    def encode_element(self, name: str, value: object) -> bytes: ...
    def encode_type(self, reference: _Ref, name: str, value: object) -> bytes: ...
    def decode_type(
        self, reference: _Ref, document: bytes, *, tolerance: str = "strict"
    ) -> Any: ...
    def value_names(self, reference: _Ref) -> list[str]: ...

@final
class Operation:
    """An operation of a binding."""

    @property
    def name(self) -> str: ...
    @property
    def full_name(self) -> str: ...
    @property
    def soap_action(self) -> str: ...
    @property
    def soap(self) -> str: ...
    @property
    def request(self) -> _Message | None: ...
    @property
    def response(self) -> _Message | None: ...
    def decode_request(self, document: bytes, *, tolerance: str = "strict") -> Any: ...
    def response_envelope(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes: ...
    @property
    def sample(self) -> Any: ...
    @property
    def sample_envelopes(self) -> list[bytes | None]: ...
    def decode_response(self, document: bytes, *, tolerance: str = "unknown") -> Any: ...
    @property
    def faults(self) -> list[_Message]: ...

@final
class Engine:
    """Writes requests, sends them, reads responses, and remembers messages to compare with."""

    def __new__(
        cls,
        contract: Contract,
        *,
        transport: Callable[..., Any] | None = None,
        tolerance: str = "unknown",
        timeout: float | None = None,
        differential: bool = True,
        columns: bool = False,
    ) -> Engine: ...
    def call(
        self,
        operation: Operation,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        headers: Sequence[Any] | None = None,
        address: str | None = None,
        http_headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Reply | None: ...
    def call_async(
        self,
        operation: Operation,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        headers: Sequence[Any] | None = None,
        address: str | None = None,
        http_headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Awaitable[Reply | None]: ...
    @property
    def stats(self) -> dict[str, int]: ...

@final
class Reply:
    """A response."""

    @property
    def body(self) -> Any: ...
    @property
    def headers(self) -> list[tuple[str, Any]]: ...
    @property
    def attachments(self) -> list[tuple[list[tuple[str, str]], bytes]]: ...
    @property
    def status(self) -> int: ...

@final
class Http:
    """A pool of connections."""

    def __new__(cls) -> Http: ...
    def send(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        timeout: float | None = None,
    ) -> tuple[int, list[tuple[str, str]], bytes]: ...
    def send_async(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        timeout: float | None = None,
    ) -> Awaitable[tuple[int, list[tuple[str, str]], bytes]]: ...

@final
class ColumnView(Sequence[Any]):
    """A list of numbers, booleans, moments or strings in the engine's memory."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def to_list(self) -> list[Any]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]: ...
    def microseconds(self) -> ColumnView: ...
    @property
    def is_moments(self) -> bool: ...
    @property
    def mask(self) -> ColumnView: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Rows(Sequence[Any]):
    """The items of a list of flat structs in the engine's memory."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def keys(self) -> list[str]: ...
    def to_list(self) -> list[Any]: ...
    def to_numpy(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class BatchDecoder:
    """Decodes columns of messages of one operation and direction."""

    def __new__(
        cls,
        contract: Contract,
        operation: str,
        direction: str,
        *,
        column: str,
        sender: str | None,
        keep: Sequence[str],
        error_column: str,
        errors: str,
        tolerance: str,
        limit_message: int,
        limit_senders: int,
        limit_kept: int,
    ) -> BatchDecoder: ...
    def schema(self, input: object = None) -> RecordBatches: ...
    def decode(self, data: object) -> RecordBatches: ...

@final
class RecordBatches:
    """Decoded messages: record batches of one schema, nearly always one.

    Whatever reads Arrow reads them: ``pyarrow.table``, ``pyarrow.record_batch``,
    ``polars.DataFrame``, ``nanoarrow.Array``, DuckDB.
    """

    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def flatten(self, *, first_id: int = 0) -> dict[str, RecordBatches]: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __len__(self) -> int: ...

_Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
"""An HTTP response: its status, headers and body."""

def served(contract: Contract) -> list[tuple[Operation, list[str]]]: ...
def files(contract: Contract) -> list[tuple[str, str]] | None: ...

@final
class Server:
    """A service whose operations are functions in Python."""

    def __new__(
        cls,
        contract: Contract,
        handlers: Sequence[tuple[Operation, Callable[[Any, Any], Any], bool, bool, bool]],
        explain: Callable[[Any, str], Any],
        event_loop: Callable[[], Any],
        settings: Mapping[str, Any],
    ) -> Server: ...
    def handle(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[bytes, bytes]],
        body: bytes,
        *,
        peer: tuple[str, int] | None = None,
        principal: str | None = None,
        secure: bool = False,
    ) -> _Answer: ...
    def handle_async(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[bytes, bytes]],
        body: bytes,
        *,
        peer: tuple[str, int] | None = None,
        principal: str | None = None,
        secure: bool = False,
    ) -> Awaitable[_Answer]: ...
    def listen(
        self,
        host: str,
        port: int,
        *,
        workers: int = 0,
        drain: float = 30.0,
        tls: tuple[bytes, bytes] | None = None,
    ) -> Listener: ...
    @property
    def stats(self) -> dict[str, int]: ...
    @property
    def wsdl(self) -> str | None: ...

@final
class Listener:
    """A server that listens."""

    @property
    def address(self) -> tuple[str, int]: ...
    def serve(self) -> None: ...
    def stop(self) -> None: ...

def body(envelope: bytes) -> tuple[str, str | None, bytes | None, bytes]: ...
def command(arguments: Sequence[str]) -> int: ...
