from kubernetes import client, watch


def test_config_map(apiserver):
    core = client.CoreV1Api()
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"key": "1"}})
    core.patch_namespaced_config_map("a", "default", {"data": {"key": "2"}})
    assert core.read_namespaced_config_map("a", "default").data == {"key": "2"}


def test_other_fork(apiserver):
    names = [m.metadata.name for m in client.CoreV1Api().list_namespaced_config_map("default").items]
    assert "a" not in names  # the other test has a server of its own


def test_watch(apiserver):
    core = client.CoreV1Api()
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    for event in watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=60):
        if event["object"].metadata.name == "a":
            return
    raise AssertionError("no event")
