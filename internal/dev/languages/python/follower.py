"""The code under test: keeps the names of ConfigMaps by a list and watches, as informers do."""

import threading

import urllib3
from kubernetes import client, watch
from kubernetes.client.rest import ApiException


class Follower(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.names, self.stopped = set(), False

    def run(self):
        while not self.stopped:
            try:
                self.list_and_watch(client.CoreV1Api())
            except ApiException as error:
                if error.status != 410:  # 410: the history is gone, so list again
                    raise
            except urllib3.exceptions.HTTPError:
                pass  # the connection broke: list again

    def list_and_watch(self, core):
        listed = core.list_namespaced_config_map("default")
        self.names = {item.metadata.name for item in listed.items}
        version = listed.metadata.resource_version
        while not self.stopped:
            stream = watch.Watch().stream(
                core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=1)
            for event in stream:
                metadata = event["object"].metadata
                version = metadata.resource_version
                if event["type"] == "DELETED":
                    self.names.discard(metadata.name)
                else:
                    self.names.add(metadata.name)
