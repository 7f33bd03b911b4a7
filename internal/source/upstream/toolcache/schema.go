package toolcache

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of the file format, draft 2020-12. The loader's own checks
// are stricter in what a schema cannot say.
func Schema() []byte { return slices.Clone(schema) }
