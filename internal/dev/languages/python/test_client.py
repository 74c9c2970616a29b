"""The calls of the client: objects, patches, errors, selectors, pages, watches, the dynamic client."""

import json

import pytest
from kubernetes import client, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.shop.example.com"},
    "spec": {
        "group": "shop.example.com", "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [{
            "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}},
                "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
            }}},
        }],
    },
}


def deployment(name, replicas):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}},
        },
    }


def config_map(name, value="1", **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data={"key": value})


def test_objects(apiserver):
    core = client.CoreV1Api()
    created = core.create_namespaced_config_map("default", config_map("a"))
    assert created.metadata.uid and created.metadata.creation_timestamp
    created.data["key"] = "2"
    replaced = core.replace_namespaced_config_map("a", "default", created)
    assert replaced.data == {"key": "2"}
    with pytest.raises(ApiException) as conflict:
        core.replace_namespaced_config_map("a", "default", created)  # with the old resourceVersion
    assert conflict.value.status == 409 and '"reason":"Conflict"' in conflict.value.body
    assert core.delete_namespaced_config_map("a", "default").status == "Success"
    with pytest.raises(ApiException) as missing:
        core.read_namespaced_config_map("a", "default")
    assert missing.value.status == 404 and missing.value.reason == "Not Found"
    with pytest.raises(ApiException) as invalid:
        core.create_namespaced_config_map("default", config_map("A b"))
    assert invalid.value.status == 422


def test_lists(apiserver):
    core = client.CoreV1Api()
    for i in range(5):
        core.create_namespaced_config_map("kube-public", config_map(f"m{i}", labels={"even": str(i % 2 == 0).lower()}))
    page = core.list_namespaced_config_map("kube-public", limit=2, label_selector="even=true")
    assert [m.metadata.name for m in page.items] == ["m0", "m2"]
    page = core.list_namespaced_config_map("kube-public", label_selector="even=true", limit=2, _continue=page.metadata._continue)
    assert [m.metadata.name for m in page.items] == ["m4"]
    page = core.list_config_map_for_all_namespaces(field_selector="metadata.name=m3")
    assert [m.metadata.name for m in page.items] == ["m3"]
    core.delete_collection_namespaced_config_map("kube-public", label_selector="even=true")
    left = core.list_namespaced_config_map("kube-public", label_selector="even")
    assert [m.metadata.name for m in left.items] == ["m1", "m3"]


def test_patches(apiserver):
    apps, core = client.AppsV1Api(), client.CoreV1Api()
    apps.create_namespaced_deployment("default", deployment("web", 1))
    # A dict is a strategic merge patch: the list of containers is merged by name.
    patched = apps.patch_namespaced_deployment("web", "default", {"spec": {"template": {"spec": {"containers": [
        {"name": "main", "env": [{"name": "A", "value": "1"}]}, {"name": "side", "image": "busybox"}]}}}})
    assert [(c.name, c.image) for c in patched.spec.template.spec.containers] == [("main", "nginx"), ("side", "busybox")]
    # A list is a JSON patch.
    core.create_namespaced_config_map("default", config_map("a"))
    patched = core.patch_namespaced_config_map("a", "default", [
        {"op": "test", "path": "/data/key", "value": "1"}, {"op": "replace", "path": "/data/key", "value": "2"}])
    assert patched.data == {"key": "2"}
    with pytest.raises(ApiException) as failed:
        core.patch_namespaced_config_map("a", "default", [{"op": "test", "path": "/data/key", "value": "1"}])
    assert failed.value.status == 422
    scaled = apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 3}})
    assert scaled.spec.replicas == 3
    assert apps.read_namespaced_deployment("web", "default").metadata.generation == 3


def test_status(apiserver):
    apps = client.AppsV1Api()
    apps.create_namespaced_deployment("default", deployment("web", 1))
    ready = apps.patch_namespaced_deployment_status("web", "default", {"status": {"replicas": 1, "readyReplicas": 1}})
    assert ready.status.ready_replicas == 1 and ready.metadata.generation == 1


def test_watch(apiserver):
    core = client.CoreV1Api()
    core.create_namespaced_config_map("kube-public", config_map("a"))
    core.patch_namespaced_config_map("a", "kube-public", {"data": {"key": "2"}})
    version = core.list_namespaced_config_map("kube-public").metadata.resource_version
    core.patch_namespaced_config_map("a", "kube-public", {"data": {"key": "3"}})
    core.delete_namespaced_config_map("a", "kube-public")
    stream = watch.Watch().stream(core.list_namespaced_config_map, "kube-public", resource_version=version, timeout_seconds=5)
    events = [(e["type"], e["object"].data["key"]) for e in stream if e["object"].metadata.name == "a"]
    assert events == [("MODIFIED", "3"), ("DELETED", "3")]


def test_watch_after_expired_history(apiserver):
    core = client.CoreV1Api()
    version = core.list_namespaced_config_map("default").metadata.resource_version
    core.create_namespaced_config_map("default", config_map("a"))
    apiserver.control("POST", "/forget-history")
    with pytest.raises(ApiException) as expired:
        list(watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=60))
    assert expired.value.status == 410


def test_watch_continues_after_a_cut(apiserver):
    core = client.CoreV1Api()
    apiserver.add_fault("cut: when event(ADDED) && resource(configmaps) && name(b) && first(1) do end")
    w = watch.Watch()
    for name in ("a", "b", "c"):
        core.create_namespaced_config_map("kube-public", config_map(name))
    names = []
    for event in w.stream(core.list_namespaced_config_map, "kube-public"):  # reconnects when the server ends a watch
        if event["object"].metadata.name in ("a", "b", "c"):
            names.append(event["object"].metadata.name)
        if names[-1:] == ["c"]:
            w.stop()
    assert names == ["a", "b", "c"]
    apiserver.wait_for_hit("cut")


def test_create_from_dict(apiserver):
    utils.create_from_dict(client.ApiClient(), deployment("web", 2))
    assert client.AppsV1Api().read_namespaced_deployment("web", "default").spec.replicas == 2


def test_custom_objects(apiserver):
    client.ApiextensionsV1Api().create_custom_resource_definition(DEFINITION)
    custom = client.CustomObjectsApi()
    widget = {"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    where = ("shop.example.com", "v1", "default", "widgets")
    custom.create_namespaced_custom_object(*where, widget)
    assert custom.get_namespaced_custom_object(*where, "w")["metadata"]["generation"] == 1
    custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"ready": True}})
    assert custom.list_namespaced_custom_object(*where)["items"][0]["status"] == {"ready": True}
    with pytest.raises(ApiException) as invalid:
        custom.patch_namespaced_custom_object(*where, "w", {"spec": {"size": 0}})
    assert invalid.value.status == 422


def test_dynamic_client(apiserver, tmp_path):
    # The cache of the discovery documents is a file of its own for each server.
    dynamic_client = dynamic.DynamicClient(client.ApiClient(), cache_file=str(tmp_path / "discovery.json"))
    dynamic_client.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition").create(body=DEFINITION)
    dynamic_client.resources.invalidate_cache()
    widgets = dynamic_client.resources.get(api_version="shop.example.com/v1", kind="Widget")
    body = {"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    created = widgets.create(body=body, namespace="default")
    assert created.spec.size == 1
    patched = widgets.patch(body={"spec": {"size": 2}}, name="w", namespace="default", content_type="application/merge-patch+json")
    assert patched.metadata.generation == 2
    body["metadata"]["resourceVersion"] = created.metadata.resourceVersion
    with pytest.raises(ConflictError):
        widgets.replace(body=body, namespace="default")
    widgets.status.patch(body={"status": {"ready": True}}, name="w", namespace="default", content_type="application/merge-patch+json")
    events = [(e["type"], e["object"].metadata.name) for e in widgets.watch(namespace="default", timeout=5)]
    assert events == [("ADDED", "w")]
    widgets.delete(name="w", namespace="default")
    with pytest.raises(NotFoundError):
        widgets.get(name="w", namespace="default")


def test_dynamic_client_applies(apiserver, tmp_path):
    dynamic_client = dynamic.DynamicClient(client.ApiClient(), cache_file=str(tmp_path / "discovery.json"))
    maps = dynamic_client.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "1"}}

    def apply(value, manager):
        body["data"]["key"] = value
        return maps.server_side_apply(json.dumps(body), name="a", namespace="default", field_manager=manager)

    assert apply("1", "one").metadata.managedFields[0].manager == "one"
    with pytest.raises(ConflictError):
        apply("2", "two")
