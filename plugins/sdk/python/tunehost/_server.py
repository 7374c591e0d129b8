"""The gRPC server: implements the services of the protocol with the author's plugins.

Searchers, schedulers and trainables that do not fork always run in the main thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from concurrent import futures
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Mapping, Optional, Type, TypeVar

import grpc
from google.protobuf import message_factory

from . import _answers, _session, _tls, _traces, _vital, _wire
from ._forked import ForkedSession, Refusal, Zygote
from ._log import log
from ._proto import reporter_pb2, scheduler_pb2, searcher_pb2, trainable_pb2
from ._session import LocalSession, Session
from .errors import Refused
from .events import EventKind
from .plugin import Plugin, Reporter, Scheduler, Searcher, Trainable, overrides, requested, traits_of
from .run import describe
from .space import TooTight

if TYPE_CHECKING:
    from ._leasing import ExecutorService

PROTOCOL = 1
_MAX_MESSAGE = 17 << 20
_MAX_STATUS = 4000  # characters of an error: it travels in a header
_TICK_S = 1.0
_END_GRACE_S = 5.0

T = TypeVar("T")
Table = Mapping[str, Type[Plugin]]


class Failure(Exception):
    """An error that is sent as the answer."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


NOT_OPEN = Failure(grpc.StatusCode.FAILED_PRECONDITION, "the plugin was not opened")


def guarded(call: str, f: Callable[[], T]) -> T:
    """Runs the author's code. An exception becomes a Failure; its traceback goes to the log. An answer which this
    package refuses is not logged: the host says what it is told of it."""
    try:
        return f()
    except (TooTight, _wire.Outside) as e:  # asking again would change nothing
        raise Failure(grpc.StatusCode.OUT_OF_RANGE, str(e)) from e
    except _answers.WrongAnswer as e:
        raise Failure(grpc.StatusCode.ABORTED, str(e)) from e
    except BaseException as e:
        log.error("%s failed: %s", call, describe(e), exc_info=True)
        raise Failure(grpc.StatusCode.ABORTED, describe(e)) from e  # the host names the call


def opening(f: Callable[[], T]) -> T:
    """Runs the author's open. An exception means that it refuses the problem or the options."""
    try:
        return f()
    except ValueError as e:  # Refused, too: written for the user
        if not isinstance(e, Refused):
            log.error("open failed: %s", describe(e), exc_info=True)
        raise Failure(grpc.StatusCode.INVALID_ARGUMENT, str(e)) from e
    except BaseException as e:
        log.error("open failed: %s", describe(e), exc_info=True)
        raise Failure(grpc.StatusCode.INVALID_ARGUMENT, f"open failed: {describe(e)}") from e


class Main:
    """Runs functions of other threads in the main thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()

    def put(self, f: Callable[[], None]) -> None:
        self._calls.put(f)

    def call(self, f: Callable[[], T]) -> T:
        """Runs f in the main thread, waits, and returns its result."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()  # quicker than a Future

        def do() -> None:
            try:
                done.put((f(), None))
            except BaseException as e:
                done.put((None, e))

        self._calls.put(do)
        value, error = done.get()
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    def serve(self) -> None:
        while True:
            f = self._calls.get()
            if f is None:
                return
            f()

    def end(self) -> None:
        self._calls.put(None)


class _StatefulService:
    """The common base of the services of searchers and schedulers."""

    def __init__(self, plugin: Type[Any], main: Main) -> None:
        self.plugin, self.main = plugin, main
        self._opened: Any = None

    def open(self, m: Any) -> Any:
        def make() -> Any:
            problem = _wire.problem(m.problem)
            made = self.plugin()
            made.problem, made.space = problem, problem.space
            made.configure(json.loads(m.options or b"{}"))
            made.open()
            if m.snapshot:
                self._restore(made, m.snapshot)
            return made

        self._opened = self.main.call(lambda: opening(make))
        return self._opened

    def _restore(self, made: Any, snapshot: bytes) -> None:
        if not overrides(made, "restore"):
            raise Refused("a snapshot was given to a plugin that does not support snapshots")
        made.restore(snapshot)

    @property
    def opened(self) -> Any:
        if self._opened is None:
            raise NOT_OPEN
        return self._opened

    def snapshot(self) -> bytes:
        opened = self.opened
        made = lambda: _wire.snapshot(opened.snapshot(), type(opened).snapshot)  # noqa: E731
        return self.main.call(lambda: guarded("snapshot", made))


class SearcherService(_StatefulService):
    """tunehost.v1.SearcherService."""

    def DescribeSearcher(self, _: Any) -> Any:
        return searcher_pb2.DescribeSearcherResponse(info=_wire.info(self.plugin))

    def OpenSearcher(self, m: searcher_pb2.OpenSearcherRequest) -> Any:
        return searcher_pb2.OpenSearcherResponse(traits=_wire.searcher_traits(self.open(m)))

    def Suggest(self, m: searcher_pb2.SuggestRequest) -> Any:
        opened: Searcher = self.opened
        return self.main.call(lambda: self._suggest(opened, m))

    def _suggest(self, s: Searcher, m: searcher_pb2.SuggestRequest) -> Any:
        if m.events:
            guarded("observe", lambda: s.observe_all(_wire.events(m.events, s.space)))
        if not m.requests:
            return searcher_pb2.SuggestResponse()
        asked = _wire.requests(m.requests, s.space)
        by = type(s).suggest if type(s).suggest_all is Searcher.suggest_all else type(s).suggest_all
        return guarded("suggest", lambda: _wire.suggestions(s.space, asked, s.suggest_all(asked), by))

    def SnapshotSearcher(self, _: Any) -> Any:
        return searcher_pb2.SnapshotSearcherResponse(snapshot=self.snapshot())


class SchedulerService(_StatefulService):
    """tunehost.v1.SchedulerService."""

    def DescribeScheduler(self, _: Any) -> Any:
        return scheduler_pb2.DescribeSchedulerResponse(info=_wire.info(self.plugin))

    def OpenScheduler(self, m: scheduler_pb2.OpenSchedulerRequest) -> Any:
        return scheduler_pb2.OpenSchedulerResponse(traits=_wire.scheduler_traits(self.open(m)))

    def Decide(self, m: scheduler_pb2.DecideRequest) -> Any:
        s: Scheduler = self.opened
        told = _wire.events(m.events, s.space)

        def decide() -> Any:
            added = [e.trial for e in told if e.kind == EventKind.TRIAL_ADDED]
            if added:
                s.__dict__["_known_trials"] = max(added) + 1  # numbers grow
            decided = s.decide(told)
            by = type(s).on_result if type(s).decide is Scheduler.decide else type(s).decide
            return _wire.decisions(s.space, told, decided, s.take_orders(), by)

        return self.main.call(lambda: guarded("decide", decide))

    def SnapshotScheduler(self, _: Any) -> Any:
        return scheduler_pb2.SnapshotSchedulerResponse(snapshot=self.snapshot())


class ReporterService:
    """tunehost.v1.ReporterService."""

    def __init__(self, plugin: Type[Reporter], main: Main) -> None:
        self.plugin, self.main = plugin, main
        self._opened: Optional[Reporter] = None

    def DescribeReporter(self, _: Any) -> Any:
        return reporter_pb2.DescribeReporterResponse(info=_wire.info(self.plugin))

    def OpenReporter(self, m: reporter_pb2.OpenReporterRequest) -> Any:
        def make() -> Reporter:
            made = self.plugin()
            made.problem = _wire.problem(m.problem)
            made.experiment, made.dir, made.told = m.experiment, m.dir, m.told
            made.configure(json.loads(m.options or b"{}"))
            made.open()
            return made

        opened = self._opened = self.main.call(lambda: opening(make))
        return reporter_pb2.OpenReporterResponse(after=self.main.call(
            lambda: guarded("after", lambda: _answers.last(opened.after(), type(opened).after))))

    def Report(self, m: reporter_pb2.ReportRequest) -> Any:
        opened = self._opened
        if opened is None:
            raise NOT_OPEN
        told = [_wire.reported(e) for e in m.events]
        self.main.call(lambda: guarded("report", lambda: opened.report(told)))
        return reporter_pb2.ReportResponse()


class TrainableService:
    """tunehost.v1.TrainableService; subclasses decide where the author's code runs."""

    def __init__(self, plugin: Type[Trainable]) -> None:
        self.plugin = plugin
        self._lock = threading.Lock()
        self._traits: Optional[Dict[str, bool]] = None
        self.session: Optional[Session] = None

    def DescribeTrainable(self, _: Any) -> Any:
        return trainable_pb2.DescribeTrainableResponse(info=_wire.info(self.plugin))

    def OpenTrainable(self, m: trainable_pb2.OpenTrainableRequest) -> Any:
        if self._traits is not None:
            raise Failure(grpc.StatusCode.FAILED_PRECONDITION, "the trainable is open already")
        self._traits = self.open(m.options)
        return trainable_pb2.OpenTrainableResponse(**self._traits)

    def RequestResources(self, m: trainable_pb2.RequestResourcesRequest) -> Any:
        if self._traits is None:
            raise NOT_OPEN
        resources = self.request(json.loads(m.params or b"{}"))
        return trainable_pb2.RequestResourcesResponse(resources=json.dumps(resources).encode())

    def Train(self, requests: Iterator[Any]) -> Iterator[Any]:
        session = self._begin()
        broken: list[Failure] = []
        _vital.start(_read, requests, session, broken)
        while True:
            events = session.out.drain()
            if not events:
                break
            for portion in _session.batches(events):
                yield trainable_pb2.TrainResponse(events=portion)
        if broken:
            raise broken[0]

    def _begin(self) -> Session:
        with self._lock:
            if self._traits is None:
                raise NOT_OPEN
            if self.session:
                raise Failure(grpc.StatusCode.FAILED_PRECONDITION, "a process has one Train stream, and it was used already")
            self.session = self.new_session(self._traits)
            return self.session

    def open(self, options: bytes) -> Dict[str, bool]:
        raise NotImplementedError

    def request(self, params: Dict[str, Any]) -> Mapping[str, Any]:
        raise NotImplementedError

    def new_session(self, traits: Dict[str, bool]) -> Session:
        raise NotImplementedError


def _read(requests: Iterator[Any], session: Session, broken: list[Failure]) -> None:
    """Executes commands until the host closes its side or ends."""
    try:
        for m in _received(requests):
            session.send(m.commands)
    except _session.Broken as e:
        broken.append(Failure(grpc.StatusCode.INVALID_ARGUMENT, str(e)))
    session.close()


def _received(requests: Iterator[Any]) -> Iterator[Any]:
    """Yields messages until the connection is lost. That is not an error: nobody could receive it."""
    while True:
        try:
            m = next(requests)
        except Exception:
            return
        yield m


class LocalService(TrainableService):
    """A trainable in this process."""

    def __init__(self, plugin: Type[Trainable], main: Main) -> None:
        super().__init__(plugin)
        self._main = main
        self._requesting = threading.Lock()

    def open(self, options: bytes) -> Dict[str, bool]:
        self._trainable: Trainable = self._main.call(lambda: opening(lambda: _session.opened(options, self.plugin)))
        return traits_of(self._trainable, forked=False)

    def request(self, params: Dict[str, Any]) -> Mapping[str, Any]:
        with self._requesting:  # not in the main thread, which may train
            return guarded("request", lambda: requested(self._trainable, params))

    def new_session(self, traits: Dict[str, bool]) -> Session:
        return LocalSession(self._trainable, traits, self._main.put)


class ForkedService(TrainableService):
    """A trainable in the zygote and its forks."""

    def __init__(self, plugin: Type[Trainable], zygote: Zygote) -> None:
        super().__init__(plugin)
        self._zygote = zygote

    def open(self, options: bytes) -> Dict[str, bool]:
        try:
            traits: Dict[str, bool] = self._zygote.call("open", json.loads(options or b"{}"))
            return traits
        except Refusal as e:
            raise Failure(grpc.StatusCode.INVALID_ARGUMENT, str(e)) from e

    def request(self, params: Dict[str, Any]) -> Mapping[str, Any]:
        try:
            resources: Mapping[str, Any] = self._zygote.call("request", params)
            return resources
        except Refusal as e:
            raise Failure(grpc.StatusCode.ABORTED, str(e)) from e

    def new_session(self, traits: Dict[str, bool]) -> Session:
        return ForkedSession(self._zygote, traits)


def _handlers(descriptor: Any, service: Any) -> grpc.GenericRpcHandler:
    """The gRPC handlers of a service: its methods by their names in the .proto file."""
    table: Dict[str, Any] = {}
    for m in descriptor.methods:
        request = message_factory.GetMessageClass(m.input_type)
        make = grpc.stream_stream_rpc_method_handler if m.client_streaming else grpc.unary_unary_rpc_method_handler
        if m.server_streaming and not m.client_streaming:
            make = grpc.unary_stream_rpc_method_handler
        behaviour = _stream if m.server_streaming else _unary
        table[m.name] = make(behaviour(getattr(service, m.name)), request.FromString, _serialized)
    return grpc.method_handlers_generic_handler(descriptor.full_name, table)


def _serialized(answer: Any) -> bytes:
    text: bytes = answer.SerializeToString()
    return text


def _unary(f: Callable[[Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
    def behaviour(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return f(request)
        except Failure as e:
            context.abort(e.code, _wire.text(_traces.middle(str(e), _MAX_STATUS)))

    return behaviour


def _stream(f: Callable[[Any], Iterator[Any]]) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
    def behaviour(requests: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            yield from f(requests)
        except Failure as e:
            context.abort(e.code, _wire.text(_traces.middle(str(e), _MAX_STATUS)))

    return behaviour


class Server:
    """Serves a plugin in this process, from the handshake to the end."""

    def __init__(self, table: Table, control: Any = None) -> None:
        self._main = Main()
        self._ended = threading.Event()
        self._status = 0
        self._trainable: Optional[TrainableService] = None
        self._executor: Optional[ExecutorService] = None
        self._handlers = [self._control(), self._stdio()]
        for kind, plugin in table.items():
            self._add(kind, plugin, control)

    def _add(self, kind: str, plugin: Any, control: Any) -> None:
        service: Any
        if kind == "searcher":
            service = SearcherService(plugin, self._main)
        elif kind == "scheduler":
            service = SchedulerService(plugin, self._main)
        elif kind == "reporter":
            service = ReporterService(plugin, self._main)
        elif kind == "executor":
            from ._leasing import ExecutorService  # few plugins are one

            service = self._executor = ExecutorService(
                plugin, lambda name, f: self._main.call(lambda: guarded(name, f)), lambda f: self._main.call(lambda: opening(f)),
                NOT_OPEN)
        elif control:
            service = self._trainable = ForkedService(plugin, Zygote(control))
        else:
            service = self._trainable = LocalService(plugin, self._main)
        messages = import_module(f"tunehost._proto.{kind}_pb2")
        descriptor = messages.DESCRIPTOR.services_by_name[f"{kind.capitalize()}Service"]
        self._handlers.append(_handlers(descriptor, service))

    def _control(self) -> grpc.GenericRpcHandler:
        """go-plugin's service for an orderly shutdown."""

        def shutdown(_: bytes, context: grpc.ServicerContext) -> bytes:
            if not context.add_callback(lambda: self._end(0)):  # once it is answered
                self._end(0)
            return b""

        return grpc.method_handlers_generic_handler(
            "plugin.GRPCController", {"Shutdown": grpc.unary_unary_rpc_method_handler(shutdown)})

    def _stdio(self) -> grpc.GenericRpcHandler:
        """go-plugin's stream of output. Nothing is sent on it, because stderr is enough. The host
        keeps it open, so its end shows that the connection is lost."""

        def stream(_: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            lost = threading.Event()
            if context.add_callback(lost.set):
                lost.wait()
            if not self._ended.wait(_TICK_S):
                self._end(1)
            yield from ()

        return grpc.method_handlers_generic_handler(
            "plugin.GRPCStdio", {"StreamStdio": grpc.unary_stream_rpc_method_handler(stream)})

    def serve(self, settings: Mapping[str, str], stdout: int) -> int:
        """Performs the handshake, serves until the host ends the plugin or ends itself, and returns
        the exit status."""
        key, certificate, announced = _tls.certificate()
        credentials = grpc.ssl_server_credentials(
            [(key, certificate)], settings["PLUGIN_CLIENT_CERT"].encode(), require_client_auth=True)
        socket = os.path.join(settings["PLUGIN_UNIX_SOCKET_DIR"], "s")
        server = grpc.server(futures.ThreadPoolExecutor(8), self._handlers, options=[
            ("grpc.max_receive_message_length", _MAX_MESSAGE), ("grpc.max_send_message_length", _MAX_MESSAGE)])
        server.add_secure_port("unix:" + socket, credentials)
        server.start()
        self._watch_parent()
        os.write(stdout, f"1|{PROTOCOL}|unix|{socket}|grpc|{announced}\n".encode())
        os.close(stdout)
        self._main.serve()
        if self._executor:
            with contextlib.suppress(Failure):  # it is in the log
                guarded("close", self._executor.close)
        server.stop(0.1).wait(1)
        return self._status

    def _watch_parent(self) -> None:
        parent = os.getppid()

        def watch() -> None:
            while not self._ended.wait(_TICK_S):
                if os.getppid() != parent:
                    self._end(1)

        _vital.start(watch)

    def _end(self, status: int) -> None:
        """Ends the process; code that does not return in time is left behind."""
        if self._ended.is_set():
            return
        self._status = status
        self._ended.set()
        if self._trainable and self._trainable.session:
            self._trainable.session.close()
        if self._executor:
            self._executor.end()
        self._main.end()

        def late() -> None:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            os._exit(status)

        timer = threading.Timer(_END_GRACE_S, late)
        timer.daemon = True
        timer.start()
