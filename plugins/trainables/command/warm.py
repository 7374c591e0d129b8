"""Starts once, imports the modules that a script imports at its top, and forks for each trial, which runs the script.

tunehost runs this text with `python -c`; it needs nothing but the standard library. The last argument is a socket:
each message on it is four bytes with a length and, separated by NUL, the working directory, the number of arguments,
the arguments and the variables of one trial; its standard files come with it, and a pipe. The answer is a line: the
process id, or "errno" and a number. The trial begins when the pipe says so, and never if the pipe ends before: nobody
may have heard the answer of an interpreter that is killed.
"""

import ast
import builtins
import ctypes
import gc
import importlib
import importlib.machinery
import os
import socket
import struct
import sys
import threading
import time
import types

SCRIPT, CONTROL = sys.argv[1], int(sys.argv[2])
OWN = os.path.dirname(os.path.realpath(SCRIPT))
PRCTL = ctypes.CDLL(None).prctl
DIE_WITH_PARENT, SIGKILL = 1, 9
OF_TRIALS = (b"PWD", b"CUDA_VISIBLE_DEVICES")  # the other variables are the same in all trials


def local(name):
    """The file of a module beside the script; None for one that is installed."""
    path = os.path.join(OWN, *name.split("."))
    for file in (path + ".py", os.path.join(path, "__init__.py")):
        if os.path.isfile(file):
            return file
    return None


def names(file):
    """The modules that a file imports at its top, each as (module, names in it)."""
    try:
        with open(file, "rb") as f:
            body = ast.parse(f.read(), file).body
    except (OSError, SyntaxError, ValueError):
        return  # the script itself will say it
    for statement in body:
        for s in statement.body if isinstance(statement, ast.Try) else [statement]:
            if isinstance(s, ast.Import):
                for alias in s.names:
                    yield alias.name, []
            elif isinstance(s, ast.ImportFrom) and s.module and not s.level:
                yield s.module, [alias.name for alias in s.names]


def preload(file, seen):
    """Imports the installed modules of a file, and of the modules beside it, which are not imported themselves: what
    they do may depend on the trial."""
    for module, parts in names(file):
        top = module.partition(".")[0]
        if top == "tunehost":
            continue
        if local(top):
            for name in [module, *(module + "." + part for part in parts)]:
                found = local(name)
                if found and found not in seen:
                    seen.add(found)
                    preload(found, seen)
            continue
        load(module)
        for part in parts:
            if module in sys.modules and not hasattr(sys.modules[module], part):
                load(module + "." + part)


def load(module):
    try:
        importlib.import_module(module)
    except BaseException:
        pass  # the script itself fails with it


def unsafe():
    """Why this process should not be forked, or ""."""
    if threading.active_count() > 1:
        others = [t.name for t in threading.enumerate() if t is not threading.current_thread()]
        return "the modules that it imports have started threads (%s)" % ", ".join(others)
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return "the modules that it imports have initialised CUDA"
    return ""


def received(control):
    """The next message's parts and files; None at the end."""
    head, fds, _, _ = socket.recv_fds(control, 4, 4)
    while 0 < len(head) < 4:
        head += control.recv(4 - len(head))
    if not head:
        return None
    (size,) = struct.unpack("<I", head)
    body = b""
    while len(body) < size:
        body += control.recv(size - len(body))
    return body.split(b"\0"), fds


def fork():
    """Forks a child of the host, which adopts it because its parent ends. Returns its process id; 0 in the child."""
    read, write = os.pipe()
    host, middle = os.getppid(), os.fork()
    if middle:
        os.close(write)
        pid = int(os.read(read, 1000) or 0)  # an error's number, negative; 0 if the process between has died
        os.close(read)
        os.waitpid(middle, 0)
        if pid <= 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid
    middle = os.getpid()
    try:
        pid = os.fork()
    except OSError as e:
        os.write(write, b"%d" % -e.errno)
        os._exit(1)
    if pid:
        os.setpgid(pid, pid)
        os.write(write, b"%d" % pid)
        os._exit(0)
    os.close(read)
    os.close(write)
    adopted(host, middle)
    return 0


def adopted(host, middle):
    """Waits until the host is the parent, and dies with it."""
    while os.getppid() == middle:
        time.sleep(0.0002)
    PRCTL(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)
    if os.getppid() != host:
        os._exit(1)


def wear(parts, fds):
    """Gives this process the files, the directory, the arguments and the variables of a trial, once it may begin."""
    *fds, begin = fds
    if not os.read(begin, 1):
        os._exit(1)
    os.close(begin)
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
    for fd in fds:
        os.close(fd)
    dir, count, *rest = parts
    os.chdir(dir)
    variables = (kv.split(b"=", 1) for kv in rest[int(count):])
    os.environb.update((name, value) for name, value in variables if name in OF_TRIALS or name.startswith(b"TUNEHOST_"))
    sys.argv[:] = [os.fsdecode(arg) for arg in rest[:int(count)]]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()  # the standard library's generator has a new seed by itself


def serve(control):
    """Forks until the host ends; returns in each trial."""
    while True:
        message = received(control)
        if message is None:
            os._exit(0)
        parts, fds = message
        try:
            pid = fork()
            if pid == 0:
                control.close()
                return wear(parts, fds)
            answer = str(pid)
        except OSError as e:
            answer = "errno %d" % (e.errno or 0)
        for fd in fds:
            os.close(fd)
        control.sendall(answer.encode() + b"\n")


def run(script):
    """Runs the script as python does, and returns its exit status."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=os.path.abspath(script), __builtins__=builtins, __cached__=None, __annotations__={},
                         __loader__=importlib.machinery.SourceFileLoader("__main__", script))
    sys.modules["__main__"] = main
    try:
        with open(script, "rb") as f:
            source = f.read()
    except OSError as e:
        print("%s: can't open file %r: [Errno %d] %s" % (sys.executable, script, e.errno, e.strerror), file=sys.stderr)
        return 2
    try:
        exec(compile(source, script, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as e:
        e.__traceback__ = e.__traceback__.tb_next  # without this function
        sys.excepthook(type(e), e, e.__traceback__)
        return 1
    return 0


if sys.path and sys.path[0] == "":
    sys.path[0] = OWN
preload(SCRIPT, set())
control = socket.socket(fileno=CONTROL)
why = unsafe()
if why:
    control.sendall(("error " + why + "\n").encode())
    os._exit(1)
gc.collect()
gc.freeze()  # so that trials do not scan, and thereby copy, what is there
control.sendall(b"ready\n")
serve(control)
sys.exit(run(sys.argv[0]))
