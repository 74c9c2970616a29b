// Package watchguarantees verifies what etcd and kube-apiserver guarantee about watches: events are
// ordered, unique and complete, bookmarks are correct, and initial events are the list at their
// revision. History is the sequence of changes that the writers caused. Its Check compares the log
// of a watcher with it. The tests run random writers and watchers against a fakeapi server.
package watchguarantees
