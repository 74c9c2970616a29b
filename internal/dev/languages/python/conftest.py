"""The fixture apiserver: one fakeapi server for the session, and a fork of it for each test."""

import pytest
from kubernetes import config

import fakeapi

# Flags of fakeapi serve, such as "--load=manifests" for objects that are there when a test begins.
FLAGS = []


@pytest.fixture(scope="session")
def session_server():
    server = fakeapi.start(*FLAGS)
    yield server
    server.close()


@pytest.fixture
def apiserver(session_server, request, tmp_path, monkeypatch):
    fork = session_server.fork(request.node.nodeid[-80:], tmp_path)
    monkeypatch.setenv("KUBECONFIG", fork.kubeconfig)  # for programs that the test starts
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", fork.kubeconfig)
    config.load_kube_config()  # for clients in this process
    yield fork
    (tmp_path / "timeline.html").write_text(fork.timeline("text/html"))
    print(f"{fork.timeline()}\n{tmp_path}/timeline.html")  # pytest shows it if the test fails
    fork.close()
