"""One fakeapi server for the session, and a fork of it for each test that uses the fixture apiserver."""

import pytest
from kubernetes import config

import fakeapi

# Flags of fakeapi serve, such as "--load", "manifests" for objects that all tests begin with.
FLAGS = []


@pytest.fixture(scope="session")
def session_server():
    process, server = fakeapi.start(*FLAGS)
    yield server
    process.terminate()
    process.wait()


@pytest.fixture
def apiserver(session_server, request, tmp_path, monkeypatch):
    name = request.node.name
    fork = session_server.fork(name, tmp_path)
    monkeypatch.setenv("KUBECONFIG", fork.kubeconfig)  # for programs that the test starts
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", fork.kubeconfig)
    config.load_kube_config()  # for the code under test
    yield fork
    print(fork.timeline())  # pytest shows it if the test fails
    session_server.close_fork(name)
