package modelapi

// APIs returns the documented rules of each model API; those that take a schema as it is come first. The caller may
// change the slice and its elements.
func APIs() []API {
	const (
		name   = `^[a-zA-Z0-9_-]{1,64}$`
		google = `^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`
	)
	open := []string{"string", "number", "boolean", "integer", "object", "array", "null"}
	return []API{
		{
			// Function calling, https://platform.openai.com/docs/guides/function-calling; names and the number of
			// functions: https://platform.openai.com/docs/api-reference/chat/create. The length of a description is
			// known from the error for a longer one (string_above_max_length) and from Azure's page on the same API.
			// The keywords of a schema are not checked here: clients such as opencode and the AI SDK only close its
			// objects before sending it.
			Name: "OpenAI", ToolName: name, Description: 1024, Tools: 128, Types: open, Closed: true,
		},
		{
			// Define tools, https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools; names of
			// properties as the Messages API checks them. The root of a schema must not have alternatives (anyOf and
			// the like).
			Name: "Anthropic", ToolName: name, PropertyName: `^[a-zA-Z0-9_.-]{1,64}$`, Types: open,
			RefusedAtRoot: []string{"anyOf", "oneOf", "allOf"}, Closed: true,
		},
		{
			// ToolSpecification,
			// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html.
			Name: "Amazon Bedrock Converse", ToolName: name, Described: true, Types: open,
		},
		{
			// Function calling, https://docs.mistral.ai/capabilities/function_calling; names as in the error for
			// others: a-z, A-Z, 0-9, underscores and dashes, with a maximum length of 64.
			Name: "Mistral", ToolName: name, Types: open,
		},
		{
			// FunctionDeclaration.parametersJsonSchema, https://ai.google.dev/api/caching#FunctionDeclaration;
			// keywords: https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support. Vertex AI
			// requires names to begin with a letter or an underscore.
			Name: "Gemini, parametersJsonSchema", ToolName: google, Tools: 128, Types: open, Closed: true,
			Keywords: []string{
				"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems",
				"maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
			},
		},
		{
			// FunctionDeclaration.parameters and Schema, https://ai.google.dev/api/caching#Schema: a select subset of
			// OpenAPI 3.0, with a type everywhere, objects with properties, lists with items, enums of strings. A
			// function without arguments has no parameters.
			Name: "Gemini, parameters", ToolName: google, PropertyName: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`, Tools: 128,
			Types: []string{"string", "number", "integer", "boolean", "array", "object"}, OpenAPI: true,
			Keywords: []string{
				"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required",
				"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default",
				"items", "minimum", "maximum",
			},
		},
		{
			// Structured Outputs, https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, which
			// strict mode uses: objects are closed, all properties are required, and null stands for a missing value.
			// Since 2025 it accepts 5,000 properties and 10 levels; Azure's page on the same API still says 100 and
			// 5, which are the limits here.
			Name: "OpenAI, strict", ToolName: name, PropertyName: `^.{1,64}$`, Description: 1024, Tools: 128,
			Depth: 5, Properties: 100, Text: 120000, EnumValues: 1000, Types: open, Strict: true,
			Keywords: []string{
				"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description", "title", "pattern",
				"format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems", "maxItems", "$ref", "$defs",
			},
		},
	}
}
