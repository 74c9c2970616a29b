import tempfile
import unittest

from kubernetes import client, config

import fakeapi


class TestConfigMaps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = fakeapi.start()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.apiserver = self.server.fork(self.id(), directory.name)
        self.addCleanup(self.apiserver.close)
        config.load_kube_config(self.apiserver.kubeconfig)

    def test_create(self):
        core = client.CoreV1Api()
        core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
        self.assertEqual(core.read_namespaced_config_map("a", "default").metadata.name, "a")
