package system

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// secretKeys are names of secrets in the spellings of many configurations, and names of other secrets in the
// configuration of SiYuan.
var secretKeys = []string{
	"apiKey", "api_key", "X-Api-Key", "accessToken", "refresh_token", "sessionToken", "bearerToken", "token", "userToken", "Secret",
	"client-secret", "password", "PASSWD", "cookie", "Cookies", "Authorization", "credential", "credentials", "privateKey", "jwt",
	"ticket", "assertion", "SAMLResponse", "oauth_verifier",
	"accessAuthCode", "cookieKey", "key", "userData", "accessKey", "secretKey", "secrets", "masterSalt", "kekVerifier",
	"verifierNonce", "mcpOAuth", "passphrase", "pwd", "env", "headers", "args",
}

func TestSecretKeys(t *testing.T) {
	t.Parallel()
	for _, key := range secretKeys {
		if !isSecretKey(key) {
			t.Errorf("%s is not a secret", key)
		}
	}
	for _, key := range []string{
		"fontSize", "keymap", "keyLength", "hotkeyed", "tokenizer", "tag", "lang", "kernelVersion", "monkey", "name", "",
		"maxCompletionTokensLimit", "secretary",
	} {
		if isSecretKey(key) {
			t.Errorf("%s is a secret", key)
		}
	}
}

// recordedConf returns the configuration in a real kernel's answer to getConf.
func recordedConf(t testing.TB) any {
	t.Helper()
	for _, row := range kerneltest.Recordings(t) {
		if row.Path == "/api/system/getConf" {
			var v any
			if err := json.Unmarshal([]byte(gjson.GetBytes(row.RespBody, "data.conf").Raw), &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatal("getConf was not recorded")
	return nil
}

const plantedText = "PLANTED"

// plantSecrets puts a text into every value of a secret key, and secret keys of all names into every object.
func plantSecrets(v any, isSecret bool, next *int) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, m := range v {
			out[k] = plantSecrets(m, isSecret || slices.Contains(secretKeys, k), next)
		}
		if !isSecret && len(v) > 0 {
			for i, k := range secretKeys {
				if _, taken := v[k]; taken {
					continue
				}
				*next++
				text := fmt.Sprintf("%s%d", plantedText, *next)
				out[k] = [...]any{text, []any{text}, map[string]any{"inner": text, text: 1}}[i%3]
			}
		}
		return out
	case []any:
		var out []any
		for _, m := range v {
			out = append(out, plantSecrets(m, isSecret, next))
		}
		if isSecret {
			out = append(out, plantedText)
		}
		return out
	}
	if isSecret {
		return plantedText
	}
	return v
}

func newPlantedConf(t testing.TB) gjson.Result {
	t.Helper()
	n := 0
	raw, err := json.Marshal(plantSecrets(recordedConf(t), false, &n))
	if err != nil {
		t.Fatal(err)
	}
	if n < 500 {
		t.Fatalf("only %d secrets were planted", n)
	}
	return gjson.ParseBytes(raw)
}

// keyPaths returns the key paths of all values.
func keyPaths(v gjson.Result, at string) []string {
	var out []string
	if at != "" {
		out = append(out, at)
	}
	i := 0
	v.ForEach(func(k, m gjson.Result) bool {
		step := fmt.Sprintf("[%d]", i)
		i++
		if v.IsObject() {
			step = strings.TrimPrefix(at+"."+k.String(), at)
			if strings.ContainsAny(k.String(), ".[]") || at == "" {
				step = `["` + k.String() + `"]`
			}
		}
		if m.IsObject() || m.IsArray() {
			out = append(out, keyPaths(m, at+step)...)
		} else {
			out = append(out, at+step)
		}
		return true
	})
	return out
}

func encodeJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestNoSecretShowsInTheSummary(t *testing.T) {
	t.Parallel()
	root := newPlantedConf(t)
	got := encodeJSON(t, confSummary(root, &confArgs{MaxDepth: 5, MaxItems: 100}))
	if i := strings.Index(got, plantedText); i >= 0 {
		t.Errorf("the summary shows a secret: %s", got[max(0, i-200):i+30])
	}
	if !strings.Contains(got, hiddenValue) || !strings.Contains(got, "midnight") {
		t.Error("the summary shows nothing")
	}
}

func TestNoSecretShowsByItsPath(t *testing.T) {
	t.Parallel()
	root := newPlantedConf(t)
	all := keyPaths(root, "")
	if len(all) < 1000 {
		t.Fatalf("only %d paths", len(all))
	}
	r := &action.Request{Action: conf()}
	shown := 0
	for _, path := range all {
		got, err := confGet(r, root, &confArgs{Mode: "get", KeyPath: path, MaxDepth: 5, MaxItems: 100})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		value := gjson.Get(encodeJSON(t, got), "value").Raw // except the path, which repeats the caller's text
		if strings.Contains(value, plantedText) {
			t.Errorf("%s shows a secret: %s", path, value)
		}
		if !strings.Contains(value, hiddenValue) {
			shown++
		}
	}
	if shown < 200 {
		t.Errorf("%d values are shown at all", shown)
	}
}

// Masking secrets leaves everything else in the configuration as it is.
func TestRecordedConfIsShown(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(recordedConf(t))
	if err != nil {
		t.Fatal(err)
	}
	root := gjson.ParseBytes(raw)
	got := encodeJSON(t, confSummary(root, &confArgs{MaxDepth: 5, MaxItems: 100}))
	for _, leak := range []string{"TEST_TOKEN", "TEST_COOKIE_KEY"} {
		if strings.Contains(got, leak) {
			t.Errorf("the summary shows %s", leak)
		}
	}
	r := &action.Request{Action: conf()}
	for path, want := range map[string]string{
		"editor.fontSize": `{"type":"number","value":16}`, "appearance.darkThemes[0].name": `{"type":"string","value":"midnight"}`,
		"editor.rtl": `{"type":"boolean","value":false}`, "api.token": `{"type":"string","value":"[REDACTED]"}`,
		"cookieKey": `{"type":"string","value":"[REDACTED]"}`, "editor.fontFamily": `{"type":"string","value":""}`,
		"notebookCrypto.kdfParams.keyLength": `{"type":"number","value":32}`,
		`sync["s3"].timeout`:                 `{"type":"number","value":60}`,
	} {
		v, err := confGet(r, root, &confArgs{Mode: "get", KeyPath: path, MaxDepth: 1, MaxItems: 12})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if got := gjson.Get(encodeJSON(t, v), "value").Raw; got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestAddressHidesCredentials(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://127.0.0.1:16806":                  "http://127.0.0.1:16806",
		"https://me:pass@example.org/dav?a=b":     "https://[REDACTED]@example.org/dav?a=b",
		"https://me:p@ss@example.org":             "https://[REDACTED]@example.org",
		"socks5://token@example.org:1080":         "socks5://[REDACTED]@example.org:1080",
		"me:pass@example.org:8080":                "[REDACTED]@example.org:8080",
		"https://example.org/a@b":                 "https://example.org/a@b",
		"write to me@example.org":                 "write to me@example.org",
		"https://a.example/mcp?api_key=b&c=d":     "https://a.example/mcp?api_key=[REDACTED]&c=d",
		"https://a.example/mcp?c=d&sig=b#token=e": "https://a.example/mcp?c=d&sig=[REDACTED]#token=[REDACTED]",
		"https://a.example/?access%5Ftoken=b":     "https://a.example/?access%5Ftoken=[REDACTED]",
		"https://a.example?x=1 https://b:c@d.ex":  "https://a.example?x=1 https://[REDACTED]@d.ex",
	} {
		if got := hideCredentials(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestSummaryIsCut(t *testing.T) {
	t.Parallel()
	root := gjson.Parse(`{"a":{"b":{"c":1},"d":[1,2,3]},"e":9007199254740993,"f":null}`)
	tests := []struct {
		depth, items int
		want         string
	}{
		{depth: 0, items: 12, want: `{"a":{"type":"object","truncated":true,"omittedKeys":2},"e":{"type":"number","value":9007199254740993},"f":{"type":"null"}}`},
		{depth: 1, items: 1, want: `{"a":{"type":"object","entries":{"b":{"type":"object","truncated":true,"omittedKeys":1}},"truncated":true,"omittedKeys":1}}`},
		{depth: 2, items: 2, want: `{"a":{"type":"object","entries":{"b":{"type":"object","entries":{"c":{"type":"number","value":1}}},"d":{"type":"array","items":[{"type":"number","value":1},{"type":"number","value":2}],"truncated":true,"omittedKeys":1}}},"e":{"type":"number","value":9007199254740993}}`},
	}
	for _, tt := range tests {
		got := gjson.Parse(encodeJSON(t, confSummary(root, &confArgs{MaxDepth: tt.depth, MaxItems: tt.items})))
		if got.Get("summary").Raw != tt.want {
			t.Errorf("depth %d, items %d:\n got %s\nwant %s", tt.depth, tt.items, got.Get("summary").Raw, tt.want)
		}
		if got.Get("totalTopLevelKeys").Int() != 3 || got.Get("truncatedTopLevelKeys").Int() != int64(max(0, 3-tt.items)) {
			t.Errorf("%s", got.Raw)
		}
	}
}

// FuzzKeyPath checks that no path shows a secret, and that any error is that of invalid input.
func FuzzKeyPath(f *testing.F) {
	root := newPlantedConf(f)
	for _, seed := range []string{
		"editor.fontSize", "api.token", `api["token"]`, "secrets.items[0].value", "a..b", "[0]", `["a"]["b"]`, "api.token.inner", "",
		".", "appearance.darkThemes[99999999999999999999]", "appearance.darkThemes[+1]", "api.*", "api.#", "@this", `api.tok\en`, "编辑器",
	} {
		f.Add(seed, 2)
	}
	r := &action.Request{Action: conf()}
	f.Fuzz(func(t *testing.T, path string, depth int) {
		got, err := confGet(r, root, &confArgs{Mode: "get", KeyPath: path, MaxDepth: min(max(depth, 0), 5), MaxItems: 100})
		if err != nil {
			if tool.KindOf(err) != tool.Invalid {
				t.Errorf("%q: %v", path, err)
			}
			if !strings.Contains(path, plantedText) && strings.Contains(err.Error(), plantedText) {
				t.Errorf("%q: the error shows a secret: %v", path, err)
			}
			return
		}
		if value := gjson.Get(encodeJSON(t, got), "value").Raw; strings.Contains(value, plantedText) {
			t.Errorf("%q shows a secret: %s", path, value)
		}
	})
}
