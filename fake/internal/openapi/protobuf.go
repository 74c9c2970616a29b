package openapi

import (
	"maps"
	"slices"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/ptr"
)

// protobufV2 encodes the v2 document as client-go requests it. gnostic would create the message
// from the JSON, by way of YAML, in several times the time of everything else. Only fields that the
// documents use are written. A test reads the message back and compares it.
func protobufV2(doc *spec.Swagger) []byte {
	message := &openapi_v2.Document{
		Swagger:     doc.Swagger,
		Info:        &openapi_v2.Info{Title: doc.Info.Title, Version: doc.Info.Version},
		Paths:       &openapi_v2.Paths{},
		Definitions: &openapi_v2.Definitions{},
		Parameters:  &openapi_v2.ParameterDefinitions{},
	}
	for _, at := range slices.Sorted(maps.Keys(doc.Paths.Paths)) {
		message.Paths.Path = append(message.Paths.Path, &openapi_v2.NamedPathItem{Name: at, Value: pathMessage(doc.Paths.Paths[at])})
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Definitions)) {
		s := doc.Definitions[name]
		message.Definitions.AdditionalProperties = append(message.Definitions.AdditionalProperties,
			&openapi_v2.NamedSchema{Name: name, Value: schemaMessage(&s)})
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Parameters)) {
		p := doc.Parameters[name]
		message.Parameters.AdditionalProperties = append(message.Parameters.AdditionalProperties,
			&openapi_v2.NamedParameter{Name: name, Value: parameterMessage(&p)})
	}
	addSecurity(message, doc)
	return marshal(message)
}

func addSecurity(message *openapi_v2.Document, doc *spec.Swagger) {
	message.SecurityDefinitions = &openapi_v2.SecurityDefinitions{}
	for _, name := range slices.Sorted(maps.Keys(doc.SecurityDefinitions)) {
		s := doc.SecurityDefinitions[name]
		key := &openapi_v2.ApiKeySecurity{Type: s.Type, Name: s.Name, In: s.In, Description: s.Description}
		message.SecurityDefinitions.AdditionalProperties = append(message.SecurityDefinitions.AdditionalProperties,
			&openapi_v2.NamedSecurityDefinitionsItem{Name: name, Value: &openapi_v2.SecurityDefinitionsItem{
				Oneof: &openapi_v2.SecurityDefinitionsItem_ApiKeySecurity{ApiKeySecurity: key},
			}})
	}
	for _, one := range doc.Security {
		requirement := &openapi_v2.SecurityRequirement{}
		for _, name := range slices.Sorted(maps.Keys(one)) {
			requirement.AdditionalProperties = append(requirement.AdditionalProperties,
				&openapi_v2.NamedStringArray{Name: name, Value: &openapi_v2.StringArray{Value: one[name]}})
		}
		message.Security = append(message.Security, requirement)
	}
}

func pathMessage(p spec.PathItem) *openapi_v2.PathItem {
	return &openapi_v2.PathItem{
		Get: operationMessage(p.Get), Put: operationMessage(p.Put), Post: operationMessage(p.Post),
		Delete: operationMessage(p.Delete), Patch: operationMessage(p.Patch),
		Parameters: parameterItems(p.Parameters),
	}
}

func operationMessage(op *spec.Operation) *openapi_v2.Operation {
	if op == nil {
		return nil
	}
	responses := &openapi_v2.Responses{}
	for _, code := range slices.Sorted(maps.Keys(op.Responses.StatusCodeResponses)) {
		r := op.Responses.StatusCodeResponses[code]
		message := &openapi_v2.Response{Description: r.Description}
		if r.Schema != nil {
			message.Schema = &openapi_v2.SchemaItem{Oneof: &openapi_v2.SchemaItem_Schema{Schema: schemaMessage(r.Schema)}}
		}
		responses.ResponseCode = append(responses.ResponseCode, &openapi_v2.NamedResponseValue{
			Name: string(encode(code)), Value: &openapi_v2.ResponseValue{Oneof: &openapi_v2.ResponseValue_Response{Response: message}},
		})
	}
	return &openapi_v2.Operation{
		Tags: op.Tags, Description: op.Description, OperationId: op.ID, Schemes: op.Schemes,
		Consumes: op.Consumes, Produces: op.Produces, Responses: responses,
		Parameters: parameterItems(op.Parameters), VendorExtension: extensionMessages(op.Extensions),
	}
}

func parameterItems(all []spec.Parameter) []*openapi_v2.ParametersItem {
	items := make([]*openapi_v2.ParametersItem, 0, len(all))
	for i := range all {
		p := &all[i]
		if ref := p.Ref.String(); ref != "" {
			items = append(items, &openapi_v2.ParametersItem{Oneof: &openapi_v2.ParametersItem_JsonReference{
				JsonReference: &openapi_v2.JsonReference{XRef: ref},
			}})
			continue
		}
		items = append(items, &openapi_v2.ParametersItem{Oneof: &openapi_v2.ParametersItem_Parameter{Parameter: parameterMessage(p)}})
	}
	return items
}

// parameterMessage encodes a body, path or query parameter.
func parameterMessage(p *spec.Parameter) *openapi_v2.Parameter {
	var other openapi_v2.NonBodyParameter
	switch p.In {
	case "body":
		return &openapi_v2.Parameter{Oneof: &openapi_v2.Parameter_BodyParameter{BodyParameter: &openapi_v2.BodyParameter{
			Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, Schema: schemaMessage(p.Schema),
		}}}
	case "path":
		other.Oneof = &openapi_v2.NonBodyParameter_PathParameterSubSchema{PathParameterSubSchema: &openapi_v2.PathParameterSubSchema{
			Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, Type: p.Type, Format: p.Format, UniqueItems: p.UniqueItems,
		}}
	case "query":
		other.Oneof = &openapi_v2.NonBodyParameter_QueryParameterSubSchema{QueryParameterSubSchema: &openapi_v2.QueryParameterSubSchema{
			Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, Type: p.Type, Format: p.Format, UniqueItems: p.UniqueItems,
		}}
	}
	return &openapi_v2.Parameter{Oneof: &openapi_v2.Parameter_NonBodyParameter{NonBodyParameter: &other}}
}

func schemaMessage(s *spec.Schema) *openapi_v2.Schema {
	message := &openapi_v2.Schema{
		XRef: s.Ref.String(), Format: s.Format, Description: s.Description, Required: s.Required,
		VendorExtension: extensionMessages(s.Extensions),
	}
	if len(s.Type) > 0 {
		message.Type = &openapi_v2.TypeItem{Value: s.Type}
	}
	for _, value := range s.Enum {
		message.Enum = append(message.Enum, anyMessage(value))
	}
	if s.Items != nil {
		message.Items = &openapi_v2.ItemsItem{Schema: []*openapi_v2.Schema{schemaMessage(s.Items.Schema)}}
	}
	if more := s.AdditionalProperties; more != nil {
		message.AdditionalProperties = &openapi_v2.AdditionalPropertiesItem{
			Oneof: &openapi_v2.AdditionalPropertiesItem_Boolean{Boolean: more.Allows},
		}
		if more.Schema != nil {
			message.AdditionalProperties.Oneof = &openapi_v2.AdditionalPropertiesItem_Schema{Schema: schemaMessage(more.Schema)}
		}
	}
	if len(s.Properties) > 0 {
		message.Properties = &openapi_v2.Properties{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			message.Properties.AdditionalProperties = append(message.Properties.AdditionalProperties,
				&openapi_v2.NamedSchema{Name: name, Value: schemaMessage(&p)})
		}
	}
	addLimits(message, s)
	return message
}

// addLimits adds what only schemas of custom resources have.
func addLimits(message *openapi_v2.Schema, s *spec.Schema) {
	message.Title, message.Pattern, message.UniqueItems = s.Title, s.Pattern, s.UniqueItems
	message.ExclusiveMaximum, message.ExclusiveMinimum = s.ExclusiveMaximum, s.ExclusiveMinimum
	message.Maximum, message.Minimum, message.MultipleOf = ptr.Deref(s.Maximum, 0), ptr.Deref(s.Minimum, 0), ptr.Deref(s.MultipleOf, 0)
	message.MaxLength, message.MinLength = ptr.Deref(s.MaxLength, 0), ptr.Deref(s.MinLength, 0)
	message.MaxItems, message.MinItems = ptr.Deref(s.MaxItems, 0), ptr.Deref(s.MinItems, 0)
	message.MaxProperties, message.MinProperties = ptr.Deref(s.MaxProperties, 0), ptr.Deref(s.MinProperties, 0)
	if s.Example != nil {
		message.Example = anyMessage(s.Example)
	}
	if docs := s.ExternalDocs; docs != nil {
		message.ExternalDocs = &openapi_v2.ExternalDocs{Description: docs.Description, Url: docs.URL}
	}
}

func extensionMessages(extensions spec.Extensions) []*openapi_v2.NamedAny {
	var all []*openapi_v2.NamedAny
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		all = append(all, &openapi_v2.NamedAny{Name: name, Value: anyMessage(extensions[name])})
	}
	return all
}

// anyMessage returns a value as YAML. JSON is YAML.
func anyMessage(value any) *openapi_v2.Any {
	return &openapi_v2.Any{Yaml: string(encode(value)) + "\n"}
}
