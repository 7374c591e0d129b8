"""A plugin's process, spoken to by a host of a few lines."""

from __future__ import annotations

import base64
import datetime
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, List, Tuple

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tunehost._proto import searcher_pb2
from tunehost._serve import COOKIE

ROOT = Path(__file__).parent.parent
DESCRIBE = "/tunehost.v1.SearcherService/DescribeSearcher"


def authority() -> Tuple[bytes, bytes, bytes]:
    """An authority's certificate, and a client's key and certificate, all PEM."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name, name = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, n)]) for n in ("authority", "host"))
    now = datetime.datetime.now(datetime.timezone.utc)

    def signed(subject: x509.Name, public: Any, ca: bool) -> bytes:
        made = (x509.CertificateBuilder().subject_name(subject).issuer_name(ca_name).public_key(public)
                .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
                .not_valid_after(now + datetime.timedelta(hours=1)).add_extension(x509.BasicConstraints(ca, None), True))
        return made.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return signed(ca_name, ca_key.public_key(), True), pem, signed(name, key.public_key(), False)


class Plugin:
    """A started plugin and a connection to it."""

    def __init__(self, dir: Path, script: str, versions: str = "1") -> None:
        ca, key, certificate = authority()
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TUNEHOST_PLUGIN": COOKIE, "PLUGIN_PROTOCOL_VERSIONS": versions,
               "PLUGIN_UNIX_SOCKET_DIR": str(dir), "PLUGIN_CLIENT_CERT": ca.decode()}
        self.process = subprocess.Popen([sys.executable, str(ROOT / script)], env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.line: List[str] = self.process.stdout.readline().rstrip("\n").split("|")
        der = base64.b64decode(self.line[5] + "=" * (-len(self.line[5]) % 4))
        own = x509.load_der_x509_certificate(der).public_bytes(serialization.Encoding.PEM)
        self.channel = grpc.secure_channel(f"unix:{self.line[3]}", grpc.ssl_channel_credentials(own, key, certificate), options=[
            ("grpc.ssl_target_name_override", "localhost")])

    def describe(self) -> Any:
        return searcher_pb2.DescribeSearcherResponse.FromString(self.call(DESCRIBE))

    def call(self, method: str) -> Any:
        """Calls a method with an empty message."""
        call: Any = self.channel.unary_unary(method)
        return call(b"", timeout=120)


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Plugin]:
    started = Plugin(tmp_path, "samples/climber.py", "2,1")
    yield started
    started.process.kill()
    started.process.communicate()


def test_handshake(plugin: Plugin, tmp_path: Path) -> None:
    assert plugin.line[:5] == ["1", "1", "unix", str(tmp_path / "s"), "grpc"] and "=" not in plugin.line[5]
    assert plugin.describe().info.name == "climber"


def test_shutdown(plugin: Plugin) -> None:
    plugin.call("/plugin.GRPCController/Shutdown")
    out, err = plugin.process.communicate(timeout=120)
    assert (plugin.process.returncode, out, err) == (0, "", "")


def test_it_ends_when_the_connection_does(plugin: Plugin) -> None:
    stream: Any = plugin.channel.unary_stream("/plugin.GRPCStdio/StreamStdio")
    output = stream(b"")
    plugin.describe()
    assert output.is_active() and plugin.process.poll() is None
    plugin.channel.close()
    assert plugin.process.wait(30) == 1


def test_what_is_not_served(plugin: Plugin) -> None:
    for method in ("/grpc.health.v1.Health/Check", "/tunehost.v1.TrainableService/DescribeTrainable"):
        with pytest.raises(grpc.RpcError) as e:
            plugin.call(method)
        assert e.value.code() == grpc.StatusCode.UNIMPLEMENTED
    with pytest.raises(grpc.RpcError) as e:
        plugin.call("/tunehost.v1.SearcherService/Suggest")
    assert e.value.code() == grpc.StatusCode.FAILED_PRECONDITION
