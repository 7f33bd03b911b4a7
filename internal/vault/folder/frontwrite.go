package folder

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
)

// frontOf returns the front matter that Export writes for a document. An import of it gives the same attributes.
func frontOf(attrs map[string]string, sort int) string {
	var out strings.Builder
	put := func(key, value string) {
		if value != "" {
			out.WriteString(yamlKey(key) + ": " + value + "\n")
		}
	}
	out.WriteString("---\n")
	id := attrs["id"]
	if tree.ValidID(id) {
		put("id", id)
	}
	put("title", yamlScalar(attrs["title"]))
	put("icon", quotedIfSet(attrs["icon"]))
	put("tags", yamlList(attrs["tags"]))
	put("alias", yamlList(attrs["alias"]))
	if tree.ValidID(id) {
		put("created", formatStamp(id[:14]))
	}
	put("updated", formatStamp(attrs["updated"]))
	put("sort", strconv.Itoa(sort))
	nested := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		switch value := attrs[name]; {
		case reservedAttr(name), name == "icon", name == "tags", name == "alias":
		case name == propertiesAttr && propertiesOf(value) != nil:
			properties := propertiesOf(value)
			for _, key := range slices.Sorted(maps.Keys(properties)) {
				if ok := ownKey(key); ok {
					put(key, yamlScalar(properties[key]))
					delete(properties, key)
				}
			}
			if len(properties) > 0 {
				put(propertiesAttr, yamlScalar(mustJSON(properties)))
			}
		case slices.Contains(plainKeys, name), strings.HasPrefix(name, "custom-") && attrName.MatchString(name):
			put(name, yamlScalar(value))
		default:
			nested[name] = value
		}
	}
	if len(nested) > 0 {
		out.WriteString("attributes:\n")
		for _, name := range slices.Sorted(maps.Keys(nested)) {
			out.WriteString("  " + yamlKey(name) + ": " + yamlScalar(nested[name]) + "\n")
		}
	}
	return out.String() + "---\n"
}

// ownKey reports whether reading a front matter key stores its value under that same key, without a special meaning.
func ownKey(key string) bool {
	f := frontMatter{attrs: map[string]string{}, properties: map[string]string{}}
	name := strings.ToLower(strings.TrimSpace(key))
	switch name {
	case "id", "title", "tags", "tag", "alias", "aliases", "sort", "attributes", "":
		return false
	case "created", "date", "created_at", "date created", "created-at", "create",
		"updated", "modified", "lastmod", "updated_at", "date modified", "updated-at", "last modified":
		return false
	}
	f.put(key, name, "x")
	return f.properties[key] == "x"
}

// formatStamp formats a stamp (yyyyMMddHHmmss) for readers. Other values are written so that they are read back
// unchanged.
func formatStamp(stamp string) string {
	if !stampDigits.MatchString(stamp) || parseStamp(stamp) != stamp {
		return quotedIfSet(stamp)
	}
	return stamp[:4] + "-" + stamp[4:6] + "-" + stamp[6:8] + " " + stamp[8:10] + ":" + stamp[10:12] + ":" + stamp[12:]
}

// yamlList writes a comma-separated attribute as a list, or as a quoted text if it is not a clean list.
func yamlList(value string) string {
	if value == "" {
		return ""
	}
	items := strings.Split(value, ",")
	for i, item := range items {
		if item == "" || item != strings.TrimSpace(item) || strings.HasPrefix(item, "#") {
			return quoteYAML(value)
		}
		if items[i] = yamlScalar(item); strings.ContainsAny(items[i], "[]{},") && items[i][0] != '"' {
			items[i] = quoteYAML(item)
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}

var (
	// plainScalar matches texts that YAML reads as themselves without quotes, in any place.
	plainScalar = lazyregexp.New(`^[\p{L}_/(][\p{L}\p{N}_ ./()+-]*$`)
	// ambiguousScalar matches texts that some version of YAML reads as something else.
	ambiguousScalar = lazyregexp.New(`(?i)^(null|true|false|yes|no|on|off|y|n|~|nan|inf)$`)
)

// yamlScalar writes a text so that YAML reads that text.
func yamlScalar(text string) string {
	if plainScalar.MatchString(text) && !ambiguousScalar.MatchString(text) && text == strings.TrimSpace(text) {
		return text
	}
	return quoteYAML(text)
}

// quoteYAML writes a text in double quotes. strconv.Quote is enough, since YAML has all escapes of Go.
func quoteYAML(text string) string { return strconv.Quote(strings.ToValidUTF8(text, "\ufffd")) }

func quotedIfSet(text string) string {
	if text == "" {
		return ""
	}
	return yamlScalar(text)
}

func yamlKey(key string) string { return yamlScalar(key) }
