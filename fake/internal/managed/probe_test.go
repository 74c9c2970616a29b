package managed

import (
	"fmt"
	"testing"

	"example.com/fakeapi/fake/internal/resource"
)

func TestProbe(t *testing.T) {
	for _, res := range resource.Builtin().All() {
		p := planFor(res)
		fmt.Println(res.GroupVersionKind(), p != nil)
		if p == nil { continue }
		seen := map[*plan]bool{}
		var walk func(p *plan, at string)
		walk = func(p *plan, at string) {
			if seen[p] { return }
			seen[p] = true
			if p.shape == odd { fmt.Println("   odd", at) } else if !p.sound { fmt.Println("   unsound", at) }
			for _, f := range p.fields { walk(f.plan, at+"."+f.name) }
			if p.elem != nil { walk(p.elem, at+"[]") }
		}
		walk(p, "")
	}
}
