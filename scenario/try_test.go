package scenario_test

import (
	"testing"
	"time"

	"example.com/fakeapi/scenario"
)

func TestTry(t *testing.T) {
	steps, err := scenario.Parse(`
watch w cm
watch old cm --from 1
expect events old ERROR Expired END
apply a.yaml
fault behind: when verb(list) && first(2) do status(504, Timeout, cause(ResourceVersionTooLarge, "Too large resource version"), retryAfter(1s))
expect list ConfigMap a
expect hits behind 2
advance 2m
fault drop: when event(BOOKMARK) && !initialEventsEnd do drop
advance 2m
expect events w ADDED a BOOKMARK BOOKMARK BOOKMARK
expect hits drop 1
apply a.yaml
delete cm/a
eventually 30s expect absent cm/a
fault lost: when verb(create) && during(committed) && first(1) do reset
expect error EOF apply a.yaml
expect cm/a data.k=1 data={"k":"1"}
expect events w DELETED a ADDED a
-- a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {k: "1"}
`)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	log := scenario.Run(t, scenario.Config{}, steps...)
	t.Log(time.Since(start))
	t.Log("\n" + log.String())
}
