package events

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

const newEvent = `"eventTime": "2031-04-05T06:07:08.000009Z", "reportingComponent": "example.com/c", "reportingInstance": "i", "action": "a", "reason": "r",
	"type": "Normal", "metadata": {"namespace": "default"}`

// parseEvent returns an event with fields of the core group in JSON.
func parseEvent(t *testing.T, fields string) *corev1.Event {
	t.Helper()
	event := &corev1.Event{}
	require.NoError(t, json.Unmarshal([]byte("{"+fields+"}"), event))
	return event
}

func TestValidateNewEvent(t *testing.T) {
	for fields, want := range map[string][]string{
		newEvent: nil,
		newEvent + `, "series": {"count": 2, "lastObservedTime": "2031-04-05T06:07:08.000009Z"}`: nil,
		newEvent + `, "series": {"count": 1}`: {
			`series.count: Invalid value: "": should be at least 2`,
			`series.lastObservedTime: Required value`},
		newEvent + `, "type": "Error", "firstTimestamp": "2031-04-05T06:07:08Z", "lastTimestamp": "2031-04-05T06:07:08Z", "count": 1, "source": {"host": "h"}`: {
			`type: Invalid value: "": has invalid value: Error`,
			`firstTimestamp: Invalid value: "": needs to be unset`,
			`lastTimestamp: Invalid value: "": needs to be unset`,
			`count: Invalid value: "": needs to be unset`,
			`source: Invalid value: "": needs to be unset`},
		newEvent + `, "eventTime": null, "action": ""`: {`eventTime: Required value`},
		newEvent + `, "action": ""`:                    {`action: Required value`},
		newEvent + `, "reportingComponent": "a/b/c"`: {`reportingController: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', ` +
			`and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
			`'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`},
	} {
		validatetest.RequireErrors(t, validateNewEvent(context.Background(), parseEvent(t, fields), nil), want...)
	}
}

func TestValidateEventUpdate(t *testing.T) {
	old := parseEvent(t, newEvent)
	update := func(fields string) field.ErrorList {
		return validateEventUpdate(context.Background(), parseEvent(t, newEvent+fields), old, resource.MetadataErrors{})
	}
	validatetest.RequireErrors(t, update(``))
	validatetest.RequireErrors(t, update(`, "series": {"count": 2, "lastObservedTime": "2031-04-05T06:07:08.000009Z"}`))
	validatetest.RequireErrors(t, update(`, "series": {"count": 1, "lastObservedTime": "2031-04-05T06:07:08.000009Z"}`),
		`series.count: Invalid value: "": should be at least 2`)
	validatetest.RequireErrors(t, update(`, "reason": "s", "message": "m", "source": {"host": "h"}, "count": 1, "type": "Warning", "action": "b", "related": {"name": "n"},
			"reportingComponent": "d", "reportingInstance": "j"`),
		`reason: Invalid value: "s": field is immutable`,
		`message: Invalid value: "m": field is immutable`,
		`source: Invalid value: {"Component":"","Host":"h"}: field is immutable`,
		`count: Invalid value: 1: field is immutable`,
		`reason: Invalid value: "s": field is immutable`,
		`type: Invalid value: "Warning": field is immutable`,
		`action: Invalid value: "b": field is immutable`,
		`related: Invalid value: {"Kind":"","Namespace":"","Name":"n","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable`,
		`reportingController: Invalid value: "d": field is immutable`,
		`reportingInstance: Invalid value: "j": field is immutable`)
	validatetest.RequireErrors(t, update(`, "involvedObject": {"name": "n"}, "eventTime": "2031-04-05T06:07:09.000000Z",
			"firstTimestamp": "2031-04-05T06:07:08Z", "lastTimestamp": "2031-04-05T06:07:08Z"`),
		`involvedObject: Invalid value: {"Kind":"","Namespace":"","Name":"n","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable`,
		`firstTimestamp: Invalid value: "2031-04-05T06:07:08Z": field is immutable`,
		`lastTimestamp: Invalid value: "2031-04-05T06:07:08Z": field is immutable`,
		`eventTime: Invalid value: "2031-04-05T06:07:09.000000Z": field is immutable`)
}
