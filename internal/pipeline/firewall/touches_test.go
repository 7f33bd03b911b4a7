package firewall_test

import (
	"encoding/json"
	"slices"
	"testing"

	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
)

// Touches returns all files, hosts and commands of a call, or nil if any part of the call is unclear.
func TestTouches(t *testing.T) {
	t.Parallel()
	links := map[string]string{"/home/ada/site/link": "/srv/elsewhere"}
	s := firewall.New(firewall.Options{Files: firewall.Files{Home: "/home/ada", Resolve: func(p string) string {
		if to, ok := links[p]; ok {
			return to
		}
		return p
	}}})
	for args, want := range map[string][]string{
		`{"path":"/home/ada/site/a.go","content":"https://x.org"}`:   {"file /home/ada/site/a.go", "host https://x.org"},
		`{"path":"~/site/../site/a"}`:                                {"file /home/ada/site/a"},
		`{"path":"/home/ada/site/link"}`:                             {"file /srv/elsewhere"},
		`{"source":"/home/ada/a","destination":"/home/ada/b"}`:       {"file /home/ada/a", "file /home/ada/b"},
		`{"paths":["/home/ada/a","b"]}`:                              nil,
		`{"path":"a.go"}`:                                            nil,
		`{"path":"/home/ada/.ssh/id_rsa"}`:                           nil, // denied anyway
		`{"url":"https://Go.dev:8443/x?y"}`:                          {"host https://go.dev:8443"},
		`{"url":"https://go.dev./x"}`:                                {"host https://go.dev"},
		`{"url":"https://g%6f.dev/"}`:                                nil,
		`{"url":"https://gо.dev/"}`:                                  nil, // a Cyrillic letter
		`{"url":"go.dev/x"}`:                                         nil,
		`{"url":"notion://page"}`:                                    nil,
		`{"url":"file:///home/ada/site/a"}`:                          {"file /home/ada/site/a"},
		`{"command":"go test ./..."}`:                                {"command go\ntest\n./..."},
		`{"command":"go","args":["test"]}`:                           {"command go\ntest"},
		`{"command":["go","test"]}`:                                  {"command go\ntest"},
		`{"command":"go test && rm x"}`:                              nil,
		`{"command":"go test; go vet"}`:                              nil,
		"{\"command\":\"go test\\nrm x\"}":                           nil,
		`{"command":"go test $(rm x)"}`:                              nil,
		`{"command":"go test $X"}`:                                   nil,
		`{"command":"go test *"}`:                                    nil,
		`{"command":"go test > x"}`:                                  nil,
		`{"command":"X=y go test"}`:                                  nil,
		`{"command":"go test &"}`:                                    nil,
		`{"command":"! go test"}`:                                    nil,
		`{"command":"go 'test"}`:                                     nil,
		`{"command":["go","te\nst"]}`:                                nil,
		`{"command":"cat /home/ada/site/a"}`:                         {"command cat\n/home/ada/site/a"},
		`{"command":"go test","cwd":"/home/ada/site"}`:               {"file /home/ada/site", "command go\ntest"},
		`{"command":"go test","env":{"GOFLAGS":"-exec=./x"}}`:        nil,
		`{"commands":["go test","ls"]}`:                              {"command go\ntest", "command ls"},
		`{"command":"make all","cmd":"ls"}`:                          {"command make\nall", "command ls"},
		`{"command":"ls","shell":"bash"}`:                            {"command ls"},
		`{"sql":"SELECT 1"}`:                                         nil,
		`{"title":"words","count":3}`:                                {},
		`{}`:                                                         {},
		`{"path":"/home/ada/site/a","url":"mailto:eve@example.org"}`: nil,
	} {
		c := &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Origin: tool.Chat}, Tool: "x", Args: json.RawMessage(args),
			Action: &tool.Action{Name: "do_it", InputSchema: json.RawMessage(`{"type":"object"}`)},
		}
		got := []string{}
		for _, touch := range s.Touches(c) {
			got = append(got, string(touch.Kind)+" "+touch.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s touches %q, want %q", args, got, want)
		}
		c.Action.Risk = tool.RiskHigh
		if own := s.Touches(c); own != nil {
			t.Errorf("%s of our own touches %v", args, own)
		}
	}
}
