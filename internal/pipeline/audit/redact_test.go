package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"collie/internal/pipeline/audit"
	"collie/test/await"
)

// The keys are assembled here, so that no secret scanner reports this file.
const opaque = "Zq7Xw2Lk9Vb4Nm1Pt6Rs3Yd8Hc5Jf0Ga"

var exampleSecrets = map[string]string{
	"openai":         "sk-" + opaque,
	"openai project": "sk-proj-" + opaque + "_-" + opaque,
	"github":         "ghp_" + opaque,
	"github fine":    "github_pat_" + opaque + "_" + opaque,
	"slack":          "xoxb-123456789012-" + opaque,
	"aws":            "AKIA" + "ZQXWLKVBNMPTRSYD",
	"google":         "AIza" + opaque + "abc",
	"jwt":            "eyJhbGciOiJIUzI1NiJ9." + "eyJ" + opaque + "." + opaque,
	"pem":            "-----BEGIN RSA PRIVATE " + "KEY-----\n" + opaque + "\n-----END RSA PRIVATE " + "KEY-----",
	"bearer":         "Bearer " + opaque + "_x",
	"basic":          "basic " + "dXNlcjpacTdYdzJMazlWYjRObTFQdDZSczNZZDhIYzVKZjBHYQ==",
	"url":            "postgres://admin:" + opaque + "@db.example:5432/notes",
	"assignment":     "password=" + opaque,
	"query":          "https://example.com/x?access_token=" + opaque + "&n=1",
	"quoted":         `{"api_key": "` + opaque + ` and more"}`,
	"header":         "Authorization: Digest username=x, response=" + opaque,
}

// containsSecret reports whether text still contains 12 consecutive characters of opaque, or a typical part of one of the other shapes.
func containsSecret(text string) bool {
	for i := range len(opaque) - 12 {
		if strings.Contains(text, opaque[i:i+12]) {
			return true
		}
	}
	return strings.Contains(text, "WLKVBNMP") || strings.Contains(text, "MazlWYjRObTFQ")
}

func decodeString(t testing.TB, raw []byte) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s
}

func TestShapes(t *testing.T) {
	t.Parallel()
	r := audit.NewRedactor(nil, "")
	for name, secret := range exampleSecrets {
		for _, text := range []string{secret, "before " + secret + " after", "(" + secret + ")", "笔记" + secret} {
			if name == "header" && strings.HasPrefix(text, "(") {
				continue
			}
			got := decodeString(t, r.AppendText(nil, text))
			if containsSecret(got) {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			if strings.HasSuffix(text, " after") && name != "header" && !strings.HasSuffix(got, " after") {
				t.Errorf("%s: %q lost its end", name, got)
			}
		}
	}
}

// A value goes on after quotes that belong to it.
func TestQuotesInValues(t *testing.T) {
	t.Parallel()
	r := audit.NewRedactor(nil, "")
	for text, want := range map[string]string{
		`curl -H 'Cookie: JSESSIONID="ajax:12"; li_at=` + opaque + `' https://x.example`:                    `curl -H 'Cookie: ***`,
		"curl -H \"Authorization: Basic " + opaque + "==\" https://example.org/a\nsay \"more\"":             "curl -H \"Authorization: ***\" https://example.org/a\nsay \"more\"",
		`curl -H "Authorization: Digest username=\"bob\", response=\"` + opaque + `\"" https://example.org`: `curl -H "Authorization: ***" https://example.org`,
		`Authorization: Digest username="bob", realm="a \"b\"", response="` + opaque + `"`:                  `Authorization: ***`,
		`curl -H "Cookie: a=` + opaque + `" https://x.example`:                                              `curl -H "Cookie: ***" https://x.example`,
		`{\"password\":\"ab\\\"cd\",\"n\":1}`:                                                               `{\"password\":***,\"n\":1}`,
		`{\"password\":\"ab\",\"n\":\"x\"}`:                                                                 `{\"password\":***,\"n\":\"x\"}`,
		`{"password":"ab\"cd","n":1}`:                                                                       `{"password":***,"n":1}`,
	} {
		if got := decodeString(t, r.AppendText(nil, text)); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	t.Parallel()
	r := audit.NewRedactor([]string{"no"}, "")
	for _, text := range []string{
		"", "plain", "task-force-with-a-very-long-name-indeed", "risk-assessment-document-2024-final", "basic understanding of it",
		"see https://example.com:8080/a@b", "ssh://git@github.com/x", "a=b", "time: 12:30", "-----BEGIN CERTIFICATE-----", "AIzaic",
		"20210817205410-2kvfpfn", "the bearer of this", "eyJust a word", "max_tokens=100", "知识 note", "0198c5a5-7a61-7cc0-b9f8-000000000000",
	} {
		if got := decodeString(t, r.AppendText(nil, text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestRedactJSON(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-value"
	r := audit.NewRedactor([]string{secret, "98765432", "tiny", `quo"ted`}, "")
	tests := map[string]struct{ in, want string }{
		"nothing":         {`{"a":[1,2.5e3,true,null,"x"]}`, `{"a":[1,2.5e3,true,null,"x"]}`},
		"space":           {" { \"a\" :\n[ 1 ,\t2 ] } ", `{"a":[1,2]}`},
		"field":           {`{"password":"x","b":1}`, `{"password":"***","b":1}`},
		"spelling":        {`{"API-Key":"x","apiKey":"x","X_API_KEY":"x"}`, `{"API-Key":"***","apiKey":"***","X_API_KEY":"***"}`},
		"number":          {`{"password":1234}`, `{"password":"***"}`},
		"object":          {`{"credentials":{"a":["}"]},"b":1}`, `{"credentials":"***","b":1}`},
		"list":            {`{"cookies":["a","b"],"b":1}`, `{"cookies":"***","b":1}`},
		"flags":           {`{"secret":true,"token":null}`, `{"secret":true,"token":null}`},
		"counts":          {`{"max_tokens":100,"tokens":"x"}`, `{"max_tokens":100,"tokens":"***"}`},
		"escaped name":    {`{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"***"}`},
		"configured":      {`["` + secret + `"]`, `["***"]`},
		"inside":          {`["a ` + secret + ` b"]`, `["a *** b"]`},
		"escaped value":   {`["\u0068unter2-val\u0075e"]`, `["***"]`},
		"key":             {`{"` + secret + `":1}`, `{"***":1}`},
		"nested":          {`[[{"a":{"b":["` + secret + `"]}}]]`, `[[{"a":{"b":["***"]}}]]`},
		"digits":          {`[98765432,198765432]`, `["***","***"]`},
		"short":           {`["tiny","tinyx"]`, `["***","tinyx"]`},
		"quote":           {`["quo\"ted"]`, `["***"]`},
		"JSON in string":  {`["{\"x\":\"quo\\\"ted\"}"]`, `["{\"x\":\"***\"}"]`},
		"escapes stay":    {`["\u00e9\/\ud83d\ude00\ud800"]`, `["\u00e9\/\ud83d\ude00\ud800"]`},
		"no JSON":         {`{"password":"x"`, `"{\"password\":***"`},
		"several":         {`{} {}`, `"{} {}"`},
		"no JSON, secret": {secret, `"***"`},
		"empty":           {``, `null`},
	}
	for name, tt := range tests {
		if got := string(r.AppendJSON(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("%s: %s became %s, want %s", name, tt.in, got, tt.want)
		}
	}
}

func TestLongStrings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("狗", 5000)
	in, _ := json.Marshal([]string{long, "short"})
	var out []string
	if err := json.Unmarshal(audit.NewRedactor(nil, "").AppendJSON(nil, in), &out); err != nil {
		t.Fatal(err)
	}
	if len(out[0]) > 2<<10 || !utf8.ValidString(out[0]) || strings.ContainsRune(out[0], utf8.RuneError) ||
		!strings.Contains(out[0], "of 15000 bytes left out") || out[1] != "short" {
		t.Errorf("cut to %d bytes: %q", len(out[0]), out[0])
	}
	if full := audit.NewRedactor(nil, audit.ContentFull).AppendJSON(nil, in); string(full) != string(in) {
		t.Errorf("full content was changed: %d bytes of %d", len(full), len(in))
	}
	// A secret at the place of the cut is removed before the text is cut.
	text := strings.Repeat("x", 1020) + " " + exampleSecrets["openai"] + strings.Repeat(" y", 2000)
	if got := decodeString(t, audit.NewRedactor(nil, "").AppendText(nil, text)); strings.Contains(got, opaque[:3]) {
		t.Errorf("half a key is left: %q", got)
	}
}

func TestManySmallStrings(t *testing.T) {
	t.Parallel()
	in := []byte(`[` + strings.Repeat(`"0123456789",`, 10_000) + `1]`)
	out := audit.NewRedactor(nil, "").AppendJSON(nil, in)
	if s := decodeString(t, out); len(s) > 2<<10 {
		t.Errorf("%d bytes of arguments are kept as %d", len(in), len(out))
	}
}

func TestContentNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, &audit.Options{Content: audit.ContentNone})
	r := newRecord(1)
	r.Message = "what the user wrote"
	_ = l.Append(r)
	_ = l.Close()
	got := queryAll(t, dir, audit.Filter{CallID: "c1"})
	if len(got) != 1 || got[0].Args != nil || got[0].Message != "" || !bytes.Contains(got[0].Raw, []byte(`"argsHmac"`)) {
		t.Errorf("kept %s", got[0].Raw)
	}
}

func TestArgsHmac(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, dir, nil)
	for _, pw := range []string{"a", "b", "a"} {
		r := newRecord(1)
		r.Args = json.RawMessage(`{"password":"` + pw + `"}`)
		_ = l.Append(r)
	}
	_ = l.Close()
	var macs []string
	for _, e := range queryAll(t, dir, audit.Filter{Kind: "call"}) {
		var r struct{ ArgsHmac string }
		if err := json.Unmarshal(e.Raw, &r); err != nil {
			t.Fatal(err)
		}
		macs = append(macs, r.ArgsHmac)
	}
	if len(macs) != 3 || len(macs[0]) != 32 || macs[0] == macs[1] || macs[0] != macs[2] {
		t.Errorf("digests = %q, want the first and the last alike", macs)
	}
}

// A long text that looks like the start of a token at every fourth byte is still read only once.
func TestRedactionIsLinear(t *testing.T) {
	t.Parallel()
	r := audit.NewRedactor(nil, "")
	const size, times = 32 << 10, 8
	for _, piece := range []string{"eyJ-", "-----BEGIN ", "sk-", "://", "token=", "\"=", "Cookie: a=\"", "bearer ", "AKIA", "a:b@"} {
		text := strings.Repeat(piece, times*size/len(piece))
		took := func(text string) time.Duration {
			begin := time.Now()
			r.AppendText(nil, text)
			return time.Since(begin)
		}
		// The shortest of several runs is one that other processes disturbed little. The short text is read
		// as often as makes the same total, so that disturbances affect both equally.
		short, long := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for tries := 0; tries < 30 && (tries == 0 || long > times*times/2*short); tries++ {
			begin := time.Now()
			for range times {
				r.AppendText(nil, text[:size])
			}
			short, long = min(short, time.Since(begin)/times), min(long, took(text))
		}
		if long > times*times/2*short && !await.Race {
			t.Errorf("%d times as much of %q took %v instead of %v", times, piece, long, short)
		}
	}
}

const canary = "CanarySecret"

// FuzzRedactJSON: any input gives one line of valid JSON that does not contain the secret.
func FuzzRedactJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":"` + canary + `"}`, `{"` + canary + `":[{"b":"x` + canary + `"}]}`, `["\u0043anarySecret"]`, canary,
		`{"password":{"a":[1,{"b":"}"}]},"c":"d"}`, `"\ud83d\ude00\ud800x"`, "\"\xff" + canary + "\"", `["` + strings.Repeat("x", 3000) + canary + `"]`,
		`{"a":-1.5e+3 , "token" : "x" }`, `["Bearer abcdefgh","://u:p@h","a=b"]`, `{"text":"password: \"a\\\"b\""}`,
	} {
		f.Add([]byte(s))
	}
	r := audit.NewRedactor([]string{canary}, "")
	f.Fuzz(func(t *testing.T, in []byte) {
		out := r.AppendJSON([]byte("x"), in)[1:]
		if !json.Valid(out) || bytes.IndexByte(out, '\n') >= 0 {
			t.Fatalf("%q became %q", in, out)
		}
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Skip("a number no float64 can hold")
		}
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(plain, []byte(canary)) || bytes.Contains(out, []byte(canary)) {
			t.Fatalf("%q became %q", in, out)
		}
	})
}

// FuzzShapes: no text around a secret hides it from the redactor.
func FuzzShapes(f *testing.F) {
	for _, s := range exampleSecrets {
		f.Add("before", s, "after")
		f.Add("password=\"", s, "\"")
		f.Add("password=", s, "") // the assignment's value must not swallow the beginning of s
	}
	known := map[string]bool{}
	for _, s := range exampleSecrets {
		known[s] = true
	}
	r := audit.NewRedactor(nil, "")
	f.Fuzz(func(t *testing.T, before, secret, after string) {
		if !known[secret] {
			secret = exampleSecrets["openai"]
		}
		if containsSecret(before) || containsSecret(after) {
			t.Skip("a secret that the fuzzer wrote around the planted one")
		}
		out := r.AppendText(nil, before+" "+secret+" "+after)
		if got := decodeString(t, out); containsSecret(got) {
			t.Fatalf("%q, %q, %q became %q", before, secret, after, got)
		}
	})
}

// Secrets that are hidden at the same time are all hidden.
func TestHideTogether(t *testing.T) {
	t.Parallel()
	r := audit.NewRedactor(nil, audit.ContentFull)
	var group sync.WaitGroup
	secret := func(n, i int) string { return fmt.Sprintf("quite-secret-%d-%d;", n, i) }
	ready := make(chan struct{})
	for n := range 8 {
		group.Go(func() {
			<-ready
			for i := range 40 {
				r.Hide([]string{secret(n, i)})
			}
		})
	}
	close(ready)
	group.Wait()
	for n := range 8 {
		for i := range 40 {
			if got := string(r.AppendText(nil, secret(n, i))); got != `"***"` {
				t.Fatalf("%s", got)
			}
		}
	}
}
