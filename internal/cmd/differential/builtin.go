package differential

import "encoding/json"

// configMapSchema returns the schema by which ConfigMaps are made.
func configMapSchema() object {
	text := object{"type": "string"}
	return object{"type": "object", "properties": object{
		"data":       object{"type": "object", "additionalProperties": text},
		"binaryData": object{"type": "object", "additionalProperties": object{"type": "string", "enum": []any{"YQ=="}}},
		"immutable":  object{"type": "boolean"},
	}}
}

// deploymentSchema returns the schema by which Deployments are made. All fields that have defaults
// are required and have one value, so that a server without defaults stores the same object.
func deploymentSchema() object {
	container := fixed(object{
		"name": "c", "image": "i", "resources": object{}, "imagePullPolicy": "Always",
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	})
	labels := fixed(object{"app": "a"})
	template := required(object{
		"metadata": required(object{"labels": labels}),
		"spec": required(object{
			"containers":    object{"type": "array", "fixed": []any{container["fixed"]}},
			"restartPolicy": fixed("Always"), "dnsPolicy": fixed("ClusterFirst"), "schedulerName": fixed("default-scheduler"),
			"securityContext": fixed(object{}), "terminationGracePeriodSeconds": fixed(json.Number("30")),
		}),
	})
	spec := required(object{
		"replicas": object{"type": "integer"}, "selector": required(object{"matchLabels": labels}), "template": template,
		"strategy": fixed(object{"type": "Recreate"}), "revisionHistoryLimit": fixed(json.Number("10")), "progressDeadlineSeconds": fixed(json.Number("600")),
		"paused": fixed(true), // so that no Pods are created
	})
	spec["properties"].(object)["minReadySeconds"] = object{"type": "integer"}
	status := object{"type": "object", "properties": object{
		"replicas": object{"type": "integer"}, "observedGeneration": object{"type": "integer"},
		"conditions": object{"type": "array", "items": required(object{"type": fixed("Available"), "status": object{"type": "string"}})},
	}}
	s := required(object{"spec": spec})
	s["properties"].(object)["status"] = status
	return s
}

// fixed returns a schema with one value.
func fixed(value any) object { return object{"fixed": value} }

// required returns the schema of an object with these properties, all of which are required.
func required(properties object) object {
	names := []any{}
	for _, name := range sortedKeys(properties) {
		names = append(names, name)
	}
	return object{"type": "object", "properties": properties, "required": names}
}
