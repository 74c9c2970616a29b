package mutants

// representations are mutants of the forms and encodings of answers.
func representations() []Mutant {
	const negotiate = "fake/internal/negotiate/negotiate.go"
	const represent = "fake/internal/represent/"
	return []Mutant{
		{"TB-05", "always-an-object", "shows objects in a Table to those who want none",
			represent + "table.go", `case metav1.IncludeNone:
`, `case metav1.IncludeNone:
		t.object = t.partial
`, nil},
		{"TB-07", "no-columns-of-its-own", "ignores the additionalPrinterColumns of a definition",
			represent + "table.go", `p, _ := table.Custom(r.Custom.Spec().AdditionalPrinterColumns)`, `p, _ := table.Custom(nil)`, nil},
		{"TB-10", "tables-in-protobuf", "takes an Accept of Tables in protobuf",
			negotiate, `return out, e != Part && media != Protobuf && media != CBOR`, `return out, e != Part && media != CBOR`, nil},
		{"PM-01", "partial-is-whole", "shows all of an object where only its metadata is wanted",
			represent + "represent.go", `obj = meta.AsPartialObjectMetadata(m)`, `_ = m`, nil},
		{"PM-03", "list-as-an-object", "answers a list to those who want one object",
			verbs + "transform.go", `if q.out.Form == negotiate.Partial {`, `if q.out.Form == negotiate.Partial && q.res == nil {`, nil},
		{"PM-04", "object-as-a-list", "answers an object to those who want a list",
			verbs + "transform.go", `case q.out.Form == negotiate.PartialList:`, `case q.out.Form == negotiate.PartialList && q.res == nil:`, nil},
		{"PB-02", "other-magic", "begins messages in protobuf with other bytes",
			"fake/internal/codec/protobuf.go", `b = append(b, magic...)`, `b = append(b, "k8s\x01"...)`, []string{"WA"}},
		{"PB-02", "kind-and-version-swapped", "swaps kind and apiVersion in the envelope of protobuf",
			"fake/internal/codec/protobuf.go", `b = append(b, magic...)
`, `apiVersion, kind = kind, apiVersion
	b = append(b, magic...)
`, []string{"WA"}},
		{"CB-02", "no-sequence", "calls a watch in CBOR one item",
			negotiate, `return TypeCBORSequence`, `return TypeCBOR`, nil},
		{"CB-01", "cbor-unasked", "reads bodies in CBOR though it is switched off",
			negotiate, `for media := JSON; media <= offered.last; media++ {
			if media.String() == name {`, `for media := JSON; media <= CBOR; media++ {
			if media.String() == name {`, nil},
		{"CN-03", "json-is-acceptable", "answers in JSON to those who do not accept it",
			negotiate, `return Output{}, status.NotAcceptable(offered.object)`, `return Output{Media: JSON}, nil`, []string{"PB", "TB"}},
		{"CN-04", "first-come", "ignores the quality values of Accept",
			negotiate, `for _, clause := range goautoneg.ParseAccept(header) {
		for media := JSON; media <= offered.last; media++ {
			if !matches`, `for _, clause := range goautoneg.ParseAccept(strings.ReplaceAll(header, "q=", "r=")) {
		for media := JSON; media <= offered.last; media++ {
			if !matches`, nil},
		{"CN-05", "never-pretty", "does not indent",
			represent + "represent.go", `case out.Pretty:`, `case out.Pretty && out.Form == negotiate.Aggregated:`, nil},
		{"CR-08", "any-body-is-json", "reads bodies of an unknown type as JSON",
			negotiate, `return JSON, status.UnsupportedMediaType(offered.object)`, `return JSON, nil`, nil},
		{"HT-02", "never-compressed", "does not compress large answers",
			"fake/internal/compress/compress.go", `if strings.TrimSpace(item) == encoding {`, `if strings.TrimSpace(item) == "x-"+encoding {`, []string{"SI"}},
		{"HT-03", "always-compressed", "compresses small answers",
			"fake/internal/compress/compress.go", `long := err == nil && size > Threshold`, `long := err == nil && size > 0`, nil},
	}
}
