package folder

import (
	"html"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

var (
	imageTag = lazyregexp.New(`(?i)^<img(?:[ \t\n][^<>]*)?>`)
	attrPair = lazyregexp.New(`([A-Za-z][A-Za-z0-9_:-]*)(?:[ \t\n]*=[ \t\n]*("[^"]*"|'[^']*'|[^ \t\n"'<>=]+))?`)
)

// imageOf converts an HTML image to Markdown, with its size in an attribute list. It reports attributes that Markdown
// cannot express. Without a usable address the result is "".
func (r *reader) imageOf(tag string) string {
	values := map[string]string{}
	var dropped []string
	for _, m := range attrPair.FindAllStringSubmatch(strings.TrimSuffix(strings.TrimSuffix(tag[4:], ">"), "/"), -1) {
		name, value := strings.ToLower(m[1]), html.UnescapeString(strings.Trim(m[2], `"'`))
		switch name {
		case "src", "alt", "title", "width", "height", "style":
			values[name] = strings.Join(strings.Fields(value), " ")
		default:
			dropped = append(dropped, m[0])
		}
	}
	address := values["src"]
	if address == "" || strings.ContainsAny(address, "()<> \"") && isExternal(address) {
		return ""
	}
	if at := r.im.s.file(r.pg, address, false); !isExternal(address) && at != "" && !isPage(at) {
		if asset := r.asset(at); asset != "" {
			address = asset
		}
	} else if !isExternal(address) {
		r.problem(codeFileMissing, tag, "the file is not there: the link is kept as it was")
	}
	if strings.ContainsAny(address, "()<> \"") && !strings.HasPrefix(address, assetsDir+"/") {
		return ""
	}
	if len(dropped) > 0 {
		slices.Sort(dropped)
		r.problem(codeImageAttrs, strings.Join(dropped, " "), "an image of Markdown has no such attributes: left out")
	}
	r.markKind(asImage)
	if values["title"] != "" {
		address += ` "` + strings.ReplaceAll(values["title"], `"`, `\"`) + `"`
	}
	image := "![" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(values["alt"]) + "](" + address + ")"
	if r.row {
		image = strings.ReplaceAll(image, "|", `\|`)
	}
	return image + styleOf(values)
}

// styleOf returns the attribute list for the size of an image, "" for none.
func styleOf(values map[string]string) string {
	style := strings.TrimSuffix(strings.TrimSpace(values["style"]), ";")
	for _, name := range []string{"width", "height"} {
		value := values[name]
		if value == "" || strings.Contains(style, name) {
			continue
		}
		if strings.Trim(value, "0123456789") == "" {
			value += "px"
		}
		if style != "" {
			style += "; "
		}
		style += name + ": " + value
	}
	if style == "" || strings.ContainsAny(style, "{}\"<>&\n") {
		return ""
	}
	return `{: style="` + style + `;"}`
}
