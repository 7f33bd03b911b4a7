package content

import (
	"context"
	"html"
	"net/url"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

// This file checks the assets that a text links to before it is written.

var (
	// linkTarget matches the target of a Markdown link or image.
	linkTarget = lazyregexp.New(`(\])(\()\s*(<[^<>\n]*>|(?:[^()\n]|\([^()\n]*\))*)`)
	// sourceAttr matches an attribute that names a file.
	sourceAttr = lazyregexp.New(`(?i)((?:^|[\s"'/;])(?:data-)?(?:src|href|poster)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)`)
	// styleURL matches a file that a style names.
	styleURL = lazyregexp.New(`(?i)(\burl\(\s*)((?:"|'|&quot;|&#0*3[49];|&apos;)?)([^"'()&]*)`)
	// linkTitle matches the title after the target of a link.
	linkTitle = lazyregexp.New(`\s+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*$`)
)

// assetsIn returns the paths of the assets that a text shows or links to.
func assetsIn(text string) []string {
	var out []string
	add := func(target string) {
		if path, ok := assetPath(target); ok {
			out = appendNew(out, path)
		}
	}
	for _, m := range linkTarget.FindAllStringSubmatch(text, -1) {
		add(linkTitle.ReplaceAllString(m[3], ""))
	}
	for _, m := range sourceAttr.FindAllStringSubmatch(text, -1) {
		add(strings.Trim(m[2], `"'`))
	}
	for _, m := range styleURL.FindAllStringSubmatch(text, -1) {
		add(m[3])
	}
	return out
}

// assetPath returns the path of the asset at an address, if it is one.
func assetPath(address string) (path string, ok bool) {
	path = strings.TrimSpace(html.UnescapeString(strings.Trim(strings.TrimSpace(address), "<>")))
	if plain, err := url.PathUnescape(path); err == nil && strings.HasPrefix(strings.TrimLeft(plain, "./"), "assets/") {
		return strings.TrimLeft(path, "./"), true
	}
	return strings.TrimLeft(path, "./"), strings.HasPrefix(strings.TrimLeft(path, "./"), "assets/")
}

// plainAssets turns links to assets that may not be seen into plain text.
func (a *admitRun) plainAssets(ctx context.Context) error {
	restricted, err := a.r.Levels.Restricted(ctx)
	if err != nil || !restricted || !strings.Contains(html.UnescapeString(a.Data), "ssets") {
		return err
	}
	named := assetsIn(a.Data)
	if len(named) == 0 {
		return nil
	}
	isLinkable, err := a.r.LinkableAssets(ctx, named, a.Over)
	if err != nil {
		return err
	}
	hidden := map[string]bool{}
	for _, path := range named {
		if isLinkable(path) {
			continue
		}
		before, err := a.replacedDOM(ctx)
		if err != nil {
			return err
		}
		if hidden[path] = !slices.Contains(assetsIn(before), path); hidden[path] {
			a.warn("%s: no such asset was found, so it is plain text", path)
		}
	}
	isHidden := func(target string) bool { path, ok := assetPath(target); return ok && hidden[path] }
	inCode := a.codeFinder()
	a.replaceMatches(linkTarget, func(m patternMatch) (string, bool) {
		if !isHidden(linkTitle.ReplaceAllString(m.group(3), "")) {
			return "", false
		}
		if inCode(m.start()) || a.DOM {
			return m.insertAfter(2, zeroWidth), true
		}
		return m.insertAfter(1, `\`), true
	})
	inCode = a.codeFinder()
	a.replaceMatches(sourceAttr, func(m patternMatch) (string, bool) {
		name, value := m.group(1), m.group(2)
		if !isHidden(strings.Trim(value, `"'`)) {
			return "", false
		}
		isInTag := strings.LastIndexByte(a.Data[:m.start()], '<') > strings.LastIndexByte(a.Data[:m.start()], '>')
		if inCode(m.start()) || !isInTag {
			return strings.TrimRight(name, "= \t\n") + zeroWidth + "=" + value, true
		}
		return name + `"#"`, true // kernels drop an empty one altogether
	})
	a.replaceMatches(styleURL, func(m patternMatch) (string, bool) {
		if !isHidden(m.group(3)) {
			return "", false
		}
		return m.until(3), true
	})
	return nil
}

// AdmitAssets returns [access.NotFound] for the first of values, addresses of assets or styles, that names an asset
// which a note may not link to. before are the values that the note has already.
func AdmitAssets(ctx context.Context, r *action.Request, values []string, before ...string) error {
	var named []string
	for _, value := range values {
		list := assetsIn(value)
		if path, ok := assetPath(value); ok {
			list = append(list, path)
		}
		for _, path := range list {
			if !slices.ContainsFunc(before, func(text string) bool { return strings.Contains(text, path) }) {
				named = appendNew(named, path)
			}
		}
	}
	if len(named) == 0 {
		return nil
	}
	isLinkable, err := r.LinkableAssets(ctx, named)
	if err != nil {
		return err
	}
	for _, path := range named {
		if !isLinkable(path) {
			return access.NotFound(access.Asset, path)
		}
	}
	return nil
}
