package bootstrappolicy

import rbacv1 "k8s.io/api/rbac/v1"

// userRoles returns the ClusterRoles of users: those of everyone, and those that administrators
// bind.
func userRoles() []rbacv1.ClusterRole {
	return []rbacv1.ClusterRole{
		clusterRole("cluster-admin",
			rule("*", "*", "*"),
			pathRule("*", "*"),
		),
		clusterRole("system:discovery",
			pathRule("get", "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz "+
				"/version /version/"),
		),
		clusterRole("system:monitoring",
			// /flagz is of ComponentFlagz and /statusz of ComponentStatusz, both beta since v1.36.
			pathRule("get", "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz"),
			rule("get", "", "nodes/metrics"),
		),
		clusterRole("system:basic-user",
			rule("create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
			rule("create", "authentication.k8s.io", "selfsubjectreviews"),
		),
		clusterRole("system:public-info-viewer",
			pathRule("get", "/healthz /livez /readyz /version /version/"),
		),
		aggregatedRole("admin"),
		aggregatedTo("admin", aggregatedRole("edit")),
		aggregatedTo("edit", aggregatedRole("view")),
		aggregatedTo("admin", clusterRole("system:aggregate-to-admin",
			rule("create", "authorization.k8s.io", "localsubjectaccessreviews"),
			rule(readWrite, "rbac.authorization.k8s.io", "rolebindings roles"),
		)),
		aggregatedTo("edit", clusterRole("system:aggregate-to-edit",
			rule(read, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
			rule("impersonate", "", "serviceaccounts"),
			rule(write, "", "pods pods/attach pods/exec pods/portforward pods/proxy"),
			rule("create", "", "pods/eviction"),
			rule(write, "", "configmaps persistentvolumeclaims replicationcontrollers "+
				"replicationcontrollers/scale secrets serviceaccounts services services/proxy"),
			rule("create", "", "serviceaccounts/token"),
			rule(write, " events.k8s.io", "events"),
			rule(write, "apps", "daemonsets deployments deployments/rollback deployments/scale replicasets "+
				"replicasets/scale statefulsets statefulsets/scale"),
			rule(write, "autoscaling", "horizontalpodautoscalers"),
			rule(write, "batch", "cronjobs jobs"),
			rule(write, "extensions", "daemonsets deployments deployments/rollback deployments/scale ingresses "+
				"networkpolicies replicasets replicasets/scale replicationcontrollers/scale"),
			rule(write, "policy", "poddisruptionbudgets"),
			rule(write, "networking.k8s.io", "ingresses networkpolicies"),
			rule(readWrite, "coordination.k8s.io", "leases"),
			rule(write, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
		)),
		aggregatedTo("view", clusterRole("system:aggregate-to-view",
			rule(read, "", "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "+
				"replicationcontrollers replicationcontrollers/scale serviceaccounts services "+
				"services/status"),
			rule(read, "", "bindings limitranges namespaces/status pods/log pods/status "+
				"replicationcontrollers/status resourcequotas resourcequotas/status"),
			rule(read, "", "namespaces"),
			rule(read, " events.k8s.io", "events"),
			rule(read, "discovery.k8s.io", "endpointslices"),
			rule(read, "apps", "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "+
				"deployments/status replicasets replicasets/scale replicasets/status "+
				"statefulsets statefulsets/scale statefulsets/status"),
			rule(read, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
			rule(read, "batch", "cronjobs cronjobs/status jobs jobs/status"),
			rule(read, "extensions", "daemonsets daemonsets/status deployments deployments/scale deployments/status "+
				"ingresses ingresses/status networkpolicies replicasets replicasets/scale "+
				"replicasets/status replicationcontrollers/scale"),
			rule(read, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
			rule(read, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
			rule(read, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
		)),
	}
}
