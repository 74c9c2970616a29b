package handlers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	netutils "k8s.io/utils/net"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
)

// rejectConnection returns the error of a request that only a kubelet or a workload can answer:
// that of an invalid request, that of admission, that of a missing permission, object, container or
// node or, otherwise, status.KubeletRequired.
func (a *API) rejectConnection(q *request) error {
	options, err := a.reviewConnect(q)
	if err != nil {
		return err
	}
	if q.sub.Name == "proxy" {
		return a.rejectProxy(q)
	}
	if err := a.authorizeConnection(q); err != nil {
		return err
	}
	pod, err := a.getPod(q)
	if err != nil {
		return err
	}
	switch o := options.(type) {
	case *corev1.PodExecOptions:
		err = checkContainer(pod, o.Container)
	case *corev1.PodAttachOptions:
		err = checkContainer(pod, o.Container)
	}
	switch {
	case err != nil:
		return err
	case isUnscheduled(pod):
		return apierrors.NewBadRequest("pod " + pod.Name + " does not have a host assigned")
	}
	return a.rejectKubeletRequest(q, pod)
}

// rejectKubeletRequest returns the error of a request to the kubelet of pod: that of a node that
// does not exist or, otherwise, status.KubeletRequired.
func (a *API) rejectKubeletRequest(q *request, pod *corev1.Pod) error {
	if pod.Spec.NodeName != "" {
		if _, err := a.getCore("nodes", "", pod.Spec.NodeName); err != nil {
			return err
		}
	}
	return status.KubeletRequired(q.res.Plural + "/" + q.sub.Name)
}

// rejectProxy is rejectConnection for a proxy, after admission.
func (a *API) rejectProxy(q *request) error {
	// The name can have a scheme and a port, as in https:web:8443.
	_, name, port, ok := utilnet.SplitSchemeNamePort(q.info.Name)
	if !ok {
		return apierrors.NewBadRequest("invalid " + q.res.Singular + " request \"" + q.info.Name + "\"")
	}
	if q.res.Plural == "services" {
		if err := a.checkEndpoints(q.namespace(), name, port); err != nil {
			return err
		}
		return status.KubeletRequired(q.res.Plural + "/" + q.sub.Name)
	}
	obj, err := a.getStored(q.res, q.namespace(), name)
	if err != nil {
		return err
	}
	if pod, ok := obj.(*corev1.Pod); ok && !hasProxyAddress(pod) {
		return apierrors.NewBadRequest("address not allowed")
	}
	return status.KubeletRequired(q.res.Plural + "/" + q.sub.Name)
}

// hasProxyAddress reports whether a proxy may send requests to the address of pod. Fixtures that
// are said to run may have no address, unlike pods of a cluster.
func hasProxyAddress(pod *corev1.Pod) bool {
	address := pod.Status.PodIP
	if address == "" && len(pod.Status.PodIPs) > 0 {
		address = pod.Status.PodIPs[0].IP
	}
	if address == "" {
		return pod.Status.Phase != corev1.PodPending
	}
	ip := netutils.ParseIPSloppy(address)
	return ip != nil && ip.IsGlobalUnicast()
}

// checkEndpoints returns the error of a proxy to a Service that has no endpoint for a port, which
// is the name or the number of one of its ports. The Service itself is read only for a number.
func (a *API) checkEndpoints(namespace, name, port string) error {
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		obj, err := a.getCore("services", namespace, name)
		if err != nil {
			return err
		}
		ports := obj.(*corev1.Service).Spec.Ports
		i := slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return int64(p.Port) == number })
		if i < 0 {
			return apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, name))
		}
		port = ports[i].Name
	}
	res := a.types.Table().Lookup(discoveryv1.GroupName, "v1", "endpointslices")
	for rec := range a.store.View().Range(codec.Key(res, namespace, ""), "") {
		if service, _ := rec.Labels.Get(discoveryv1.LabelServiceName); service != name {
			continue
		}
		obj, err := a.store.Decode(res, rec)
		if err != nil {
			return err
		}
		if a.hasProxyEndpoint(obj.(*discoveryv1.EndpointSlice), port) {
			return nil
		}
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
}

// hasProxyEndpoint reports whether a slice has a port with a name, and a ready endpoint that is the
// address of a pod.
func (a *API) hasProxyEndpoint(slice *discoveryv1.EndpointSlice, port string) bool {
	return slices.ContainsFunc(slice.Ports, func(p discoveryv1.EndpointPort) bool {
		return p.Name != nil && *p.Name == port && p.Port != nil
	}) && slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
		return (e.Conditions.Ready == nil || *e.Conditions.Ready) && a.isAddressOfPod(e, slice.Namespace)
	})
}

// isAddressOfPod reports whether the target of an endpoint is a pod in namespace with its address.
func (a *API) isAddressOfPod(e discoveryv1.Endpoint, namespace string) bool {
	if e.TargetRef == nil || e.TargetRef.Namespace != namespace || len(e.Addresses) == 0 {
		return false
	}
	obj, err := a.getCore("pods", namespace, e.TargetRef.Name)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(obj.(*corev1.Pod).Status.PodIPs, func(ip corev1.PodIP) bool { return ip.IP == e.Addresses[0] })
}

// getPod returns the pod that a subresource is of.
func (a *API) getPod(q *request) (*corev1.Pod, error) {
	obj, err := a.getCore("pods", q.namespace(), q.info.Name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Pod), nil
}

// isUnscheduled reports whether pod waits for a node. Fixtures that are said to run may have no
// node, unlike pods of a cluster.
func isUnscheduled(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.Status.Phase == corev1.PodPending
}

// checkContainer returns the error of a request for a container of pod if it is not clear which one
// it is for.
func checkContainer(pod *corev1.Pod, container string) error {
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

// connectOptions returns the options of a connection, which are in the query. That of a proxy is
// the path behind the proxy.
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
