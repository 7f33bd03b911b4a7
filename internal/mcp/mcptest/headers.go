package mcptest

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// mismatch describes how the headers of a modern request differ from its body; "" if they agree (2026-07-28,
// Streamable HTTP: server validation).
func (s *server) mismatch(c *call) string {
	if v := c.header.Get(versionHeader); v != c.meta.version || v == "" {
		return versionHeader + " is " + strconv.Quote(v) + ", the body says " + strconv.Quote(c.meta.version)
	}
	if v := c.header.Get(methodHeader); v != c.method {
		return methodHeader + " is " + strconv.Quote(v) + ", the body says " + strconv.Quote(c.method)
	}
	want := ""
	switch c.method {
	case "tools/call", "prompts/get":
		want = c.name
	case "resources/read":
		want = c.uri.Str
	default:
		return ""
	}
	if v, ok := headerValue(c.header.Get(nameHeader)); !ok || v != want {
		return nameHeader + " is " + strconv.Quote(v) + ", the body says " + strconv.Quote(want)
	}
	if c.method == "tools/call" && c.name == "header" {
		return parameterMismatch(c)
	}
	return ""
}

// parameterMismatch checks the arguments that the tool "header" requires as headers.
func parameterMismatch(c *call) string {
	for _, p := range []struct{ argument, header string }{
		{"region", "Mcp-Param-Region"},
		{"priority", "Mcp-Param-Priority"},
	} {
		arg := c.arguments.Get(p.argument)
		wanted := arg.Exists() && arg.Type != gjson.Null
		values := c.header[p.header]
		if wanted != (len(values) == 1) {
			return p.header + " and the argument " + p.argument + " do not come together"
		}
		if !wanted {
			continue
		}
		if v, ok := headerValue(values[0]); !ok || !sameValue(v, arg) {
			return p.header + " is " + strconv.Quote(v) + ", the body says " + arg.Raw
		}
	}
	return ""
}

// sameValue compares a header with an argument. Integers are compared as numbers: 42 equals 42.0.
func sameValue(v string, arg gjson.Result) bool {
	if arg.Type == gjson.Number {
		f, err := strconv.ParseFloat(v, 64)
		return err == nil && f == arg.Num
	}
	return v == arg.String()
}

// headerValue decodes a header value, also in the form =?base64?...?=. ok is false for a value that is
// neither that nor plain visible ASCII.
func headerValue(v string) (string, bool) {
	if rest, ok := strings.CutPrefix(v, "=?base64?"); ok && strings.HasSuffix(rest, "?=") {
		b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(rest, "?="))
		return string(b), err == nil
	}
	for i := range len(v) {
		if (v[i] < ' ' || v[i] > '~') && v[i] != '\t' {
			return v, false
		}
	}
	return v, true
}
