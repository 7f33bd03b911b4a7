package content

import (
	"context"
	"html"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
)

// This file checks references that are written as HTML tags before they are written.

var (
	// spanTag matches a tag that may be a reference.
	spanTag = lazyregexp.New(`(?i)<[a-z][^<>]*\bblock-ref\b[^<>]*>`)
	// refAttr matches the attribute of such a tag that names the block.
	refAttr = lazyregexp.New(`(?i)([\s"'/]data-id\s*=\s*)("[^"]*"?|'[^']*'?|[^\s"'>]+)`)
	tagAttr = lazyregexp.New(`([^\s"'<>/=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)
)

// attributesOf returns the attributes of a tag, by lower-case name.
func attributesOf(tag string) map[string]string {
	out := map[string]string{}
	for _, m := range tagAttr.FindAllStringSubmatch(tag, -1) {
		name := strings.ToLower(m[1])
		if _, twice := out[name]; !twice {
			out[name] = strings.TrimSpace(html.UnescapeString(strings.Trim(m[2], `"'`)))
		}
	}
	return out
}

// plainSpans turns references written as tags, which Markdown may contain too, into plain text. A tag that cannot be
// parsed loses its id.
func (a *admitRun) plainSpans(ctx context.Context) error {
	if !refAttr.MatchString(a.Data) {
		return nil
	}
	if err := a.lookUpIDs(ctx, refAttr, 2); err != nil {
		return err
	}
	var wrong error
	oldKindIfHidden := func(id string) int { // noReference means that it must be removed
		if !kernel.ID(id).Valid() || a.readable[kernel.ID(id)] {
			return dynamicAnchor
		}
		before, err := a.replacedDOM(ctx)
		if err != nil {
			wrong = err
		}
		return referenceKind(before, id)
	}
	a.replaceMatches(spanTag, func(m patternMatch) (string, bool) {
		tag := m.group(0)
		attrs := attributesOf(tag)
		oldKind := oldKindIfHidden(attrs["data-id"])
		if oldKind == dynamicAnchor || oldKind == staticAnchor && attrs["data-subtype"] != "d" {
			return "", false
		}
		if oldKind == noReference {
			a.warn("reference to %s: no such block was found, so it is plain text", attrs["data-id"])
		}
		return plainTag(tag, oldKind == noReference), true
	})
	a.replaceMatches(refAttr, func(m patternMatch) (string, bool) {
		id := strings.TrimSpace(html.UnescapeString(strings.Trim(m.group(2), `"'`)))
		if oldKindIfHidden(id) != noReference {
			return "", false
		}
		a.warn("reference to %s: no such block was found, so it is plain text", id)
		return m.group(1) + `""`, true
	})
	return wrong
}

// plainTag returns a tag that is no longer a reference or, unless all is set, one whose anchor no longer follows its
// block.
func plainTag(tag string, all bool) string {
	types := []string{}
	for t := range strings.FieldsSeq(attributesOf(tag)["data-type"]) {
		if !strings.EqualFold(t, "block-ref") {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		types = []string{"text"}
	}
	return tagAttr.ReplaceAllStringFunc(tag, func(attr string) string {
		name, _, _ := strings.Cut(attr, "=")
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case !all && name == "data-subtype":
			return `data-subtype="s"`
		case all && name == "data-type":
			return `data-type="` + html.EscapeString(strings.Join(types, " ")) + `"`
		case all && (name == "data-id" || name == "data-subtype"):
			return ""
		}
		return attr
	})
}
