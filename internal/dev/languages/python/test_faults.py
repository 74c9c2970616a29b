import time

import pytest
import urllib3
from kubernetes import client

from follower import Follower


@pytest.fixture
def follower(apiserver):
    follower = Follower()
    follower.start()
    yield follower
    follower.stopped = True
    follower.join()


def create(name):
    client.CoreV1Api().create_namespaced_config_map("default", {"metadata": {"name": name}})


def eventually(condition, timeout=60):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_expired_history(apiserver, follower):
    create("a")
    eventually(lambda: "a" in follower.names)
    expired = apiserver.add_fault("expire410(resource(configmaps), first(1))")
    apiserver.wait_for_hit(expired)
    create("b")
    eventually(lambda: {"a", "b"} <= follower.names)


def test_cut_watch(apiserver, follower):
    create("a")
    eventually(lambda: "a" in follower.names)
    cut = apiserver.add_fault("cut: when event(ADDED) && resource(configmaps) && first(1) do reset")
    create("b")
    apiserver.wait_for_hit(cut)
    eventually(lambda: {"a", "b"} <= follower.names)


def test_lost_reply(apiserver):
    apiserver.add_fault("lost: when verb(create) && resource(configmaps) && during(committed) && first(1) do reset")
    with pytest.raises(urllib3.exceptions.HTTPError):
        create("a")
    with pytest.raises(client.ApiException) as error:
        create("a")  # the first request was stored
    assert error.value.status == 409
