package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// This file has the action system.conf, which shows the configuration of SiYuan without its secrets.

type confArgs struct {
	Mode     string `json:"mode" about:"summary, or get one key" enum:"summary,get" default:"summary"`
	KeyPath  string `json:"keyPath" about:"such as editor.fontSize or tag.items[0]"`
	MaxDepth int    `json:"maxDepth" about:"levels shown" default:"1" min:"0" max:"5"`
	MaxItems int    `json:"maxItems" about:"entries shown of each" default:"12" min:"1" max:"100"`
}

// confResult is the summary, or one value.
type confResult struct {
	Mode      string          `json:"mode" about:"summary or get"`
	Total     int             `json:"totalTopLevelKeys,omitempty" about:"how many there are"`
	Names     []string        `json:"topLevelKeys,omitempty" about:"their names"`
	Truncated *int            `json:"truncatedTopLevelKeys,omitempty" about:"how many are not shown"`
	Summary   map[string]node `json:"summary,omitempty" about:"each key as far as maxDepth"`
	Path      string          `json:"keyPath,omitempty" about:"what was asked for"`
	Value     *node           `json:"value,omitempty" about:"type, and value, entries or items"`
	Hints     []string        `json:"hints" about:"how to go on"`
}

// conf returns the action conf of the tool system.
func conf() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "conf", Purpose: "Look into the kernel's configuration, a little at a time, with secrets hidden",
		Guide: "Begin with the summary, then ask for one keyPath with mode get. If a notebook may not be read, the sections that tell of notes are left out.",
		Off:   true, Class: action.Reads, Risk: tool.RiskLow, Effects: tool.EffectRead, Unguarded: "what tells of notes is left out where some notebook may not be read",
		Endpoints: []string{"system/getConf", "notebook/lsNotebooks"},
		Aliases:   map[string]string{"path": "keyPath", "key": "keyPath"},
		Result:    confResult{},
		Example:   `{"mode":"get","keyPath":"editor.fontSize"}`,
	}, func(ctx context.Context, r *action.Request, a confArgs) (any, error) {
		raw, err := r.Kernel.Conf(ctx)
		if err != nil {
			return nil, err
		}
		if raw, err = readableConf(ctx, r, raw); err != nil {
			return nil, err
		}
		root := gjson.ParseBytes(raw)
		if a.Mode == "get" || a.KeyPath != "" {
			return confGet(r, root, &a)
		}
		return confSummary(root, &a), nil
	})
}

// node is one value of the configuration, as far as it is shown.
type node struct {
	Type      string          `json:"type"`
	Value     any             `json:"value,omitempty"`
	Entries   map[string]node `json:"entries,omitempty"`
	Items     []node          `json:"items,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Omitted   int             `json:"omittedKeys,omitempty"`
}

func confSummary(root gjson.Result, a *confArgs) any {
	var names []string
	total := 0
	root.ForEach(func(k, _ gjson.Result) bool {
		if total++; len(names) < a.MaxItems {
			names = append(names, k.String())
		}
		return true
	})
	all := showValue("", root, a.MaxDepth+1, a.MaxItems)
	remaining := total - len(names)
	return confResult{
		Mode: "summary", Total: total, Names: names, Truncated: &remaining, Summary: all.Entries,
		Hints: []string{`system(action="conf", mode="get", keyPath="editor") shows one key`},
	}
}

func confGet(r *action.Request, root gjson.Result, a *confArgs) (any, error) {
	if a.KeyPath == "" {
		return nil, r.Invalid("keyPath", "is required with mode get")
	}
	steps, ok := splitPath(a.KeyPath)
	if !ok {
		return nil, r.Invalid("keyPath", fmt.Sprintf("is %q, expected keys and indices such as editor.fontSize or list[0]", a.KeyPath))
	}
	at, masked := root, false
	for _, step := range steps {
		next, found := memberOf(at, step)
		if !found {
			return nil, r.Invalid("keyPath", fmt.Sprintf("has no %q; there %s", step, describeValue(at)))
		}
		if at, masked = next, isSecretKey(step); masked {
			break // members of a secret are secret too
		}
	}
	value := node{Type: "string", Value: hiddenValue}
	if !masked {
		value = showValue("", at, a.MaxDepth, a.MaxItems)
	}
	return confResult{Mode: "get", Path: a.KeyPath, Value: &value, Hints: []string{"more with maxDepth and maxItems"}}, nil
}

var stepPattern = lazyregexp.New(`^[^.\[\]]+|^\[[0-9]+\]|^\["[^"]+"\]`)

// splitPath takes "a.b[0]" apart.
func splitPath(path string) (steps []string, ok bool) {
	for path != "" {
		step := stepPattern.FindString(path)
		if step == "" {
			return nil, false
		}
		path = strings.TrimPrefix(path[len(step):], ".")
		steps = append(steps, strings.Trim(step, `[]"`))
	}
	return steps, true
}

// memberOf returns what a key or an index names, by its exact name.
func memberOf(v gjson.Result, step string) (found gjson.Result, ok bool) {
	if v.IsArray() {
		i, err := strconv.Atoi(step)
		items := v.Array()
		if err != nil || i < 0 || i >= len(items) {
			return found, false
		}
		return items[i], true
	}
	if v.IsObject() {
		v.ForEach(func(k, m gjson.Result) bool {
			if k.String() == step {
				found, ok = m, true
			}
			return !ok
		})
	}
	return found, ok
}

// describeValue returns the end of a sentence about the content of a value, for the error about a
// path that does not exist in it.
func describeValue(v gjson.Result) string {
	switch {
	case v.IsArray():
		return fmt.Sprintf("is a list of %d", len(v.Array()))
	case !v.IsObject():
		return "is a single value"
	}
	var names []string
	v.ForEach(func(k, _ gjson.Result) bool {
		names = append(names, k.String())
		return len(names) < 20
	})
	return "are " + strings.Join(names, ", ")
}

// showValue returns a value, depth levels deep, with the values of secret keys hidden.
func showValue(name string, v gjson.Result, depth, limit int) node {
	switch {
	case isSecretKey(name) && v.Type != gjson.Null && v.String() != "":
		return node{Type: "string", Value: hiddenValue}
	case v.IsObject():
		n := node{Type: "object"}
		if depth > 0 {
			n.Entries = map[string]node{}
		}
		v.ForEach(func(k, m gjson.Result) bool {
			if depth <= 0 || len(n.Entries) >= limit {
				n.Truncated = true
				n.Omitted++
				return true
			}
			n.Entries[k.String()] = showValue(k.String(), m, depth-1, limit)
			return true
		})
		return n
	case v.IsArray():
		n := node{Type: "array"}
		v.ForEach(func(_, m gjson.Result) bool {
			if depth <= 0 || len(n.Items) >= limit {
				n.Truncated = true
				n.Omitted++
				return true
			}
			n.Items = append(n.Items, showValue("", m, depth-1, limit))
			return true
		})
		return n
	}
	switch v.Type {
	case gjson.String:
		return node{Type: "string", Value: hideCredentials(v.Str)}
	case gjson.Number:
		return node{Type: "number", Value: json.RawMessage(v.Raw)} // with all its digits
	case gjson.True, gjson.False:
		return node{Type: "boolean", Value: v.Bool()}
	}
	return node{Type: "null"}
}

// withoutNotes lists the sections of the configuration that reveal nothing about notes. The other sections hold the
// window's layout with ids and titles of open documents, the number of documents, the state of the tour, and anything
// unknown.
var withoutNotes = map[string]bool{
	"accessAuthCode": true, "account": true, "ai": true, "api": true, "appearance": true, "bazaar": true, "cloudRegion": true,
	"cookieKey": true, "dataIndexState": true, "editor": true, "export": true, "fileTree": true, "flashcard": true, "graph": true,
	"keymap": true, "lang": true, "langs": true, "logLevel": true, "mcpOAuth": true, "notebookCrypto": true, "publish": true,
	"readonly": true, "repo": true, "search": true, "secrets": true, "serverAddrs": true, "showChangelog": true, "snippet": true,
	"sync": true, "system": true, "tag": true, "userData": true,
}

// placeEnds are the ends of keys whose values name a notebook, a document or a place among them, in lower case.
var placeEnds = []string{"savebox", "savepath", "notebook", "notebookid", "documentid", "docid", "rootid", "blockid"}

// readableConf returns the configuration; if some notebook may not be read, without the parts that reveal notes.
func readableConf(ctx context.Context, r *action.Request, raw json.RawMessage) (json.RawMessage, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return raw, err
	}
	out := []byte("{}")
	gjson.ParseBytes(raw).ForEach(func(section, value gjson.Result) bool {
		if withoutNotes[section.String()] {
			out, err = sjson.SetRawBytes(out, gjson.Escape(section.String()), []byte(withoutPlaces(value)))
		}
		return err == nil
	})
	return out, err
}

// withoutPlaces returns a section without the places among notes that its keys name.
func withoutPlaces(v gjson.Result) string {
	switch {
	case v.IsObject():
		var parts []string
		v.ForEach(func(k, m gjson.Result) bool {
			text := withoutPlaces(m)
			if namesPlace(k.String()) && m.Type == gjson.String && m.Str != "" {
				text = `"` + hiddenValue + `"`
			}
			parts = append(parts, k.Raw+":"+text)
			return true
		})
		return "{" + strings.Join(parts, ",") + "}"
	case v.IsArray():
		var parts []string
		v.ForEach(func(_, m gjson.Result) bool {
			parts = append(parts, withoutPlaces(m))
			return true
		})
		return "[" + strings.Join(parts, ",") + "]"
	}
	return v.Raw
}

func namesPlace(key string) bool {
	key = strings.ToLower(key)
	for _, end := range placeEnds {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

const hiddenValue = "[REDACTED]"

// secretEnds are the ends of keys whose values are hidden, in lower case without
// punctuation, in the singular.
var secretEnds = []string{
	"apikey", "accesstoken", "refreshtoken", "sessiontoken", "bearertoken", "token", "secret", "clientsecret", "password",
	"passwd", "cookie", "authorization", "credential", "privatekey", "jwt", "ticket", "assertion",
	"samlresponse", "oauthverifier",
	// SiYuan's own: the code of the lock screen, keys of the data repository and of locked
	// notebooks, cloud accounts, what was signed in to.
	"accessauthcode", "cookiekey", "repokey", "userdata", "accesskey", "secretkey", "salt", "verifier", "nonce", "oauth",
	"passphrase", "pwd",
}

// secretNames are keys that are secret if the whole name is one of them, in the singular or plural.
var secretNames = map[string]bool{
	"key": true,
	"env": true, "header": true, "arg": true, // of the servers that SiYuan's own assistant uses
}

// isSecretKey reports whether the value of a key must not be shown.
func isSecretKey(key string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	singular := strings.TrimSuffix(plain, "s")
	if secretNames[plain] || secretNames[singular] {
		return true
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(plain, end) || strings.HasSuffix(singular, end) {
			return true
		}
	}
	return false
}

// userPattern matches the name and password before the host of an address.
var userPattern = lazyregexp.New(`(://)[^/?#\s]*@|^[^/?#@\s:]*:[^/?#\s]*@`)

// secretParameter matches a parameter of an address with its value.
var secretParameter = lazyregexp.New(`([?&;#])([^=?&;#\s]+)=([^&;#\s]+)`)

// secretParameters are the names of URL parameters with secret values, besides those in secretNames.
var secretParameters = map[string]bool{"auth": true, "code": true, "sig": true, "signature": true, "pass": true}

// hideCredentials returns a text of the configuration without the credentials of an address in it.
func hideCredentials(text string) string {
	if strings.Contains(text, "=") {
		text = secretParameter.ReplaceAllStringFunc(text, func(found string) string {
			m := secretParameter.FindStringSubmatch(found)
			if name, err := url.QueryUnescape(m[2]); err != nil || isSecretKey(name) || secretParameters[strings.ToLower(name)] {
				return m[1] + m[2] + "=" + hiddenValue
			}
			return found
		})
	}
	if !strings.Contains(text, "@") {
		return text
	}
	return userPattern.ReplaceAllString(text, "$1"+hiddenValue+"@")
}

// withoutUser returns a host without the credentials before an @.
func withoutUser(host string) string {
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		return host[i+1:]
	}
	return host
}
