package chat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"collie/internal/atomicfile"
	"collie/internal/llm"
	"collie/internal/store"
)

// This file writes a session as JSON or Markdown, and reads the JSON again.

// exported is a session as JSON. Format and Version identify the format.
type exported struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Session Session         `json:"session"`
	First   string          `json:"selectedChildId,omitempty"` // the child of the root that is selected
	Tree    []branchMessage `json:"messages"`                  // parents first
	Files   []fileWithData  `json:"files,omitempty"`
}

const (
	exportFormat  = "collie.session"
	exportVersion = 1
	maxImport     = 256 << 20
)

// fileWithData is a file with its content.
type fileWithData struct {
	llm.File
	Data []byte `json:"data"`
}

// formats are what [Service.Export] writes.
var formats = []string{"json", "markdown", "html"}

// Export returns a session. Format "json" is the whole tree with its files, which [Service.Import] accepts; "markdown"
// is the active path, for people, and "html" the whole tree with its pictures as one page that needs nothing else. redact
// leaves out arguments and results of tools.
func (s *Service) Export(ctx context.Context, session, format string, redact bool) ([]byte, error) {
	if !slices.Contains(formats, format) {
		return nil, invalidError("export", "format", "there are the formats json, markdown and html", "use one of these")
	}
	x := exported{Format: exportFormat, Version: exportVersion}
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		if x.Session, err = readSession(tx, "export", session); err != nil {
			return err
		}
		t := readTree(tx, session)
		if tx.Err() != nil {
			return tx.Err()
		}
		nodes := t.root.subtree()[1:]
		if format == "markdown" {
			nodes = t.path()
		}
		if next := t.root.selectedChild(); next != nil && next.row == t.root.selected {
			x.First = next.id
		}
		x.Tree = readBranches(tx, nodes)
		tx.Query(func(r *store.Row) bool {
			x.Files = append(x.Files, fileWithData{File: llm.File{SHA256: r.ColumnText(0), Name: r.ColumnText(1), MIME: r.ColumnText(2), Size: r.ColumnInt64(3)}})
			return true
		}, "SELECT sha256, name, mime, size FROM attachment WHERE session = ? ORDER BY sha256", session)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if redact {
		x.redactTools()
	}
	if format == "markdown" {
		return x.markdown(), nil
	}
	for i := range x.Files {
		if format == "html" && !isPicture(x.Files[i].MIME) {
			continue
		}
		if x.Files[i].Data, err = os.ReadFile(s.blobPath(x.Files[i].SHA256)); err != nil {
			return nil, fmt.Errorf("export a file of the session: %w", err)
		}
	}
	if format == "html" {
		return x.html(), nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(x); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// redacted replaces text that is left out.
const redacted = "(left out)"

// redactTools removes the arguments and results of tool calls, the files that only results refer to, and what providers keep in parts
// (Opaque), which may repeat them.
func (x *exported) redactTools() {
	named := map[string]bool{}
	for i := range x.Tree {
		parts := x.Tree[i].Parts
		for j := range parts {
			switch p := &parts[j]; p.Kind {
			case llm.PartToolCall:
				p.Args, p.Opaque = `"`+redacted+`"`, nil
			case llm.PartToolResult:
				p.Text, p.Files, p.Opaque = redacted, nil, nil
			case llm.PartText, llm.PartReasoning, llm.PartFile, llm.PartNotice, partSteer:
				p.Opaque = nil
			}
		}
		for _, sum := range filesOf(parts) {
			named[sum] = true
		}
	}
	x.Files = slices.DeleteFunc(x.Files, func(f fileWithData) bool { return !named[f.SHA256] }) // files that only results refer to
}

// markdown returns the messages as Markdown, a heading for each, with calls and reasoning collapsed.
func (x *exported) markdown() []byte {
	var b strings.Builder
	title := x.Session.Title
	if title == "" {
		title = "Untitled"
	}
	fmt.Fprintf(&b, "# %s\n", title)
	for _, m := range x.Tree {
		who := "You"
		if m.Role == RoleAssistant {
			who = author(&m.Message)
		}
		fmt.Fprintf(&b, "\n## %s, %s\n", who, m.Created.Format("2006-01-02 15:04 MST"))
		for _, p := range m.Parts {
			switch p.Kind {
			case llm.PartText:
				fmt.Fprintf(&b, "\n%s\n", p.Text)
			case partSteer:
				fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(p.Text, "\n", "\n> "))
			case llm.PartNotice:
				fmt.Fprintf(&b, "\n*%s*\n", p.Text)
			case llm.PartReasoning:
				writeDetails(&b, "Reasoning", p.Text)
			case llm.PartToolCall:
				writeDetails(&b, "Call of "+p.Name, p.Args)
			case llm.PartToolResult:
				writeDetails(&b, "Result", p.Text)
			case llm.PartFile:
				if p.File != nil {
					fmt.Fprintf(&b, "\n[%s, %s, %d bytes]\n", p.File.Name, p.File.MIME, p.File.Size)
				}
			}
		}
		if m.Status != StatusComplete {
			fmt.Fprintf(&b, "\n*%s*\n", m.Status)
		}
	}
	return []byte(b.String())
}

// writeDetails writes text as a collapsed block, in a fence that does not occur in the text.
func writeDetails(b *strings.Builder, title, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n%s\n%s\n%s\n\n</details>\n", title, fence, text, fence)
}

// Import adds a session from the JSON that [Service.Export] returns, under new ids. Inconsistent input is an error of
// kind Invalid and changes nothing. If profile is not nil, the session gets that one, whatever the JSON says.
func (s *Service) Import(ctx context.Context, r io.Reader, profile *string) (Session, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImport+1))
	if err != nil {
		return Session{}, err
	}
	var x exported
	if len(data) > maxImport {
		return Session{}, invalidError("import", "", fmt.Sprintf("it is larger than %d bytes", maxImport), "import a smaller session")
	}
	if err := json.Unmarshal(data, &x); err != nil {
		return Session{}, invalidError("import", "", "it is not a session as JSON: "+err.Error(), "import what `collie sessions export` wrote")
	}
	if err := x.check(); err != nil {
		return Session{}, err
	}
	c := x.Session
	c.ID, c.Revision = newID(), 1
	c.Config.Allow, c.Config.Folder = nil, "" // only a person says what is allowed beforehand and where an agent works, not a file
	if profile != nil {
		c.Config.Profile = *profile
	}
	err = s.store.Write(ctx, func(tx *store.Tx) error {
		root := createSession(tx, &c)
		rows := insertBranches(tx, c.ID, root, x.Tree)
		if row, there := rows[x.First]; there {
			tx.Exec("UPDATE message SET selected = ? WHERE n = ?", row, root)
		}
		for _, f := range x.Files {
			tx.Exec("INSERT INTO attachment VALUES (?, ?, ?, ?, ?, ?)", c.ID, f.SHA256, f.Name, f.MIME, f.Size, now())
			if _, err := os.Stat(s.blobPath(f.SHA256)); err != nil && tx.Err() == nil {
				if err := atomicfile.Write(s.blobPath(f.SHA256), f.Data, 0o600); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return Session{}, err
	}
	s.publishChanged(c.ID, c.Revision)
	return c, nil
}

// check returns an error if the document is inconsistent.
func (x *exported) check() error {
	wrong := func(field, message string) error {
		return invalidError("import", field, message, "import what `collie sessions export` wrote, as it was")
	}
	if x.Format != exportFormat || x.Version != exportVersion {
		return wrong("format", fmt.Sprintf("it is of the format %q, version %d; what can be imported is %q, version %d", x.Format, x.Version, exportFormat, exportVersion))
	}
	if err := checkTitle("import", x.Session.Title); err != nil {
		return err
	}
	seen := map[string]string{} // parents by id
	for i, b := range x.Tree {
		field := fmt.Sprintf("messages/%d", i)
		_, twice := seen[b.ID]
		_, below := seen[b.Parent]
		switch {
		case b.ID == "" || twice:
			return wrong(field+"/id", "an id is missing, or there twice")
		// The root is not exported. The first message names it as its parent, and so do its other children.
		case !below && len(seen) > 0 && b.Parent != x.Tree[0].Parent:
			return wrong(field+"/parentId", "the parent does not come before it")
		case b.Role != RoleUser && b.Role != RoleAssistant:
			return wrong(field+"/role", "a message is of the user or of the assistant")
		case !slices.Contains([]Status{StatusQueued, StatusStreaming, StatusComplete, StatusCancelled, StatusError, StatusInterrupted}, b.Status):
			return wrong(field+"/status", "there is no such status")
		}
		seen[b.ID] = b.Parent
	}
	for i, b := range x.Tree {
		if b.Selected != "" && seen[b.Selected] != b.ID {
			return wrong(fmt.Sprintf("messages/%d/selectedChildId", i), "it is not a child of the message")
		}
	}
	for i, f := range x.Files {
		if sum := sha256.Sum256(f.Data); hex.EncodeToString(sum[:]) != f.SHA256 || f.MIME == "" || int64(len(f.Data)) != f.Size {
			return wrong(fmt.Sprintf("files/%d", i), "the content is not what its hash and size say")
		}
	}
	return nil
}
