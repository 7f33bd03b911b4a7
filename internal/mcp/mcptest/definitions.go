package mcptest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// extraDefinition is the tool that the tool change adds and removes.
const extraDefinition = `{"name":"extra","description":"There only after the tool change was called an odd number of times. Echoes.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`

// The descriptions of the generated tools, about as long as real ones.
var (
	verbs = []string{"Search", "List", "Create", "Update", "Delete", "Describe", "Export"}
	nouns = []string{"issues", "documents", "pull requests", "calendar events", "customers", "invoices", "builds", "tables", "messages"}
)

// generatedDefinition returns the definition of tool_000i; the same i always gives the same bytes.
func generatedDefinition(i int) string {
	verb, noun := verbs[i%len(verbs)], nouns[i%len(nouns)]
	return fmt.Sprintf(`{"name":"tool_%04d","title":"%s %s","description":"%s %s in the workspace. `+
		`Returns at most the number of %s given by limit, newest first; use cursor to continue where the last call ended. `+
		`Fails if the workspace does not exist or the caller may not see it.",`+
		`"inputSchema":{"type":"object","properties":{`+
		`"workspace":{"type":"string","description":"Identifier of the workspace, as shown in its address."},`+
		`"query":{"type":"string","description":"Words that the %s have to contain; quotes keep words together."},`+
		`"limit":{"type":"integer","minimum":1,"maximum":%d,"default":20,"description":"Most %s to return."},`+
		`"order":{"type":"string","enum":["newest","oldest","relevance"],"default":"newest"},`+
		`"filters":{"type":"array","description":"Conditions that all have to hold.","items":{"type":"object","properties":{`+
		`"field":{"type":"string"},"op":{"type":"string","enum":["eq","ne","lt","gt","contains"]},"value":{"type":["string","number","boolean"]}},"required":["field","op"]}},`+
		`"cursor":{"type":"string"}},"required":["workspace"]},`+
		`"annotations":{"readOnlyHint":%t,"openWorldHint":true}}`,
		i, verb, noun, verb, noun, noun, noun, 50+i%10*10, noun, i%2 == 0)
}

// badDefinitions returns tool definitions that each break one rule, except the first bad_twice and the last one. A
// client can repair two of them, bad_no_schema and bad_null_schema, and has to drop the other broken ones.
func badDefinitions() []string {
	schema := `"inputSchema":{"type":"object"}`
	return []string{
		`{"description":"has no name",` + schema + `}`,
		`{"name":"",` + schema + `}`,
		`{"name":null,` + schema + `}`,
		`{"name":42,` + schema + `}`,
		`{"name":"` + strings.Repeat("n", 200) + `",` + schema + `}`,
		`{"name":"bad_\u0007_control",` + schema + `}`,
		`{"name":"bad_no_schema","description":"inputSchema is missing"}`,
		`{"name":"bad_null_schema","inputSchema":null}`,
		`{"name":"bad_string_schema","inputSchema":"object"}`,
		`{"name":"bad_array_schema","inputSchema":[]}`,
		`{"name":"bad_twice","description":"first",` + schema + `}`,
		`{"name":"bad_twice","description":"second",` + schema + `}`,
		`{"name":"bad_deep_schema","inputSchema":{"type":"object","properties":` +
			strings.Repeat(`{"p":{"type":"object","properties":`, 100) + `{}` + strings.Repeat(`}}`, 100) + `}}`,
		`{"name":"bad_big","description":"` + strings.Repeat("long ", 300_000) + `",` + schema + `}`,
		`null`,
		`"bad"`,
		`{"name":"good_after_bad","description":"is fine",` + schema + `}`,
	}
}

// ToolDefinitions returns the definitions of the first n tools that the flag --tools lists.
func ToolDefinitions(n int) []json.RawMessage {
	out := make([]json.RawMessage, n)
	for i := range out {
		out[i] = json.RawMessage(generatedDefinition(i + 1))
	}
	return out
}
