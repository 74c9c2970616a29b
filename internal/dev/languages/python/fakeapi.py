"""Starts fakeapi servers for tests, and controls them. It needs Python 3.8 and nothing else."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request

BINARY = os.environ.get("FAKEAPI", "fakeapi")  # the path of the fakeapi binary


class Server:
    """A Kubernetes API server: its url, the path of a kubeconfig, and its control API."""

    def __init__(self, url, kubeconfig, control):
        self.url, self.kubeconfig, self.control = url, kubeconfig, control

    def request(self, method, path, body="", accept="application/json"):
        """Returns the response of the control API to a request, such as GET /hits."""
        request = urllib.request.Request(
            self.control + path, body.encode() or None, {"Accept": accept}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None

    def add_faults(self, *rules):
        """Adds fault rules, such as "expire410" or "busy: when verb(list) do status(429)"."""
        self.request("POST", "/faults", "\n".join(rules))

    def clear_faults(self):
        self.request("DELETE", "/faults")

    def hits(self, rule):
        """Returns what a rule did to requests and watch events."""
        return [h for h in json.loads(self.request("GET", "/hits"))["hits"] if h["rule"] == rule]

    def wait_for_hit(self, rule, count=1, timeout=10):
        """Waits until a rule has hit."""
        deadline = time.monotonic() + timeout
        while len(self.hits(rule)) < count:
            assert time.monotonic() < deadline, f"no hit of {rule}\n{self.timeline()}"
            time.sleep(0.02)

    def timeline(self):
        """Returns the requests, the watch events and the faults, as text. In a browser: control + "/timeline"."""
        return self.request("GET", "/timeline", accept="text/plain")

    def fork(self, name, directory):
        """Starts a server with the objects of this one, and writes its kubeconfig into a directory."""
        fork = json.loads(self.request("POST", f"/forks/{name}"))["forks"][0]
        path = os.path.join(directory, "kubeconfig")
        with open(path, "w") as file:
            file.write(open(self.kubeconfig).read().replace(self.url, fork["url"]))
        return Server(fork["url"], path, fork["url"]+"/fakeapi/v1")

    def close_fork(self, name):
        self.request("DELETE", f"/forks/{name}")


def start(*flags):
    """Starts the command fakeapi serve with flags, and returns its process and its Server."""
    process = subprocess.Popen([BINARY, "serve", "--output", "json", *flags], stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{BINARY} serve ended with status {process.wait()}")
    ready = json.loads(line)
    return process, Server(ready["url"], ready["kubeconfig"], ready["control"])
