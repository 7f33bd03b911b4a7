// Record asks the servers in package.json for their tools and writes them into the folder servers, with the
// licences beside it. Run it in test/catalogs, after `npm ci --ignore-scripts`:
//
//	go run ./record
//
// The servers get dummy keys, are asked only for their lists, and run in an empty folder.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// server is a server to record.
type server struct {
	pkg  string   // npm package
	name string   // name of its file; "" means the package without its scope
	args []string // arguments of the program
	env  []string // variables without which it does not start
}

var servers = []server{
	{pkg: "@brave/brave-search-mcp-server", name: "brave-search", env: []string{"BRAVE_API_KEY=none"}},
	{pkg: "@cyanheads/git-mcp-server", name: "git"},
	{pkg: "@hubspot/mcp-server", name: "hubspot", env: []string{"PRIVATE_APP_ACCESS_TOKEN=none"}},
	{pkg: "@larksuiteoapi/lark-mcp", name: "lark-zh", args: []string{"mcp", "--app-id", "none", "--app-secret", "none", "--language", "zh", "--tools"}},
	{pkg: "@notionhq/notion-mcp-server", name: "notion", env: []string{"NOTION_TOKEN=none"}},
	{pkg: "@pinecone-database/mcp", name: "pinecone"},
	{pkg: "@playwright/mcp", name: "playwright"},
	{pkg: "@tacticlaunch/mcp-linear", name: "linear", env: []string{"LINEAR_API_TOKEN=none"}},
	{pkg: "@upstash/context7-mcp", name: "context7"},
	{pkg: "@wonderwhy-er/desktop-commander"},
	{pkg: "airtable-mcp-server", name: "airtable", env: []string{"AIRTABLE_API_KEY=none"}},
	{pkg: "chrome-devtools-mcp", name: "chrome-devtools", args: []string{"--headless"}},
	{pkg: "edgeone-pages-mcp", name: "edgeone-pages"},
	{pkg: "figma-developer-mcp", name: "figma", args: []string{"--stdio"}, env: []string{"FIGMA_API_KEY=none"}},
	{pkg: "firecrawl-mcp", name: "firecrawl", env: []string{"FIRECRAWL_API_KEY=none"}},
	{pkg: "mcp-server-kubernetes", name: "kubernetes"},
	{pkg: "mongodb-mcp-server", name: "mongodb"},
	{pkg: "tavily-mcp", name: "tavily", env: []string{"TAVILY_API_KEY=none"}},
}

func main() {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	if err := recordAll(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// recordAll records all servers, one after the other.
func recordAll(ctx context.Context) error {
	larkTools, err := os.ReadFile("record/lark-tools.txt")
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.name == "" {
			s.name = s.pkg[strings.IndexByte(s.pkg, '/')+1:]
		}
		if s.pkg == "@larksuiteoapi/lark-mcp" {
			s.args = append(s.args, strings.Join(strings.Fields(string(larkTools)), ","))
		}
		n, err := s.record(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.pkg, err)
		}
		fmt.Fprintf(os.Stderr, "%-32s %d tools\n", s.name, n)
	}
	return nil
}

// record writes the tools that one server lists, and its licence.
func (s *server) record(ctx context.Context) (int, error) {
	folder, err := filepath.Abs(filepath.Join("node_modules", s.pkg))
	if err != nil {
		return 0, err
	}
	meta, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return 0, err
	}
	tools, err := s.list(ctx, filepath.Join(folder, program(meta)))
	if err != nil {
		return 0, err
	}
	var text bytes.Buffer
	for _, t := range tools {
		if err := json.Compact(&text, []byte(t.Raw)); err != nil {
			return 0, err
		}
		text.WriteByte('\n')
	}
	if err := os.WriteFile(filepath.Join("servers", s.name+".jsonl"), text.Bytes(), 0o644); err != nil {
		return 0, err
	}
	return len(tools), s.copyLicence(folder, meta)
}

// copyLicence copies the licence of a package.
func (s *server) copyLicence(folder string, meta []byte) error {
	for _, name := range []string{"LICENSE", "LICENSE.md", "LICENCE"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		head := fmt.Sprintf("The tools in %s.jsonl are those of %s %s.\n\n", s.name, s.pkg, gjson.GetBytes(meta, "version"))
		return os.WriteFile(filepath.Join("LICENSES", s.name), append([]byte(head), text...), 0o644)
	}
	return fmt.Errorf("no licence in %s", folder)
}

// program returns the path of the first program that a package declares.
func program(meta []byte) string {
	bin := gjson.GetBytes(meta, "bin")
	if bin.IsObject() {
		for _, file := range bin.Map() {
			return file.String()
		}
	}
	return bin.String()
}

// list starts a server, asks for its tools and ends it.
func (s *server) list(ctx context.Context, file string) ([]gjson.Result, error) {
	empty, err := os.MkdirTemp("", "collie-record-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(empty)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "node", slices.Concat([]string{file}, s.args)...)
	cmd.Dir = empty
	cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + empty}, s.env)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		stop() // ends it
		_ = cmd.Wait()
	}()
	ask := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"record","version":"1"}}}` + "\n"
	if _, err := in.Write([]byte(ask)); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	if _, err := answer(lines, 1); err != nil {
		return nil, err
	}
	ask = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	if _, err := in.Write([]byte(ask)); err != nil {
		return nil, err
	}
	got, err := answer(lines, 2)
	if err != nil {
		return nil, err
	}
	if got.Get("result.nextCursor").Exists() {
		return nil, errors.New("the list has pages, which this program does not read")
	}
	return got.Get("result.tools").Array(), nil
}

// answer reads until the answer to a request; it skips other messages.
func answer(lines *bufio.Reader, id int64) (gjson.Result, error) {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return gjson.Result{}, fmt.Errorf("no answer to request %d: %w", id, err)
		}
		if m := gjson.ParseBytes(line); m.Get("id").Int() == id && !m.Get("method").Exists() {
			if e := m.Get("error"); e.Exists() {
				return gjson.Result{}, errors.New(e.Raw)
			}
			return m, nil
		}
	}
}
