package guide

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
)

// mcpExample is the example as the arguments of the grouped tool.
func mcpExample(a *action.Action) string {
	head := `{"action":"` + a.Name + `"`
	rest := strings.TrimPrefix(strings.TrimSpace(a.Example), "{")
	if strings.TrimSpace(rest) == "}" {
		return head + "}"
	}
	return head + "," + rest
}

// CommandLine is the example as it is typed in a terminal.
func CommandLine(a *action.Action) string {
	words := []string{"collie", a.Tool, strings.ReplaceAll(a.Name, "_", "-")}
	root := gjson.Parse(a.Example)
	for _, p := range a.Positional {
		v := root.Get(p)
		if !v.Exists() {
			break
		}
		words = append(words, word(v.String()))
	}
	positional := len(words) - 3
	root.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if i := slices.Index(a.Positional, name); i >= 0 && i < positional {
			return true
		}
		flag := "--" + kebab(name)
		switch {
		case v.IsBool() && v.Bool():
			words = append(words, flag)
		case v.IsBool():
			words = append(words, "--no-"+kebab(name))
		case v.IsArray() && flatStrings(v):
			for _, item := range v.Array() {
				words = append(words, flag, word(strings.ReplaceAll(item.String(), ",", `\,`)))
			}
		case v.IsObject() && flatTexts(a, name, v):
			v.ForEach(func(k, m gjson.Result) bool {
				words = append(words, "--"+kebab(k.String()), word(m.String()))
				return true
			})
		case v.IsArray() || v.IsObject():
			words = append(words, flag+"-json", word(compact(v.Raw)))
		default:
			words = append(words, flag, word(v.String()))
		}
		return true
	})
	return strings.Join(words, " ")
}

// flatTexts reports whether an object has texts alone, whose names are those of no argument: a
// command line takes these for themselves.
func flatTexts(a *action.Action, name string, v gjson.Result) bool {
	known := map[string]bool{}
	schema := gjson.ParseBytes(a.Param(name).Schema())
	for _, form := range append(schema.Get("anyOf").Array(), schema) {
		form.Get("properties").ForEach(func(k, _ gjson.Result) bool {
			known[k.String()] = true
			return true
		})
	}
	flat := true
	v.ForEach(func(k, m gjson.Result) bool {
		flat = m.Type == gjson.String && known[k.String()] && a.Param(k.String()) == nil
		return flat
	})
	return flat
}

func flatStrings(v gjson.Result) bool {
	for _, item := range v.Array() {
		if item.IsArray() || item.IsObject() {
			return false
		}
	}
	return len(v.Array()) > 0
}

func compact(raw string) string {
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return string(out)
}

// word is s as one word of a shell.
func word(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@%+,", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// kebab is a name as a flag: parentID becomes parent-id.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if r == '_' {
			b.WriteByte('-')
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			before := runes[i-1]
			next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if unicode.IsLower(before) || unicode.IsDigit(before) || next && unicode.IsUpper(before) {
				b.WriteByte('-')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
