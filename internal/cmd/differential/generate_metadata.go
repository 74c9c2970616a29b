package differential

// metadata returns the metadata of an object. name may be "".
func (g *generator) metadata(name string) object {
	m := object{}
	if name != "" {
		m["name"] = name
	}
	for range g.IntN(3) {
		switch g.IntN(22) {
		case 0, 1, 2, 3, 4:
			m["labels"] = pick[any](g.Rand, object{"l": "a"}, object{"l": "b"}, object{"l": "a", "n": "1"}, object{}, nil, object{"l": nil}, object{"-": "a"}, object{"l": number("1")})
		case 5, 6, 7:
			m["annotations"] = pick[any](g.Rand, object{"x": "1"}, object{"x": ""}, object{}, nil, object{"x": nil}, object{"a b": "1"}, object{"example.com/x": "1"})
		case 8, 9:
			m["finalizers"] = pick[any](g.Rand, []any{"example.com/f"}, []any{"example.com/f", "example.com/f"}, []any{}, nil, []any{"bad"}, []any{"example.com/g"}, []any{"foregroundDeletion"})
		case 10, 11:
			m["ownerReferences"] = pick[any](g.Rand, []any{g.owner()}, []any{}, nil, []any{g.owner(), g.owner()}, []any{object{"kind": "A"}})
		case 12:
			m["resourceVersion"] = pick[any](g.Rand, "", "0", "1", "{rv "+g.target.resource+"/"+g.name()+"}", "x")
		case 13:
			m["uid"] = pick[any](g.Rand, "", "x", "{uid "+g.target.resource+"/"+g.name()+"}")
		case 14:
			m["generateName"] = pick[any](g.Rand, "g-", "", "a/b", "A")
		case 15:
			m["namespace"] = pick[any](g.Rand, "{ns}", "", "other")
		case 16:
			m["creationTimestamp"] = pick[any](g.Rand, nil, "2020-01-01T00:00:00Z", "x")
		case 17:
			m["deletionTimestamp"] = pick[any](g.Rand, nil, "2020-01-01T00:00:00Z")
		case 18:
			m["managedFields"] = pick[any](g.Rand, []any{}, nil, []any{object{}}, []any{object{
				"manager": "m3", "operation": pick(g.Rand, "Apply", "Update"), "apiVersion": g.version().name, "time": "2020-01-01T00:00:00Z",
				"fieldsType": "FieldsV1", "fieldsV1": object{"f:metadata": object{"f:labels": object{"f:l": object{}}}},
			}})
		case 19:
			m["selfLink"] = pick[any](g.Rand, "", "/x", nil)
		case 20:
			m["generation"] = pick[any](g.Rand, number("0"), number("7"), number("2.0"), "1")
		case 21:
			m["unknown"] = g.anyValue(1)
		}
	}
	if g.IntN(1000) < g.invalid {
		m[pick(g.Rand, "labels", "annotations", "finalizers", "ownerReferences", "managedFields", "name")] = g.anyValue(2)
	}
	return m
}

// owner returns an ownerReference.
func (g *generator) owner() object {
	o := object{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": pick(g.Rand, "u1", "u2", "{uid "+g.target.resource+"/a}")}
	if g.IntN(3) == 0 {
		o["controller"] = pick[any](g.Rand, true, false, nil)
	}
	if g.IntN(4) == 0 {
		o["blockOwnerDeletion"] = true
	}
	return o
}
