"""Starts fakeapi servers for tests, and controls them. It needs Python 3.8 and no packages."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from urllib.parse import quote

BINARY = os.environ.get("FAKEAPI", "fakeapi")  # the path of the fakeapi binary


class Server:
    """A Kubernetes API server: its url, the path of its kubeconfig, and the URL of its control API."""

    def __init__(self, url, kubeconfig, control_url, close):
        self.url, self.kubeconfig, self.control_url, self.close = url, kubeconfig, control_url, close

    def control(self, method, path, body="", accept="application/json"):
        """Sends a request to the control API, which documents itself at GET /, and returns the response."""
        request = urllib.request.Request(self.control_url + path, body.encode() or None, {"Accept": accept}, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None

    def add_fault(self, rule):
        """Adds a fault, such as "expire410" or "busy: when verb(list) do status(429)", and returns its name."""
        return json.loads(self.control("POST", "/faults", rule))["rules"][0]["name"]

    def clear_faults(self):
        self.control("DELETE", "/faults")

    def wait_for_hit(self, fault, count=1, timeout="60s"):
        """Waits until a fault has happened, and returns what it was applied to."""
        hits = json.loads(self.control("GET", f"/hits?rule={quote(fault)}&wait={timeout}&count={count}"))
        assert hits["met"], f"{fault} did not happen\n{self.timeline()}"
        return hits["hits"]

    def timeline(self, accept="text/plain"):
        """Returns the requests, watch events and faults as text, or for text/html as a page for a browser."""
        return self.control("GET", "/timeline", accept=accept)

    def fork(self, name, directory):
        """Starts a server with the objects of this one, whose kubeconfig is written into a directory."""
        path = "/forks/" + quote(name, safe="")
        fork = json.loads(self.control("POST", path))
        kubeconfig = os.path.join(directory, "kubeconfig")
        with open(kubeconfig, "w") as file:
            file.write(fork["kubeconfig"])
        return Server(fork["url"], kubeconfig, fork["controlURL"], lambda: self.control("DELETE", path))


def start(*flags):
    """Starts "fakeapi serve" with flags. The server also ends with this process."""
    process = subprocess.Popen(
        [BINARY, "serve", "--output=json", "--control-address=127.0.0.1:0", "--until-stdin-ends", *flags],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ready = process.stdout.readline()
    if not ready:
        raise RuntimeError(f"fakeapi serve ended with status {process.wait()}")
    ready = json.loads(ready)
    return Server(ready["url"], ready["kubeconfig"], ready["controlURL"], lambda: process.communicate())
