package av

import "maps"

// object is a JSON object with members that this package may not know, such as a column or view. They are kept as they
// are.
type object map[string]any

// str returns the text at a key, "" if there is none.
func (o object) str(key string) string {
	text, _ := o[key].(string)
	return text
}

// flag returns the boolean at a key, false if there is none.
func (o object) flag(key string) bool {
	b, _ := o[key].(bool)
	return b
}

// num returns the number at a key, or otherwise if there is none.
func (o object) num(key string, otherwise int) int {
	switch n := o[key].(type) {
	case float64:
		return int(n)
	case int:
		return n
	}
	return otherwise
}

// at returns the object at a key, nil if there is none.
func (o object) at(key string) object { return asObject(o[key]) }

// list returns the list at a key, nil if there is none.
func (o object) list(key string) []any {
	list, _ := o[key].([]any)
	return list
}

// objects returns the objects in the list at a key.
func (o object) objects(key string) []object {
	var list []object
	for _, item := range o.list(key) {
		if inner := asObject(item); inner != nil {
			list = append(list, inner)
		}
	}
	return list
}

// strs returns the texts in the list at a key.
func (o object) strs(key string) []string {
	var texts []string
	for _, item := range o.list(key) {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// with returns a copy of o to which the members of others were added.
func (o object) with(others ...object) object {
	c := maps.Clone(o)
	if c == nil {
		c = object{}
	}
	for _, other := range others {
		maps.Copy(c, other)
	}
	return c
}

// asObject returns a JSON object, nil for any other value.
func asObject(v any) object {
	switch inner := v.(type) {
	case map[string]any:
		return inner
	case object:
		return inner
	}
	return nil
}

// anys returns texts as a list in an object.
func anys(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}
