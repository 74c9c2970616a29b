"""Leader election of the client, with the lock in a ConfigMap."""

import threading

from kubernetes import client
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock


class Candidate(threading.Thread):
    """Takes part in an election until it has led. Its name is its user agent."""

    def __init__(self, name):
        super().__init__(name=name, daemon=True)
        self.leads, self.lost = threading.Event(), threading.Event()
        lock = ConfigMapLock("election", "default", name)
        lock.api_instance = client.CoreV1Api(client.ApiClient())
        lock.api_instance.api_client.user_agent = name
        # The machine may be busy: a leader that is late by more than the deadline has lost.
        config = electionconfig.Config(lock, lease_duration=6, renew_deadline=5, retry_period=1,
                                       onstarted_leading=self.leads.set, onstopped_leading=self.lost.set)
        self.election = leaderelection.LeaderElection(config)

    def run(self):
        self.election.run()


def test_the_lease_of_a_leader_that_cannot_renew_it_is_taken(apiserver):
    first, second = Candidate("first"), Candidate("second")
    first.start()
    assert first.leads.wait(60)
    second.start()
    assert not second.leads.wait(0.3)
    apiserver.add_fault("first: when verb(update) && name(election) && userAgent(first) do status(500)")
    assert first.lost.wait(60)
    assert second.leads.wait(60)
    apiserver.wait_for_hit("first")
    apiserver.add_fault("second: when verb(update) && name(election) && userAgent(second) do status(500)")
    assert second.lost.wait(60)
