package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// This file reads YAML.

// maxNodes bounds the values of a YAML text, with aliases expanded.
const maxNodes = 200_000

// fromYAML converts YAML to JSON. Several documents in one text are merged at the top level: later members replace
// earlier ones.
func fromYAML(text []byte) (json.RawMessage, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	c := yamlConverter{remaining: maxNodes}
	out := orderedObject{}
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out.json(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("the file is not YAML: %w", err)
		}
		v, err := c.value(&doc, 0)
		if err != nil {
			return nil, err
		}
		if o, ok := v.(*orderedObject); ok {
			out.merge(o)
		} else if v != nil {
			return nil, errors.New("expected an object at the top")
		}
	}
}

type yamlConverter struct{ remaining int }

// value converts a node to an *orderedObject, a []any, a scalar or nil.
func (c *yamlConverter) value(n *yaml.Node, depth int) (any, error) {
	if c.remaining--; c.remaining < 0 {
		return nil, fmt.Errorf("the file has more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("the file is nested deeper than %d levels", maxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil //nolint:nilnil // an empty document is null
		}
		return c.value(n.Content[0], depth+1)
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := c.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return c.mapping(n, depth)
	case yaml.ScalarNode:
	}
	return scalarValue(n), nil
}

func (c *yamlConverter) mapping(n *yaml.Node, depth int) (any, error) {
	out := &orderedObject{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, err := c.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if from, ok := v.(*orderedObject); ok && n.Content[i].Tag == "!!merge" {
			for _, m := range from.list {
				if !out.has(m.name) {
					out.set(m.name, m.value)
				}
			}
			continue
		}
		out.set(n.Content[i].Value, v)
	}
	return out, nil
}

// scalarValue keeps numbers and booleans; a scalar of a type that JSON does not have becomes text.
func scalarValue(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}
