package template

import (
	crand "crypto/rand"
	"crypto/sha1" //nolint:gosec // a function of templates, as the kernel has it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/adler32"
	"math/rand/v2"
	"net/url"
	"path"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/puretemplate"
)

// This file has the functions for texts.

var textFunctions = map[string]function{
	"print":    {params: "a*", growth: 2, call: func(_ *run, a []any) (any, error) { return fmt.Sprint(a...), nil }},
	"println":  {params: "a*", growth: 2, call: func(_ *run, a []any) (any, error) { return fmt.Sprintln(a...), nil }},
	"printf":   {params: "sa*", call: printf},
	"html":     {params: "a*", growth: 6, call: func(_ *run, a []any) (any, error) { return markup.Replace(joinArgs(a)), nil }},
	"js":       {params: "a*", growth: 6, call: func(_ *run, a []any) (any, error) { return escapeScript(joinArgs(a)), nil }},
	"urlquery": {params: "a*", growth: 3, call: func(_ *run, a []any) (any, error) { return url.QueryEscape(joinArgs(a)), nil }},

	"upper":     textFunction(2, strings.ToUpper),
	"lower":     textFunction(2, strings.ToLower),
	"title":     textFunction(2, func(s string) string { return mapWordStarts(s, notInWord, unicode.ToTitle) }),
	"untitle":   textFunction(2, func(s string) string { return mapWordStarts(s, unicode.IsSpace, unicode.ToLower) }),
	"swapcase":  textFunction(2, swapCase),
	"snakecase": textFunction(3, func(s string) string { return snakeCase(s, '_') }),
	"kebabcase": textFunction(3, func(s string) string { return snakeCase(s, '-') }),
	"camelcase": textFunction(3, camelCase),
	"trim":      textFunction(1, strings.TrimSpace),
	"nospace":   textFunction(1, noSpace),
	"initials":  textFunction(1, initials),
	"shuffle":   textFunction(1, shuffle),
	"base":      textFunction(1, path.Base),
	"dir":       textFunction(1, path.Dir),
	"ext":       textFunction(1, path.Ext),
	"clean":     textFunction(1, path.Clean),
	"isAbs":     {params: "s", call: func(_ *run, a []any) (any, error) { return path.IsAbs(a[0].(string)), nil }},
	"toString":  {params: "a", growth: 1, call: func(_ *run, a []any) (any, error) { return text(a[0]), nil }},

	"trimAll":    textPairFunction(1, func(a, b string) any { return strings.Trim(b, a) }),
	"trimSuffix": textPairFunction(1, func(a, b string) any { return strings.TrimSuffix(b, a) }),
	"trimPrefix": textPairFunction(1, func(a, b string) any { return strings.TrimPrefix(b, a) }),
	"contains":   textPairFunction(0, func(a, b string) any { return strings.Contains(b, a) }),
	"hasPrefix":  textPairFunction(0, func(a, b string) any { return strings.HasPrefix(b, a) }),
	"hasSuffix":  textPairFunction(0, func(a, b string) any { return strings.HasSuffix(b, a) }),
	"regexMatch": {params: "ss", call: func(_ *run, a []any) (any, error) {
		re, err := compileRegexp(a)
		if _, ok := errors.AsType[*syntax.Error](err); ok { // Sprig takes it for an expression that matches nothing
			err = nil
		}
		return re != nil && re.MatchString(a[1].(string)), err
	}},
	"regexFind": {params: "ss", growth: 1, call: func(_ *run, a []any) (any, error) {
		re, err := compileRegexp(a)
		if syntaxErr, ok := errors.AsType[*syntax.Error](err); ok {
			err = fmt.Errorf("regexp: Compile(`%s`): %w", a[0], syntaxErr)
		}
		if err != nil {
			return nil, err
		}
		return re.FindString(a[1].(string)), nil
	}},

	"trunc":      {params: "is", call: func(_ *run, a []any) (any, error) { return trunc(a[0].(int), a[1].(string)), nil }},
	"substr":     {params: "iis", call: func(_ *run, a []any) (any, error) { return substr(a[0].(int), a[1].(int), a[2].(string)) }},
	"abbrev":     {params: "is", growth: 1, call: func(_ *run, a []any) (any, error) { return abbreviate(0, a[0].(int), a[1].(string)), nil }},
	"abbrevboth": {params: "iis", growth: 1, call: func(_ *run, a []any) (any, error) { return abbreviate(a[0].(int), a[1].(int), a[2].(string)), nil }},
	"wrap":       {params: "is", growth: 1, call: func(_ *run, a []any) (any, error) { return wrap(a[0].(int), a[1].(string)), nil }},
	"plural": {params: "ssi", call: func(_ *run, a []any) (any, error) {
		if a[2] == 1 {
			return a[0], nil
		}
		return a[1], nil
	}},
	"quote": {params: "a*", growth: 6, call: func(_ *run, a []any) (any, error) { return joinSpaced(a, strconv.Quote), nil }},
	"squote": {params: "a*", growth: 3, call: func(_ *run, a []any) (any, error) {
		return joinSpaced(a, func(s string) string { return "'" + s + "'" }), nil
	}},
	"cat": {params: "a*", growth: 2, call: func(_ *run, a []any) (any, error) { return joinSpaced(a, func(s string) string { return s }), nil }},
	"replace": {params: "sss", call: func(r *run, a []any) (any, error) {
		old, replacement, s := a[0].(string), a[1].(string), a[2].(string)
		if err := r.countBytes(len(s) + strings.Count(s, old)*len(replacement)); err != nil {
			return nil, err
		}
		return strings.ReplaceAll(s, old, replacement), nil
	}},
	"repeat": {params: "is", call: func(r *run, a []any) (any, error) { return repeat(r, a[1].(string), a[0].(int), 1) }},
	"indent": {params: "is", call: func(r *run, a []any) (any, error) { return indent(r, a[0].(int), a[1].(string)) }},
	"nindent": {params: "is", call: func(r *run, a []any) (any, error) {
		s, err := indent(r, a[0].(int), a[1].(string))
		return "\n" + s, err
	}},

	"randAlphaNum": randomFunction("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
	"randAlpha":    randomFunction("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
	"randNumeric":  randomFunction("0123456789"),
	"randAscii":    randomFunction(" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"),
	"uuidv4":       {growth: 4, call: func(*run, []any) (any, error) { return uuid() }},

	"b64enc": textFunction(2, func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"b64dec": textFunction(2, func(s string) string { return textOrError(base64.StdEncoding.DecodeString(s)) }),
	"b32enc": textFunction(2, func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }),
	"b32dec": textFunction(2, func(s string) string { return textOrError(base32.StdEncoding.DecodeString(s)) }),

	"sha1sum":    textFunction(3, func(s string) string { sum := sha1.Sum([]byte(s)); return hex.EncodeToString(sum[:]) }), //nolint:gosec // see the import
	"sha256sum":  textFunction(5, func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }),
	"sha512sum":  textFunction(9, func(s string) string { sum := sha512.Sum512([]byte(s)); return hex.EncodeToString(sum[:]) }),
	"adler32sum": textFunction(1, func(s string) string { return strconv.FormatUint(uint64(adler32.Checksum([]byte(s))), 10) }),
	"toJson":     {params: "a", growth: 6, call: func(_ *run, a []any) (any, error) { return toJSON(a[0], true), nil }},
	"toRawJson":  {params: "a", growth: 6, call: func(_ *run, a []any) (any, error) { return toJSON(a[0], false), nil }},
	"runeCount":  {params: "s", call: func(_ *run, a []any) (any, error) { n, _ := Counts(a[0].(string)); return n, nil }},
	"wordCount":  {params: "s", call: func(_ *run, a []any) (any, error) { _, n := Counts(a[0].(string)); return n, nil }},
}

// compileRegexp compiles a regular expression. The error is a [*syntax.Error] if it is invalid. To bound the time, it is
// also an error if the expression or the text is too long, or both together may take too long.
func compileRegexp(a []any) (*regexp.Regexp, error) {
	const maxExpression, maxSearched = 1000, 64 << 10
	if len(a[0].(string)) > maxExpression || len(a[1].(string)) > maxSearched {
		return nil, fmt.Errorf("takes expressions of at most %d bytes and texts of at most %d", maxExpression, maxSearched)
	}
	const maxWork = 2e7 // a fraction of a second
	if puretemplate.MatchWork(a[0].(string), len(a[1].(string))) > maxWork {
		return nil, errors.New("takes no expression with so many repetitions for a text of this length: repeat less or search a shorter text")
	}
	return regexp.Compile(a[0].(string))
}

// textFunction returns a function from a text to a text, which may become grows times as long.
func textFunction(grows int, change func(string) string) function {
	return function{params: "s", growth: grows, call: func(_ *run, a []any) (any, error) { return change(a[0].(string)), nil }}
}

// textPairFunction returns a function that takes two texts, whose result is at most grows times as long as both.
func textPairFunction(grows int, of func(a, b string) any) function {
	return function{params: "ss", growth: grows, call: func(_ *run, a []any) (any, error) { return of(a[0].(string), a[1].(string)), nil }}
}

func printf(r *run, a []any) (any, error) {
	format, v := a[0].(string), a[1:]
	if puretemplate.HasWideVerb(format) {
		return nil, errors.New("printf takes no width above 999 and no *")
	}
	// Each verb with an index may use the same argument.
	verbs := 1 + strings.Count(format, "%")
	if err := r.countBytes(len(format) + verbs*(1000+6*weight(v...))); err != nil {
		return nil, err
	}
	return fmt.Sprintf(format, v...), nil
}

// markup escapes text for HTML.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "\uFFFD")

// joinArgs returns the text of the arguments for a function that escapes it. There are no values marked as safe.
func joinArgs(a []any) string {
	args := make([]any, len(a))
	for i, v := range a {
		if args[i] = v; v == nil {
			args[i] = formatValue(v)
		}
	}
	return fmt.Sprint(args...)
}

// escapeScript escapes a text for a JavaScript string.
func escapeScript(s string) string {
	var out strings.Builder
	for _, c := range s {
		switch {
		case strings.ContainsRune(`\'"`, c):
			out.WriteByte('\\')
			out.WriteRune(c)
		case c < ' ' || strings.ContainsRune("<>&=", c) || c >= utf8.RuneSelf && !unicode.IsPrint(c):
			fmt.Fprintf(&out, "\\u%04X", c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

func trunc(n int, s string) string {
	switch {
	case n < 0 && len(s)+n > 0:
		return s[len(s)+n:]
	case n >= 0 && len(s) > n:
		return s[:n]
	}
	return s
}

// substr counts in bytes, like Sprig; so do trunc, abbreviate and wrap.
func substr(from, to int, s string) (any, error) {
	switch {
	case from < 0 && to < 0:
		return nil, fmt.Errorf("runtime error: slice bounds out of range [:%d]", to)
	case from < 0 && to > len(s):
		return nil, fmt.Errorf("runtime error: slice bounds out of range [:%d] with length %d", to, len(s))
	case from < 0:
		return s[:to], nil
	case to < 0 || to > len(s):
		to = len(s)
	}
	if from > to {
		return nil, fmt.Errorf("runtime error: slice bounds out of range [%d:%d]", from, to)
	}
	return s[from:to], nil
}

// abbreviate shortens a text to a width. The result begins at about from, and has dots for what is left out. If that is
// not possible, it returns the whole text.
func abbreviate(from, width int, s string) string {
	const dots = "..."
	if width < 4 || from > 0 && width < 7 || len(s) <= width {
		return s
	}
	from = min(max(from, 0), len(s))
	if len(s)-from < width-len(dots) {
		from = len(s) - (width - len(dots))
	}
	switch {
	case from <= 4:
		return s[:width-len(dots)] + dots
	case from+width-len(dots) < len(s):
		return dots + abbreviate(0, width-len(dots), s[from:])
	}
	return dots + s[len(s)-(width-len(dots)):]
}

// wrap breaks lines at spaces so that they have at most width bytes, except for longer words.
func wrap(width int, s string) string {
	width = max(width, 1)
	var out strings.Builder
	at := 0
	for len(s)-at > width {
		if s[at] == ' ' {
			at++
			continue
		}
		space := strings.LastIndexByte(s[at:at+width+1], ' ')
		if space < 0 {
			if space = strings.IndexByte(s[at+width:], ' '); space < 0 {
				break
			}
			space += width
		}
		out.WriteString(s[at:at+space] + "\n")
		at += space + 1
	}
	return out.String() + s[at:]
}

// joinSpaced returns the values that are not nil, as texts changed by change and joined by spaces.
func joinSpaced(a []any, change func(string) string) string {
	parts := []string{}
	for _, v := range a {
		if v != nil {
			parts = append(parts, change(text(v)))
		}
	}
	return strings.Join(parts, " ")
}

var errRepeat = errors.New("strings: negative Repeat count")

// repeat returns a text n times. uses is how often the caller puts the result into its own, which counts for the budget.
func repeat(r *run, s string, n, uses int) (string, error) {
	if n < 0 {
		return "", errRepeat
	}
	if s != "" && n > maxBuilt/len(s) {
		return "", errBuilt
	}
	if err := r.countBytes(n * len(s) * uses); err != nil {
		return "", err
	}
	return strings.Repeat(s, n), nil
}

func indent(r *run, n int, s string) (string, error) {
	pad, err := repeat(r, " ", n, 2+strings.Count(s, "\n"))
	if err == nil {
		err = r.countBytes(len(s))
	}
	if err != nil {
		return "", err
	}
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// randomFunction returns a function that returns a text of random characters.
func randomFunction(characters string) function {
	return function{params: "i", call: func(r *run, a []any) (any, error) {
		n := max(a[0].(int), 0)
		if err := r.countBytes(n); err != nil {
			return nil, err
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = characters[rand.IntN(len(characters))]
		}
		return string(out), nil
	}}
}

func uuid() (string, error) {
	var b [16]byte
	if _, err := crand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// textOrError returns the text, or that of the error.
func textOrError(b []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func toJSON(value any, escape bool) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(escape)
	if err := e.Encode(value); err != nil {
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Counts returns the number of characters in a text, without spaces, and the number of words. A word is a run of ASCII
// characters between spaces, or any other single character.
func Counts(s string) (runes, words int) {
	inside := false
	for _, c := range s {
		switch {
		case unicode.IsSpace(c):
			inside = false
			continue
		case c >= utf8.RuneSelf:
			words++
			inside = false
		case !inside:
			words++
			inside = true
		}
		runes++
	}
	return runes, words
}
