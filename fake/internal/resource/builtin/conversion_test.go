package builtin

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

var (
	coreV1   = corev1.SchemeGroupVersion
	eventsV1 = eventsv1.SchemeGroupVersion
	hpaV1    = autoscalingv1.SchemeGroupVersion
	hpaV2    = autoscalingv2.SchemeGroupVersion
)

func TestConvertIdentity(t *testing.T) {
	pods := Table().Lookup("", "v1", "pods")
	pod := &corev1.Pod{}
	out, err := pods.Convert(pod, coreV1)
	require.NoError(t, err)
	require.Same(t, pod, out)

	events := Table().Lookup("events.k8s.io", "v1", "events")
	stored := &corev1.Event{}
	out, err = events.Convert(stored, coreV1)
	require.NoError(t, err)
	require.Same(t, stored, out)
}

func TestConvertErrors(t *testing.T) {
	pods := Table().Lookup("", "v1", "pods")
	_, err := pods.Convert(&corev1.ConfigMap{}, coreV1)
	require.EqualError(t, err, "pods of v1 cannot be converted from *v1.ConfigMap to v1")
	_, err = pods.Convert(&corev1.Pod{}, eventsV1)
	require.Error(t, err)
	events := Table().Lookup("events.k8s.io", "v1", "events")
	_, err = events.Convert(&corev1.Event{}, hpaV1)
	require.Error(t, err)
	_, err = events.Convert(&eventsv1.EventList{}, coreV1)
	require.Error(t, err)
}

// Every field of an event has a counterpart in the other version, and the results share no memory
// with the sources.
func TestConvertEventRoundTrip(t *testing.T) {
	events := Table().Lookup("events.k8s.io", "v1", "events")
	fill := randfill.NewWithSeed(1).NilChance(0.2).MaxDepth(8).Funcs(
		func(at *metav1.Time, c randfill.Continue) { at.Time = time.Unix(c.Int63n(1e9), 0) },
		func(at *metav1.MicroTime, c randfill.Continue) { at.Time = time.UnixMicro(c.Int63n(1e15)) },
	)
	for range 200 {
		in := &eventsv1.Event{}
		fill.Fill(in)
		in.SetGroupVersionKind(eventsV1.WithKind("Event"))
		before := in.DeepCopy()

		stored, err := events.Convert(in, coreV1)
		require.NoError(t, err)
		require.Equal(t, coreV1.WithKind("Event"), stored.GetObjectKind().GroupVersionKind())
		out, err := events.Convert(stored, eventsV1)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(before, out))

		stored.(*corev1.Event).Labels = map[string]string{"changed": "yes"}
		if related := stored.(*corev1.Event).Related; related != nil {
			related.Name = "changed"
		}
		require.Empty(t, cmp.Diff(before, in))
	}
}

func TestConvertEventFields(t *testing.T) {
	events := Table().Lookup("events.k8s.io", "v1", "events")
	stored := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web"},
		Message:        "pulled", Source: corev1.EventSource{Component: "kubelet"}, Count: 3,
		ReportingController: "kubelet", FirstTimestamp: metav1.Unix(1, 0), LastTimestamp: metav1.Unix(2, 0),
		Series: &corev1.EventSeries{Count: 4, LastObservedTime: metav1.NewMicroTime(time.Unix(3, 0))},
	}
	out, err := events.Convert(stored, eventsV1)
	require.NoError(t, err)
	want := &eventsv1.Event{
		TypeMeta:  metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"},
		Regarding: corev1.ObjectReference{Kind: "Pod", Name: "web"},
		Note:      "pulled", DeprecatedSource: corev1.EventSource{Component: "kubelet"}, DeprecatedCount: 3,
		ReportingController: "kubelet", DeprecatedFirstTimestamp: metav1.Unix(1, 0), DeprecatedLastTimestamp: metav1.Unix(2, 0),
		Series: &eventsv1.EventSeries{Count: 4, LastObservedTime: metav1.NewMicroTime(time.Unix(3, 0))},
	}
	require.Empty(t, cmp.Diff(want, out))
}

// newHPA returns an autoscaler with every kind of metric. The CPU metric, for which v1 has a field,
// is the last one, where the conversion from v1 puts it.
func newHPA() *autoscalingv2.HorizontalPodAutoscaler {
	quantity := func(s string) *resource.Quantity { return new(resource.MustParse(s)) }
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "mail"}}
	target := autoscalingv2.CrossVersionObjectReference{Kind: "Ingress", Name: "main", APIVersion: "networking.k8s.io/v1"}
	requests := autoscalingv2.MetricIdentifier{Name: "requests", Selector: selector}
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"team": "a"}},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web", APIVersion: "apps/v1"},
			MinReplicas:    new(int32(2)),
			MaxReplicas:    9,
			Metrics: []autoscalingv2.MetricSpec{
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "memory", Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("1Gi")}}},
				{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: "app", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(50))}}},
				{Type: "Pods", Pods: &autoscalingv2.PodsMetricSource{Metric: requests, Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("10")}}},
				{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{DescribedObject: target, Metric: requests, Target: autoscalingv2.MetricTarget{Type: "Value", Value: quantity("100")}}},
				{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{DescribedObject: target, Metric: requests, Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("7")}}},
				{Type: "External", External: &autoscalingv2.ExternalMetricSource{Metric: requests, Target: autoscalingv2.MetricTarget{Type: "Value", Value: quantity("30")}}},
				{Type: "External", External: &autoscalingv2.ExternalMetricSource{Metric: requests, Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("3")}}},
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(75))}}},
			},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
				ScaleUp: &autoscalingv2.HPAScalingRules{
					SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
					Policies:     []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 4, PeriodSeconds: 15}},
					Tolerance:    quantity("100m"),
				},
				ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(60))},
			},
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: new(int64(3)), LastScaleTime: new(metav1.Unix(1e9, 0)), CurrentReplicas: 3, DesiredReplicas: 4,
			CurrentMetrics: []autoscalingv2.MetricStatus{
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricStatus{Name: "cpu", Current: autoscalingv2.MetricValueStatus{AverageUtilization: new(int32(80)), AverageValue: quantity("200m")}}},
				{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Name: "cpu", Container: "app", Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("100m")}}},
				{Type: "Pods", Pods: &autoscalingv2.PodsMetricStatus{Metric: requests, Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("11")}}},
				{Type: "Object", Object: &autoscalingv2.ObjectMetricStatus{DescribedObject: target, Metric: requests, Current: autoscalingv2.MetricValueStatus{Value: quantity("90"), AverageValue: quantity("9")}}},
				{Type: "External", External: &autoscalingv2.ExternalMetricStatus{Metric: requests, Current: autoscalingv2.MetricValueStatus{Value: quantity("31")}}},
			},
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: "AbleToScale", Status: "True", Reason: "Ready", Message: "fine", LastTransitionTime: metav1.Unix(1e9, 0), ObservedGeneration: new(int64(3))},
			},
		},
	}
}

func TestConvertHPARoundTrip(t *testing.T) {
	res := Table().Lookup("autoscaling", "v1", "horizontalpodautoscalers")
	in := newHPA()
	served, err := res.Convert(in, hpaV1)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(newHPA(), in), "the argument is unchanged")
	v1 := served.(*autoscalingv1.HorizontalPodAutoscaler)
	require.Equal(t, int32(75), *v1.Spec.TargetCPUUtilizationPercentage)
	require.Equal(t, int32(80), *v1.Status.CurrentCPUUtilizationPercentage)
	require.Len(t, v1.Annotations, 5)

	out, err := res.Convert(served, hpaV2)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(in, out))
}

// The annotations are those of a real server.
func TestConvertHPAAnnotations(t *testing.T) {
	res := Table().Lookup("autoscaling", "v1", "horizontalpodautoscalers")
	in := newHPA()
	in.Spec.Metrics = in.Spec.Metrics[:1]
	in.Status.CurrentMetrics = in.Status.CurrentMetrics[:1]
	in.Spec.Behavior.ScaleUp.Tolerance = nil
	in.Annotations["autoscaling.alpha.kubernetes.io/metrics"] = "set by a client of v1"
	served, err := res.Convert(in, hpaV1)
	require.NoError(t, err)
	v1 := served.(*autoscalingv1.HorizontalPodAutoscaler)
	require.Nil(t, v1.Spec.TargetCPUUtilizationPercentage)
	require.Equal(t, map[string]string{
		"team": "a",
		"autoscaling.alpha.kubernetes.io/metrics":         `[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]`,
		"autoscaling.alpha.kubernetes.io/current-metrics": `[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":80,"currentAverageValue":"200m"}}]`,
		"autoscaling.alpha.kubernetes.io/conditions":      `[{"type":"AbleToScale","status":"True","lastTransitionTime":"2001-09-09T01:46:40Z","reason":"Ready","message":"fine","observedGeneration":3}]`,
		"autoscaling.alpha.kubernetes.io/behavior": `{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},` +
			`"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":null,"Policies":null,"Tolerance":null}}`,
	}, v1.Annotations)
}

// The first utilization of CPU is the target of v1, and other targets of CPU stay in the
// annotation.
func TestConvertHPATargets(t *testing.T) {
	cpu := func(target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: target}}
	}
	in := newHPA()
	in.Spec.Metrics = []autoscalingv2.MetricSpec{
		cpu(autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: resource.NewQuantity(2, resource.DecimalSI)}),
		cpu(autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(70))}),
		cpu(autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(90))}),
	}
	served, err := Table().Lookup("autoscaling", "v1", "horizontalpodautoscalers").Convert(in, hpaV1)
	require.NoError(t, err)
	v1 := served.(*autoscalingv1.HorizontalPodAutoscaler)
	require.EqualValues(t, 70, *v1.Spec.TargetCPUUtilizationPercentage)
	require.JSONEq(t, `[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"2"}}]`, v1.Annotations["autoscaling.alpha.kubernetes.io/metrics"])
}

func TestConvertHPAFromV1(t *testing.T) {
	res := Table().Lookup("autoscaling", "v1", "horizontalpodautoscalers")
	cpu := func(percent int32) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{
			Name: "cpu", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: &percent},
		}}
	}
	memory := autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{
		Name: "memory", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(60))},
	}}
	note := `[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":60}}]`
	for name, c := range map[string]struct {
		target *int32
		note   string
		want   []autoscalingv2.MetricSpec
	}{
		"no metric: 80 percent":       {nil, "", []autoscalingv2.MetricSpec{cpu(80)}},
		"a target":                    {new(int32(50)), "", []autoscalingv2.MetricSpec{cpu(50)}},
		"other metrics only":          {nil, note, []autoscalingv2.MetricSpec{memory}},
		"the target after the others": {new(int32(50)), note, []autoscalingv2.MetricSpec{memory, cpu(50)}},
		"invalid annotation":          {nil, "[{", []autoscalingv2.MetricSpec{cpu(80)}},
	} {
		t.Run(name, func(t *testing.T) {
			in := &autoscalingv1.HorizontalPodAutoscaler{Spec: autoscalingv1.HorizontalPodAutoscalerSpec{TargetCPUUtilizationPercentage: c.target}}
			in.Annotations = map[string]string{"kept": "yes"}
			if c.note != "" {
				in.Annotations["autoscaling.alpha.kubernetes.io/metrics"] = c.note
			}
			out, err := res.Convert(in, hpaV2)
			require.NoError(t, err)
			v2 := res.Canonical(out).(*autoscalingv2.HorizontalPodAutoscaler)
			require.Empty(t, cmp.Diff(c.want, v2.Spec.Metrics))
			require.Equal(t, map[string]string{"kept": "yes"}, v2.Annotations)
			require.Nil(t, v2.Spec.Behavior)
		})
	}

	in := &autoscalingv1.HorizontalPodAutoscaler{Status: autoscalingv1.HorizontalPodAutoscalerStatus{CurrentCPUUtilizationPercentage: new(int32(33))}}
	in.Annotations = map[string]string{"autoscaling.alpha.kubernetes.io/behavior": "{}"}
	out, err := res.Convert(in, hpaV2)
	require.NoError(t, err)
	v2 := out.(*autoscalingv2.HorizontalPodAutoscaler)
	require.Equal(t, int32(33), *v2.Status.CurrentMetrics[0].Resource.Current.AverageUtilization)
	require.Nil(t, v2.Spec.Behavior, fmt.Sprint(v2.Spec.Behavior))
}
