package folder

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
)

// This file reads front matter: the YAML between two lines of dashes at the top of a Markdown file.

const (
	maxFront = 256 << 10 // bytes of front matter
	maxValue = 64 << 10  // bytes of one value with aliases resolved
	// propertiesAttr has, as a JSON object, the values whose keys are not valid names of attributes.
	propertiesAttr = "custom-properties"
)

// frontMatter is the front matter of a file.
type frontMatter struct {
	id, title        string
	created, updated string // yyyyMMddHHmmss, "" if unknown
	sort             int
	sorted           bool
	tags, aliases    []string
	attrs            map[string]string // icon, tags, alias and all others in the document's form
	properties       map[string]string // values whose keys are not valid names of attributes
}

// plainKeys are document attributes that are front matter keys of the same name.
var plainKeys = []string{"icon", "name", "memo", "bookmark", "title-img", "title-empty", "scroll"}

// cutFront splits a file into its front matter and the rest. lines is the number of lines before the rest.
func cutFront(text string) (yamlText, body string, lines int, found bool) {
	first, rest, hasMore := strings.Cut(text, "\n")
	if !hasMore || strings.TrimRight(first, " \t") != "---" {
		return "", text, 0, false
	}
	at := 0
	for n := 2; at <= len(rest); n++ {
		line, _, _ := strings.Cut(rest[at:], "\n")
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			return rest[:at], strings.TrimPrefix(rest[at+len(line):], "\n"), n, true
		}
		if at += len(line) + 1; at > len(rest) {
			break
		}
	}
	return "", text, 0, false
}

// parseFront parses front matter. complain is called for keys that cannot be kept.
func parseFront(text string, complain func(line int, key, why string)) (f frontMatter, err error) {
	f = frontMatter{attrs: map[string]string{}, properties: map[string]string{}}
	if len(text) > maxFront {
		return f, fmt.Errorf("it has %d bytes, the limit is %d", len(text), maxFront)
	}
	defer func() {
		if p := recover(); p != nil { // a third-party parser on untrusted bytes
			err = fmt.Errorf("the YAML cannot be read: %v", p)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return f, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return f, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return f, fmt.Errorf("it is not a mapping of keys to values")
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			complain(key.Line, key.Value, "the key is not text: left out")
			continue
		}
		if hasNonTextKeys(value) { // such as {{date}} in a template
			if line := strings.Split(text, "\n")[value.Line-1]; value.Column <= len(line) && value.Style == yaml.FlowStyle {
				value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(line[value.Column-1:]), Line: value.Line}
			}
		}
		if why := f.set(key.Value, value); why != "" {
			complain(key.Line, key.Value, why)
		}
	}
	if hasComment(&doc) {
		complain(1, "#", "comments in front matter are left out")
	}
	return f, nil
}

// storeProperties stores the values whose keys are not valid attribute names as one JSON attribute.
func (f *frontMatter) storeProperties() {
	if len(f.properties) > 0 {
		data, _ := json.Marshal(f.properties) // cannot fail; encoding sorts the keys
		f.attrs[propertiesAttr] = string(data)
	}
}

// hasNonTextKeys reports whether a mapping has keys that are not text.
func hasNonTextKeys(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Kind != yaml.ScalarNode {
			return true
		}
	}
	return false
}

// hasComment reports whether there is a comment at a node or below it.
func hasComment(n *yaml.Node) bool {
	return n.HeadComment+n.LineComment+n.FootComment != "" || slices.ContainsFunc(n.Content, hasComment)
}

// setText is set for a value that is not YAML.
func (f *frontMatter) setText(key, value string) {
	_ = f.set(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}) // a single line is never too large
}

// set stores the value of a key. It returns why the value could not be kept, "" if it was.
func (f *frontMatter) set(key string, n *yaml.Node) string {
	items, value, ok := yamlText(n)
	if !ok {
		return fmt.Sprintf("the value is nested too deep or has more than %d bytes: left out", maxValue)
	}
	name := strings.ToLower(strings.TrimSpace(key))
	if value == "" && !(name == "title" && n.Style != 0) { // a key without a value
		f.put(key, name, "")
		return ""
	}
	switch name {
	case "id":
		if tree.ValidID(value) {
			f.id = value
			return ""
		}
	case "title":
		f.title = value
		return ""
	case "tags", "tag":
		f.tags = append(f.tags, split(items, value, ", \t")...)
		f.attrs["tags"] = joinedList(n, f.tags, value)
		return ""
	case "alias", "aliases":
		f.aliases = append(f.aliases, split(items, value, ",")...)
		f.attrs["alias"] = joinedList(n, f.aliases, value)
		return ""
	case "created", "date", "created_at", "date created", "created-at", "create":
		if stamp := parseStamp(value); stamp != "" && (f.created == "" || name == "created") {
			if f.created = stamp; name == "created" && !isMorePrecise(value) {
				return ""
			}
		}
	case "updated", "modified", "lastmod", "updated_at", "date modified", "updated-at", "last modified":
		if stamp := parseStamp(value); stamp != "" && (f.updated == "" || name == "updated") {
			if f.updated = stamp; name == "updated" && !isMorePrecise(value) {
				return ""
			}
		}
	case "sort":
		if n, err := strconv.Atoi(value); err == nil {
			f.sort, f.sorted = n, true
			return ""
		}
	case "attributes":
		if n.Kind == yaml.MappingNode && f.readProperties(n) {
			return ""
		}
	}
	f.put(key, name, value)
	return ""
}

// readProperties reads the mapping with attributes that have no key of their own.
func (f *frontMatter) readProperties(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !attrName.MatchString(n.Content[i].Value) || n.Content[i+1].Kind != yaml.ScalarNode || reservedAttr(n.Content[i].Value) {
			return false
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f.attrs[n.Content[i].Value] = n.Content[i+1].Value
	}
	return true
}

// attrName matches the names that an attribute may have.
var attrName = lazyregexp.New(`^[a-z_:-][a-z0-9_:-]*$`)

// reservedAttr reports whether a document attribute is stored elsewhere than among the attributes.
func reservedAttr(name string) bool {
	return slices.Contains([]string{"id", "title", "type", "updated", "custom-hidden"}, name)
}

// put stores the value of a key without a special meaning.
func (f *frontMatter) put(key, name, value string) {
	switch {
	case name == propertiesAttr:
		if properties := propertiesOf(value); properties != nil {
			maps.Copy(f.properties, properties)
			return
		}
	case slices.Contains(plainKeys, name):
	case strings.HasPrefix(name, "custom-") && attrName.MatchString(name) && name != "custom-hidden":
	default:
		name = "custom-" + strings.NewReplacer(" ", "-", "_", "-").Replace(name)
		if !attrName.MatchString(name) || name == propertiesAttr || name == "custom-hidden" {
			f.properties[key] = value
			return
		}
	}
	if _, exists := f.attrs[name]; exists {
		f.properties[key] = value
		return
	}
	f.attrs[name] = value
}

// propertiesOf parses the value of propertiesAttr, nil if it is something else.
func propertiesOf(value string) map[string]string {
	var properties map[string]string
	if json.Unmarshal([]byte(value), &properties) != nil {
		return nil
	}
	if data, _ := json.Marshal(properties); string(data) != value || len(properties) == 0 {
		return nil
	}
	return properties
}

// yamlText returns a value as text, and a list of plain values also as items; other structures become JSON. Aliases
// are resolved within the bounds of a value.
func yamlText(n *yaml.Node) (items []string, value string, ok bool) {
	remaining := maxValue
	v, ok := plainValue(n, 0, &remaining)
	if !ok {
		return nil, "", false
	}
	switch v := v.(type) {
	case string:
		return nil, v, true
	case json.RawMessage:
		return nil, n.Value, true
	case []any:
		for i, item := range v {
			switch text := item.(type) {
			case string:
				items = append(items, text)
			case json.RawMessage:
				items = append(items, n.Content[i].Value)
			}
		}
		if len(items) == len(v) {
			return items, strings.Join(items, ", "), true
		}
	}
	data, err := json.Marshal(v)
	return nil, string(data), err == nil
}

// plainValue converts a node to strings, []any and map[string]any. Numbers, booleans and null become their JSON
// values.
func plainValue(n *yaml.Node, depth int, remaining *int) (any, bool) {
	if *remaining -= len(n.Value) + 1; *remaining < 0 || depth > 32 {
		return nil, false
	}
	switch n.Kind {
	case yaml.AliasNode:
		return plainValue(n.Alias, depth+1, remaining)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			v, ok := plainValue(item, depth+1, remaining)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		return list, true
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, ok := plainValue(n.Content[i+1], depth+1, remaining)
			if !ok {
				return nil, false
			}
			object[n.Content[i].Value] = v
		}
		return object, true
	}
	switch {
	case n.Tag == "!!null" && depth == 0:
		return "", true
	case n.Tag == "!!null":
		return json.RawMessage("null"), true
	case (n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool") && n.Value != "" && json.Valid([]byte(n.Value)):
		return json.RawMessage(n.Value), true
	}
	return n.Value, true
}

// split returns the items of a list, or the parts of a text between separators.
func split(items []string, value, separators string) (list []string) {
	if items == nil {
		items = strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(separators, r) })
	}
	for _, item := range items {
		if item = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(item), "#")); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// joinedList returns a list as a comma-separated attribute. A quoted text stays as it is: frontOf writes one for a
// value that is not a clean list.
func joinedList(n *yaml.Node, list []string, value string) string {
	if n.Kind == yaml.ScalarNode && n.Style == yaml.DoubleQuotedStyle {
		return value
	}
	return strings.Join(list, ",")
}

var stampLayouts = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "2006/01/02 15:04:05", "2006/01/02 15:04",
	"2006/01/02", "2006.01.02", "January 2, 2006", "Jan 2, 2006", "2 January 2006", "2006年1月2日",
}

var (
	stampText   = lazyregexp.New(`^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$`)
	stampDigits = lazyregexp.New(`^\d{14}$`)
	unixDigits  = lazyregexp.New(`^(?:\d{10}|\d{13})$`)
)

// isMorePrecise reports whether a time contains more than a stamp can hold: a time zone, or fractions of a second.
func isMorePrecise(text string) bool {
	text = strings.TrimSpace(text)
	if unixDigits.MatchString(text) {
		return true
	}
	_, err := time.Parse(time.RFC3339, text)
	_, spaced := time.Parse("2006-01-02 15:04:05 -0700", text)
	return err == nil || spaced == nil
}

// parseStamp parses a time in one of many common formats, "" if it is not one. Without a time zone it is local time.
func parseStamp(text string) string {
	text = strings.TrimSpace(text)
	if m := stampText.FindStringSubmatch(text); m != nil {
		text = strings.Join(m[1:], "") // digits alone are taken as they are, without a time zone
	}
	if stampDigits.MatchString(text) {
		if _, err := time.Parse("20060102150405", text); err == nil {
			return text
		}
		return ""
	}
	if unixDigits.MatchString(text) { // seconds or milliseconds
		n, _ := strconv.ParseInt((text + "000")[:13], 10, 64)
		return tree.Stamp(time.UnixMilli(n))
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return tree.Stamp(t.Local())
	}
	if t, err := time.Parse("2006-01-02 15:04:05 -0700", text); err == nil {
		return tree.Stamp(t.Local())
	}
	for _, layout := range stampLayouts {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil && t.Year() > 1000 {
			return tree.Stamp(t)
		}
	}
	return ""
}
