package fidelity_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/mcp/mcptest"
	"collie/test/binary"
)

// upstream is a fakemcp behind Collie, and a way to reach the same program without Collie.
type upstream struct {
	name   string // in the configuration; also the prefix of its tools
	era    string // legacy, modern or both
	entry  string // of the configuration
	record string // file with the messages that it receives
	seed   int64  // from which its unusual definitions are generated
	direct func(t *testing.T) *client
}

// modern reports whether Collie speaks the modern protocol with the server.
func (u *upstream) modern() bool { return u.era != "legacy" }

// flags returns the flags with which the server is started. The URIs of their resources differ, or they would
// clash behind Collie.
func (u *upstream) flags() []string {
	return []string{
		"--era=" + u.era, "--scheme=" + u.scheme(), "--record=" + u.record, "--odd", fmt.Sprintf("--seed=%d", u.seed),
	}
}

func (u *upstream) scheme() string { return strings.ReplaceAll(u.name, "_", "-") }

func (u *upstream) version() string {
	if u.modern() {
		return modern
	}
	return legacy
}

// startUpstreams starts what has to be started and returns a server of each transport and era.
func startUpstreams(t *testing.T, seed int64) []*upstream {
	t.Helper()
	fake := mcptest.Build(t)
	var list []*upstream
	for _, transport := range []string{"stdio", "http"} {
		for _, era := range []string{"legacy", "modern", "both"} {
			u := &upstream{name: transport + "_" + era, era: era, seed: seed, record: filepath.Join(t.TempDir(), "heard")}
			flags := u.flags()
			if transport == "stdio" {
				u.entry = `{"command":` + quote(t, fake) + `,"args":["` + strings.Join(flags, `","`) + `"]}`
				u.direct = func(t *testing.T) *client { return newClient(t, u.version(), startProcess(t, fake, flags...)) }
			} else {
				if era == "both" {
					flags = append(flags, "--sse")
				}
				url := mcptest.StartHTTP(t, flags...)
				u.entry = `{"url":` + quote(t, url) + `}`
				u.direct = func(t *testing.T) *client { return newClient(t, u.version(), newWeb(t, url, u.version())) }
			}
			list = append(list, u)
		}
	}
	return list
}

// writeSettings writes a configuration of servers.
func writeSettings(t *testing.T, list []*upstream) string {
	t.Helper()
	var entries []string
	for _, u := range list {
		entries = append(entries, quote(t, u.name)+":"+u.entry)
	}
	file := filepath.Join(t.TempDir(), "collie.json")
	if err := os.WriteFile(file, []byte(`{"siyuan":{"enabled":false},"cache":{"firstListWait":"10s"},"mcpServers":{`+strings.Join(entries, ",")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMain(m *testing.M) {
	mcptest.RunIfChild()
	os.Exit(m.Run())
}

// mayDiffer are the fields at result level that Collie may add or remove; where both results have one, it is the same.
var mayDiffer = []string{"resultType", "ttlMs", "cacheScope", "nextCursor"}

// TestFidelity compares what clients of both eras receive through Collie, over HTTP, stdio and the bridge of `collie
// stdio` to a gateway, byte for byte with what the servers send.
func TestFidelity(t *testing.T) {
	t.Parallel()
	seed := rand.Int64N(1 << 40)
	t.Logf("seed %d", seed)
	list := startUpstreams(t, seed)
	config, collie := writeSettings(t, list), binary.Build(t, binary.Collie)
	home := t.TempDir()
	url := binary.Serve(t, collie, config, "--home", home)
	for _, version := range []string{legacy, modern} {
		for transport, dial := range map[string]func(t *testing.T) wire{
			"http": func(t *testing.T) wire { t.Helper(); return newWeb(t, url, version) },
			"stdio": func(t *testing.T) wire {
				t.Helper()
				return startProcess(t, collie, "stdio", "--home", t.TempDir(), "--config", config)
			},
			"bridge": func(t *testing.T) wire { // stdio that finds the gateway of its home
				t.Helper()
				return startProcess(t, collie, "stdio", "--home", home, "--config", config)
			},
		} {
			t.Run("client_"+transport+"_"+version, func(t *testing.T) {
				t.Parallel()
				c := newClient(t, version, dial(t))
				definitions := listAll(t, c, "tools")
				for _, u := range list {
					p := &path{t: t, client: c, direct: u.direct(t), server: u}
					p.checkDefinitions(definitions)
					p.checkResults(seed)
					p.checkArguments(seed)
					p.checkErrors(seed)
					p.checkResources()
					p.checkPrompts()
					if transport == "http" && version == modern && u.era == "both" || transport != "http" && version == legacy && u.era == "legacy" {
						p.checkBigResult()
					}
				}
			})
		}
	}
}

// path is a client of one server through Collie, and a client of the same server without Collie.
type path struct {
	t              *testing.T
	client, direct *client
	server         *upstream
}

func (p *path) tool(name string) string { return p.server.name + "__" + name }

// checkArrived compares what the client received with what the server sends, except for the fields that
// may differ.
func (p *path) checkArrived(what string, sent, got []byte) {
	p.t.Helper()
	if p.client.version == modern && get(p.t, got, "resultType") == nil {
		p.t.Errorf("%s, %s: a modern client gets no resultType", p.server.name, what)
	}
	for _, name := range mayDiffer {
		if want, have := get(p.t, sent, name), get(p.t, got, name); want != nil && have != nil && !bytes.Equal(want, have) {
			p.t.Errorf("%s, %s: %s is %s, sent was %s", p.server.name, what, name, have, want)
		}
	}
	p.checkSame(what, removeMembers(p.t, sent, mayDiffer...), removeMembers(p.t, got, mayDiffer...))
}

// checkSame fails the test unless got has the same bytes as want, and shows where they differ.
func (p *path) checkSame(what string, want, got []byte) {
	p.t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	near := func(b []byte) []byte { return b[max(0, at-60):min(len(b), at+60)] }
	p.t.Errorf("%s, %s: %d bytes came of %d, differing at byte %d:\nsent …%s…\ncame …%s…",
		p.server.name, what, len(got), len(want), at, near(want), near(got))
}

// listAll returns the entries of a list, all pages of it.
func listAll(t *testing.T, c *client, kind string) (list []json.RawMessage) {
	t.Helper()
	params := ""
	for range 100 {
		result := c.mustResult(kind+"/list", "", params)
		list = append(list, elements(t, get(t, result, kind))...)
		next := get(t, result, "nextCursor")
		if next == nil {
			return list
		}
		params = `"cursor":` + string(next)
	}
	t.Fatal("the list does not end")
	return nil
}

// checkDefinitions compares the tools of the server with those listed through Collie: in order,
// none missing, and nothing but their names edited.
func (p *path) checkDefinitions(through []json.RawMessage) {
	p.t.Helper()
	var mine []json.RawMessage
	for _, d := range through {
		if strings.HasPrefix(string(get(p.t, d, "name")), `"`+p.tool("")) {
			mine = append(mine, d)
		}
	}
	sent := listAll(p.t, p.direct, "tools")
	if len(mine) != len(sent) {
		p.t.Fatalf("%s: %d tools came of %d", p.server.name, len(mine), len(sent))
	}
	for i, d := range mine {
		name := get(p.t, sent[i], "name")
		p.checkSame("definition "+string(name), sent[i], replaceValue(p.t, d, "name", name))
	}
	odd := mcptest.OddDefinitions(p.server.seed)
	for i, d := range sent[len(sent)-len(odd):] {
		p.checkSame("the server's own definition", odd[i], d)
	}
}

// checkResults calls tools that return generated results of several sizes, and unusual results.
func (p *path) checkResults(seed int64) {
	p.t.Helper()
	for n := range int64(seeds) {
		size := []int{1, 500, 5_000, 70_000}[n%4]
		got := p.client.call(p.tool("odd"), fmt.Sprintf(`{"seed":%d,"size":%d}`, seed+n, size))
		p.checkArrived(fmt.Sprintf("result %d of %d bytes", seed+n, size), mcptest.OddResult(seed+n, size), got)
	}
	for _, result := range []string{
		`{"content":[],"isError":true}`, `{"content":[],"structuredContent":{"n":9007199254740993,"f":1.10},"isError": false }`,
		`{}`, `{ }`, `{"content":[],"x":null}`, `{"resultType":"complete","content":[]}`, `{"content":[],"ttlMs": 5.0,"cacheScope":"x"}`,
		`{"content":[{"type":"text","text":"\ud83d\ude00\u0000\/"}],"_meta":{"com.example\/a":1e400,"io.modelcontextprotocol/serverInfo":{"name":"x","version":"1"}}}`,
		`{"content":[],"structuredContent":` + strings.Repeat(`{"a":[`, 400) + `1` + strings.Repeat(`]}`, 400) + `}`,
	} {
		p.checkArrived("result "+result[:min(len(result), 60)], []byte(result), p.client.call(p.tool("raw"), `{"result":`+result+`}`))
	}
}

// checkArguments sends odd arguments: the tool raw returns one of them, the tool echo all, as
// text, and the record shows what surrounds them.
func (p *path) checkArguments(seed int64) {
	p.t.Helper()
	for n := range int64(seeds) {
		odd := mcptest.OddResult(seed-n-1, 500)
		p.checkArrived("an argument", odd, p.client.call(p.tool("raw"), `{"result":`+string(odd)+` }`))
		args := bytes.Replace(odd, []byte("{"), []byte(`{"mark":`+fmt.Sprint(seed)+`, `), 1)
		p.checkSame("all arguments", args, p.text(p.client.call(p.tool("echo"), string(args))))
	}
	mark := fmt.Sprintf("mark-%s-%s-%d", p.client.version, p.server.name, rand.Int64())
	meta := `"_meta":{"com.example/n":1.0,"mark":"` + mark + `"`
	if p.client.version == modern {
		meta += "," + modernMeta
	}
	params := `"x-vendor":[1.0, 12345678901234567890],"name":"` + p.tool("echo") + `", "arguments": {"a":1.0} ,` + meta + `}`
	p.client.mustResult("tools/call", p.tool("echo"), params)
	heard := p.recordedParams(mark)
	heard = replaceValue(p.t, heard, "name", []byte(`"`+p.tool("echo")+`"`))
	own := []string{
		"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo",
		"io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/logLevel", "progressToken",
	}
	sent := []byte("{" + params + "}")
	sent = replaceValue(p.t, sent, "_meta", removeMembers(p.t, get(p.t, sent, "_meta"), own...))
	heard = replaceValue(p.t, heard, "_meta", removeMembers(p.t, get(p.t, heard, "_meta"), own...))
	p.checkSame("the parameters of a call", sent, heard)
	if got := p.client.call(p.tool("log"), `{"level":null,"text":"x"}`); get(p.t, got, "isError") != nil {
		p.t.Errorf("%s: null for what may be left out: %s", p.server.name, got)
	}
	for _, params := range []string{``, `,"arguments":{}`, `,"arguments":{ }`, `,"arguments":null`} { // not even an empty object is made up
		mark := fmt.Sprintf("mark-%s-%s-%d", p.client.version, p.server.name, rand.Int64())
		meta := `,"_meta":{"mark":"` + mark + `"`
		if p.client.version == modern {
			meta += "," + modernMeta
		}
		p.client.mustResult("tools/call", p.tool("pid"), `"name":"`+p.tool("pid")+`"`+params+meta+`}`)
		heard := p.recordedParams(mark)
		sent := get(p.t, []byte(`{"x":0`+params+`}`), "arguments")
		p.checkSame("the arguments "+params, sent, get(p.t, heard, "arguments"))
	}
}

// recordedParams finds the parameters that the server got with a mark in them.
func (p *path) recordedParams(mark string) []byte {
	p.t.Helper()
	all, err := os.ReadFile(p.server.record)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range bytes.SplitSeq(all, []byte("\n")) {
		if bytes.Contains(line, []byte(mark)) {
			return get(p.t, line, "params")
		}
	}
	p.t.Fatalf("%s: the server heard nothing of %s", p.server.name, mark)
	return nil
}

// text is the text of a result with one text content.
func (p *path) text(result []byte) []byte {
	p.t.Helper()
	var v struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(result, &v); err != nil || len(v.Content) != 1 {
		p.t.Fatalf("%.200s: %v", result, err)
	}
	return []byte(v.Content[0].Text)
}

// checkErrors calls a tool that fails with JSON-RPC errors of several codes.
func (p *path) checkErrors(seed int64) {
	p.t.Helper()
	for n, code := range []string{"-32603", "-32602", "-32000", "42", "-32042", "1e2", "-32002"} {
		data := string(mcptest.OddResult(seed+int64(n), 300))
		want := `{"code":` + code + `,"message":"\u00e9\/é","data":` + data + `}`
		args := `{"code":` + code + `,"message":"\u00e9\/é","data":` + data + `}`
		params := `"name":"` + p.tool("rpcerror") + `","arguments":` + args
		result, failure := p.client.request("tools/call", p.tool("rpcerror"), params)
		if failure == nil {
			p.t.Errorf("%s: the error %s became the result %.200s", p.server.name, code, result)
			continue
		}
		p.checkSame("error "+code, []byte(want), failure)
	}
}

// checkResources compares the list of resources and what they contain.
func (p *path) checkResources() {
	p.t.Helper()
	scheme := p.server.scheme()
	var mine []json.RawMessage
	for _, d := range listAll(p.t, p.client, "resources") {
		if strings.HasPrefix(string(get(p.t, d, "uri")), `"`+scheme+`:`) {
			mine = append(mine, d)
		}
	}
	for i, d := range listAll(p.t, p.direct, "resources") {
		if i >= len(mine) {
			p.t.Fatalf("%s: %d resources came", p.server.name, len(mine))
		}
		p.checkSame("resource", d, mine[i])
	}
	for _, path := range []string{"static/hello", "static/blob", "hidden", "item/5", "item/%E6%96%B0%20x"} {
		uri := scheme + "://" + path
		params := `"uri":"` + uri + `"`
		p.checkArrived("resource "+uri, p.direct.mustResult("resources/read", uri, params), p.client.mustResult("resources/read", uri, params))
	}
}

// checkPrompts compares the list of prompts, a prompt and the error of one.
func (p *path) checkPrompts() {
	p.t.Helper()
	var mine []json.RawMessage
	for _, d := range listAll(p.t, p.client, "prompts") {
		if strings.HasPrefix(string(get(p.t, d, "name")), `"`+p.tool("")) {
			mine = append(mine, d)
		}
	}
	for i, d := range listAll(p.t, p.direct, "prompts") {
		if i >= len(mine) {
			p.t.Fatalf("%s: %d prompts came", p.server.name, len(mine))
		}
		p.checkSame("prompt", d, replaceValue(p.t, mine[i], "name", get(p.t, d, "name")))
	}
	args := `,"arguments":{"name":"\u00e9<\/>新\ud83d\ude00","style":"\u0000\u2028"}`
	sent := p.direct.mustResult("prompts/get", "greet", `"name":"greet"`+args)
	p.checkArrived("prompt greet", sent, p.client.mustResult("prompts/get", p.tool("greet"), `"name":"`+p.tool("greet")+`"`+args))
	_, want := p.direct.request("prompts/get", "greet", `"name":"greet"`)
	_, got := p.client.request("prompts/get", p.tool("greet"), `"name":"`+p.tool("greet")+`"`)
	p.checkSame("the error of a prompt", want, got)
}

// checkBigResult calls a tool whose result has 16 MiB.
func (p *path) checkBigResult() {
	p.t.Helper()
	const size = 16 << 20
	result := p.client.call(p.tool("big"), fmt.Sprintf(`{"bytes":%d}`, size))
	want := `{"content":[{"type":"text","text":"` + strings.Repeat("a", size) + `"}]}`
	p.checkArrived("16 MiB", []byte(want), result)
}
