package load

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// resource is a kind of objects of which each request is measured on its own: once for each object,
// so that no request finds what the server remembers of an equal one.
type resource struct {
	// name is that of Config.Resources, and kind the beginning of the names of the figures.
	name, kind string
	// group is the path of the group and version, and path that of the collection in a namespace.
	group, path string
	// object returns an object. Its spec differs if change does.
	object func(name string, change int) []byte
	// patch is a merge patch that changes the object, and status one of its status. strategic and
	// operations are a strategic merge patch and a JSON patch. "" is none.
	patch, status, strategic, operations string
	// needsVersion is whether an update needs the resourceVersion, and is left out.
	needsVersion bool
}

// Resources returns the names of the resources that a Config can have.
func Resources() []string {
	var names []string
	for _, r := range resources("") {
		names = append(names, r.name)
	}
	return names
}

// resources returns all resources. group is the API group of the custom resource.
func resources(group string) []resource {
	return []resource{
		{
			name: "configmaps", kind: "configmap", group: "/api/v1", path: "configmaps", patch: `{"data":{"n":"2"}}`,
			strategic: `{"data":{"n":"3"}}`, operations: `[{"op":"replace","path":"/data/n","value":"4"}]`,
			object: func(name string, change int) []byte { return object(name, int64(change)) },
		},
		{
			name: "pods", kind: "pod", group: "/api/v1", path: "pods", object: newPod, patch: `{"metadata":{"labels":{"app":"b"}}}`,
			status:     `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
			strategic:  `{"spec":{"containers":[{"name":"app","image":"app:4"}]}}`,
			operations: `[{"op":"replace","path":"/metadata/labels/app","value":"c"}]`,
		},
		{
			name: "deployments", kind: "deployment", group: "/apis/apps/v1", path: "deployments", object: newDeployment,
			patch: `{"spec":{"replicas":4}}`, status: `{"status":{"observedGeneration":1,"replicas":3}}`,
			strategic:  `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:4"}]}}}}`,
			operations: `[{"op":"replace","path":"/spec/replicas","value":5}]`,
		},
		{
			name: customResource, kind: "custom resource", group: "/apis/" + group + "/v1", path: gauges,
			object: func(name string, change int) []byte { return newGauge(group, name, change) },
			patch:  `{"spec":{"size":2}}`, status: `{"status":{"ready":true}}`, needsVersion: true,
			operations: `[{"op":"replace","path":"/spec/size","value":4}]`,
		},
	}
}

// chosenResources returns the resources of the Config.
func (s *session) chosenResources() []resource {
	return slices.DeleteFunc(resources(s.group()), func(r resource) bool { return !slices.Contains(s.config.Resources, r.name) })
}

// collection returns the path of the objects of a resource in the namespace.
func (s *session) collection(r resource) string {
	return r.group + strings.TrimPrefix(s.namespace, "/api/v1") + "/" + r.path
}

// measureResources measures the requests of the resources of the Config.
func (s *session) measureResources(ctx context.Context) error {
	for _, r := range s.chosenResources() {
		if r.name == customResource {
			if err := s.installDefinition(ctx); err != nil {
				return err
			}
		}
		if err := s.deleteCollection(ctx, s.collection(r)); err != nil { // what delete has left
			return err
		}
		if err := s.measureResource(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// resourceClients is the number of clients that write objects of a resource.
const resourceClients = 4

// measureResource measures the requests of one resource, in the order in which a controller sends
// them: the second apply is the first that changes nothing.
func (s *session) measureResource(ctx context.Context, r resource) error {
	collection := s.collection(r)
	force := "?fieldManager=" + userAgent + "-apply&force=true"
	changed := func(name string) []byte { return r.object(name, 3) }
	for _, request := range []struct {
		name, method, suffix, media string
		body                        func(name string) []byte
	}{
		{"create", http.MethodPost, "", jsonMedia, func(name string) []byte { return r.object(name, 0) }},
		{"get", http.MethodGet, "", "", nil},
		{"update", http.MethodPut, "", jsonMedia, func(name string) []byte { return r.object(name, 1) }},
		{"merge patch", http.MethodPatch, "", mergeMedia, func(string) []byte { return []byte(r.patch) }},
		{"strategic patch", http.MethodPatch, "", strategicMedia, func(string) []byte { return []byte(r.strategic) }},
		{"json patch", http.MethodPatch, "", operationsMedia, func(string) []byte { return []byte(r.operations) }},
		{"status patch", http.MethodPatch, "/status", mergeMedia, func(string) []byte { return []byte(r.status) }},
		{"apply", http.MethodPatch, force, applyMedia, changed},
		{"apply again", http.MethodPatch, force, applyMedia, changed},
	} {
		if request.name == "status patch" && r.status == "" || request.name == "update" && r.needsVersion ||
			request.name == "strategic patch" && r.strategic == "" {
			continue
		}
		if err := s.measure(ctx, job{
			name: r.kind + " " + request.name, resource: r.name, clients: min(resourceClients, s.config.Clients), first: 1, last: s.config.Objects,
			request: func(ctx context.Context, c *client, _, _, n int) error {
				path, body := collection, []byte(nil)
				if request.method != http.MethodPost {
					path += "/" + name(n) + request.suffix
				}
				if request.body != nil {
					body = request.body(name(n))
				}
				return c.do(ctx, request.method, path, request.media, body)
			},
		}); err != nil {
			return err
		}
	}
	if err := s.measureReads(ctx, r, collection); err != nil {
		return err
	}
	return s.deleteCollection(ctx, collection)
}

// reads is how often a collection is read.
const reads = 10

// measureReads measures lists of a collection, and Tables of it.
func (s *session) measureReads(ctx context.Context, r resource, collection string) error {
	for _, read := range []struct{ name, accept string }{
		{" list", jsonMedia},
		{" table", "application/json;as=Table;v=v1;g=meta.k8s.io"},
	} {
		if err := s.measure(ctx, job{
			name: r.kind + read.name, resource: r.name, clients: 1, first: 1, last: reads,
			request: func(ctx context.Context, c *client, _, _, _ int) error {
				return c.accepting(read.accept).do(ctx, http.MethodGet, collection, "", nil)
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// newPodSpec returns the JSON of the spec of a Pod.
func newPodSpec(change int) string {
	return fmt.Sprintf(`{"containers":[{"name":"app","image":"app:%d","command":["/bin/app","--flag=1"],`+
		`"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],`+
		`"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],`+
		`"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m","memory":"128Mi"}},`+
		`"volumeMounts":[{"name":"config","mountPath":"/etc/config"}],`+
		`"livenessProbe":{"httpGet":{"path":"/","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},`+
		`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],`+
		`"volumes":[{"name":"config","configMap":{"name":"config","defaultMode":420}}],`+
		`"restartPolicy":"Always","dnsPolicy":"ClusterFirst","terminationGracePeriodSeconds":30,"securityContext":{},"schedulerName":"default-scheduler"}`, change)
}

func newPod(name string, change int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"a"}},"spec":%s}`, name, newPodSpec(change))
}

func newDeployment(name string, change int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"labels":{"app":"a"}},`+
		`"spec":{"replicas":3,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":%s},`+
		`"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%%","maxUnavailable":"25%%"}},`+
		`"revisionHistoryLimit":10,"progressDeadlineSeconds":600}}`, name, newPodSpec(change))
}
