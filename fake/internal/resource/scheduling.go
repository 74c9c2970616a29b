package resource

func schedulingResources() []Resource {
	return []Resource{
		{
			Group: "scheduling.k8s.io", Version: "v1", Plural: "priorityclasses", Kind: "PriorityClass",
			ShortNames:               []string{"pc"},
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
	}
}
