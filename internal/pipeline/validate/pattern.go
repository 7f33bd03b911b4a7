package validate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"collie/internal/lazyregexp"
)

// patterns returns the regular expression engine for doc. JSON Schema uses those of ECMAScript; Go's have no
// look-around and no back-references. A "pattern" that Go cannot express is not applied. In
// "patternProperties" a pattern decides which schema applies to a value, so there it is an error.
func patterns(doc any) (jsonschema.RegexpEngine, error) {
	if err := propertyPatterns(doc); err != nil {
		return nil, err
	}
	return func(s string) (jsonschema.Regexp, error) {
		re, err := expression(s)
		if err != nil {
			re = nil
		}
		return &pattern{re, s}, nil
	}, nil
}

// pattern matches every text if re is nil. String returns the expression as its author wrote it.
type pattern struct {
	re      *regexp.Regexp
	written string
}

func (p *pattern) String() string            { return p.written }
func (p *pattern) MatchString(s string) bool { return p.re == nil || p.re.MatchString(s) }

func propertyPatterns(doc any) error {
	switch v := doc.(type) {
	case []any:
		for _, e := range v {
			if err := propertyPatterns(e); err != nil {
				return err
			}
		}
	case map[string]any:
		if byPattern, ok := v["patternProperties"].(map[string]any); ok {
			for p := range byPattern {
				if _, err := expression(p); err != nil {
					return fmt.Errorf("patternProperties: %w", err)
				}
			}
		}
		for _, e := range v {
			if err := propertyPatterns(e); err != nil {
				return err
			}
		}
	}
	return nil
}

var unicodeEscape = lazyregexp.New(`\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|.)`)

// expression compiles s, with the \u escapes of ECMAScript.
func expression(s string) (*regexp.Regexp, error) {
	var half error
	s = unicodeEscape.ReplaceAllStringFunc(s, func(esc string) string {
		hex, ok := strings.CutPrefix(esc, `\u`)
		if !ok || hex == "" {
			return esc
		}
		hex = strings.Trim(hex, "{}")
		var r rune
		if _, err := fmt.Sscanf(hex, "%x", &r); err != nil || utf16.IsSurrogate(r) {
			half = errors.New("half of a surrogate pair")
		}
		return `\x{` + hex + `}`
	})
	if half != nil {
		return nil, half
	}
	return regexp.Compile(s)
}
