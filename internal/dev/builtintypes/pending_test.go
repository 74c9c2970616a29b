package builtintypes

// pending lists the cases that do not pass yet, by what they wait for.
var pending = map[string][]string{
	"admission plugins": {
		"node-not-ready-taint",
		"ingress-default-class",
		"pod-service-account-default",
		"pod-service-account-token-volume",
		"pod-service-account-token-not-where-something-is-mounted",
		"pod-service-account-pull-secrets",
		"pod-overrides-service-account-that-mounts-nothing",
		"pod-default-tolerations",
		"pod-default-tolerations-come-after-its-own",
		"pod-priority-default",
		"pod-priority-of-class",
		"pod-limit-range-defaults",
		"pod-limit-range-fills-only-what-is-missing",
		"pod-runtime-class-missing-is-refused",
		"pvc-protection-finalizer",
		"pvc-default-storage-class",
	},
}
