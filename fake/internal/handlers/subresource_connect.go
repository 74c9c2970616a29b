package handlers

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// needsKubelet reports whether a kubelet serves a subresource: the log of a pod, a command in it or
// a port of it.
func needsKubelet(sub *resource.Subresource) bool {
	return sub != nil && (sub.IsConnect || sub.Name == "log")
}

// rejectKubeletRequest returns the error of a request that only a kubelet can answer: that of an
// invalid request, that of admission, that of a missing object or container or, otherwise,
// status.KubeletRequired. The log of a pending pod without a node is empty.
func (a *API) rejectKubeletRequest(q *request) error {
	var options runtime.Object
	if q.sub.IsConnect {
		var err error
		if options, err = a.reviewConnect(q); err != nil {
			return err
		}
	}
	name := q.info.Name
	if q.sub.Name == "proxy" {
		// The name can have a scheme and a port, as in https:web:8443.
		var ok bool
		if _, name, _, ok = utilnet.SplitSchemeNamePort(q.info.Name); !ok {
			return apierrors.NewBadRequest("invalid " + q.res.Singular + " request \"" + q.info.Name + "\"")
		}
	}
	rec := a.store.View().Get(codec.Key(q.res, q.namespace(), name))
	if rec == nil {
		return apierrors.NewNotFound(q.res.GroupResource(), name)
	}
	if q.sub.Name != "proxy" {
		obj, err := a.store.Decode(q.res, rec)
		if err != nil {
			return err
		}
		pod := obj.(*corev1.Pod)
		if err := q.checkContainer(pod, options); err != nil {
			return err
		}
		// Fixtures that are said to run may have no node, unlike those of a cluster.
		isUnscheduled := pod.Spec.NodeName == "" && pod.Status.Phase == corev1.PodPending
		switch {
		case isUnscheduled && q.sub.IsConnect:
			return apierrors.NewBadRequest("pod " + name + " does not have a host assigned")
		case isUnscheduled:
			q.w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	return status.KubeletRequired(q.res.Plural + "/" + q.sub.Name)
}

// checkContainer returns the error of a request for the log of a pod, or for a connection with
// options, if it is not clear which container it is for.
func (q *request) checkContainer(pod *corev1.Pod, options runtime.Object) error {
	container := q.query().Get("container")
	switch o := options.(type) {
	case *corev1.PodExecOptions:
		container = o.Container
	case *corev1.PodAttachOptions:
		container = o.Container
	case *corev1.PodPortForwardOptions: // it is for the pod
		return nil
	}
	if container == "" && len(pod.Spec.Containers) == 1 {
		return nil
	}
	var names []string
	for i := range pod.Spec.InitContainers {
		names = append(names, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	switch {
	case container == "":
		return apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, names))
	case !slices.Contains(names, container):
		return apierrors.NewBadRequest("container " + container + " is not valid for pod " + pod.Name)
	}
	return nil
}

// reviewConnect runs admission on a connection. The object is its options, which it returns.
func (a *API) reviewConnect(q *request) (runtime.Object, error) {
	if q.query().Has("dryRun") { // DR-09
		return nil, apierrors.NewBadRequest("dryRun is not supported")
	}
	options, err := q.connectOptions()
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	attributes := &admission.Attributes{
		Operation:   admissionv1.Connect,
		NewUID:      a.newUID,
		User:        authn.UserFrom(q.r.Context()),
		Resource:    q.sub.OptionsResource(),
		Parent:      q.res,
		Subresource: q.sub.Name,
		Namespace:   q.info.Namespace,
		Name:        q.info.Name,
		Object:      options,
	}
	err = a.admission.Admit(q.withWarnings(), attributes)
	if err == nil {
		err = a.admission.Validate(q.withWarnings(), attributes)
	}
	return attributes.Object, cmp.Or(q.checkContext(), err)
}

// connectOptions returns the options of a connection, which are in the query. That of a proxy is the
// path behind the proxy.
func (q *request) connectOptions() (runtime.Object, error) {
	switch kind, values := q.sub.Kind.Kind, q.query(); kind {
	case "PodExecOptions":
		return &corev1.PodExecOptions{
			Stdin: isTrue(values["stdin"]), Stdout: isTrue(values["stdout"]), Stderr: isTrue(values["stderr"]), TTY: isTrue(values["tty"]),
			Container: values.Get("container"), Command: values["command"],
		}, nil
	case "PodAttachOptions":
		return &corev1.PodAttachOptions{
			Stdin: isTrue(values["stdin"]), Stdout: isTrue(values["stdout"]), Stderr: isTrue(values["stderr"]), TTY: isTrue(values["tty"]),
			Container: values.Get("container"),
		}, nil
	case "PodPortForwardOptions":
		options := &corev1.PodPortForwardOptions{}
		ports := values["ports"]
		if len(ports) == 0 {
			return options, nil
		}
		return options, metav1.Convert_Slice_string_To_Slice_int32(&ports, &options.Ports, nil)
	case "PodProxyOptions":
		return &corev1.PodProxyOptions{Path: q.proxyPath()}, nil
	case "ServiceProxyOptions":
		return &corev1.ServiceProxyOptions{Path: q.proxyPath()}, nil
	case "NodeProxyOptions":
		return &corev1.NodeProxyOptions{Path: q.proxyPath()}, nil
	default:
		return nil, fmt.Errorf("%s has no options", kind) // a test covers every connection
	}
}

// isTrue returns the value of a boolean parameter, of which the first one counts. Like that of a
// real server, it is true without a value that says otherwise.
func isTrue(values []string) (value bool) {
	if len(values) > 0 {
		_ = runtime.Convert_Slice_string_To_bool(&values, &value, nil) // it returns no errors
	}
	return value
}

// proxyPath returns the path behind a proxy, "" if there is none.
func (q *request) proxyPath() string {
	path := q.info.Parts
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.HasSuffix(q.r.URL.Path, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}
