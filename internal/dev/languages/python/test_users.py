"""Clients over HTTPS, with the permissions that roles give to their users."""

import pytest
from kubernetes import client, config
from kubernetes.client.rest import ApiException

import fakeapi


@pytest.fixture(scope="module")
def server():
    server = fakeapi.start("--authorization-mode=RBAC")
    yield server
    server.close()


def test_permissions_of_a_service_account(server, tmp_path):
    fork = server.fork("permissions", tmp_path)
    assert fork.url.startswith("https://")
    admin = config.new_client_from_config(fork.kubeconfig)
    client.CoreV1Api(admin).create_namespaced_service_account("default", {"metadata": {"name": "robot"}})
    path = tmp_path / "robot"
    path.write_text(fork.control("POST", "/kubeconfigs", "system:serviceaccount:default:robot"))
    robot = client.CoreV1Api(config.new_client_from_config(str(path)))
    with pytest.raises(ApiException) as forbidden:
        robot.list_namespaced_config_map("default")
    assert forbidden.value.status == 403

    rbac = client.RbacAuthorizationV1Api(admin)
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
    rbac.create_namespaced_role("default", {"metadata": {"name": "reader"}, "rules": rules})
    rbac.create_namespaced_role_binding("default", {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}],
    })
    assert robot.list_namespaced_config_map("default").items == []
    fork.close()
