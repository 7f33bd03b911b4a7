package kernel

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"collie/internal/lazyregexp"
)

var iconCode = lazyregexp.New(`^[0-9a-f]{2,6}(-[0-9a-f]{2,6})*$`)

// This file checks icons of documents and notebooks, and writes them as the kernel stores them.

// errIcon is the error for an invalid icon.
var errIcon = errors.New(`must be an emoji, its code points in hex such as "1f4d4", or the path of an image in the workspace's emojis folder`)

// Icon returns an icon in the kernel's form. An emoji becomes its code points ("1f4d4"). Code points, the path of a
// custom image ("dir/cat.png"), a dynamic icon and "" (none) stay. Anything else is an error, since the kernel would
// store it and show nothing.
func Icon(text string) (string, error) {
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	switch {
	case text == "", strings.HasPrefix(text, "api/icon/getDynamicIcon?"):
		return text, nil
	case iconCode.MatchString(lower):
		return lower, nil
	case isImage(lower):
		return text, nil
	}
	return emojiCode(text)
}

func isImage(path string) bool {
	if strings.Contains(path, "..") || strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\\\"'<>:") {
		return false
	}
	for _, suffix := range [...]string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"} {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

// emojiCode returns the code points of one emoji in the kernel's form.
func emojiCode(text string) (string, error) {
	var codes []string
	symbol := false
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsSpace(c) || unicode.IsControl(c) {
			return "", errIcon
		}
		symbol = symbol || c > 0xff
		codes = append(codes, fmt.Sprintf("%x", c))
	}
	const longest = 12 // code points of one emoji, such as a family with skin tones
	if !symbol || len(codes) > longest {
		return "", errIcon
	}
	return strings.Join(codes, "-"), nil
}
