package admin

import (
	"encoding/json"
	"slices"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
	"collie/internal/tool"
)

// This file writes our servers for another program.

// ExportOptions says what is exported to another program.
type ExportOptions struct {
	// Servers are names of our servers; nil means all.
	Servers []string
	// Gateway, if not nil, exports one entry that starts this program instead of the servers.
	Gateway *ConnectOptions
	// File is the file to change; empty if only the text is wanted.
	File  string
	Force bool // replace different entries of the same names
}

// exportedServer is one server in another program's format.
type exportedServer struct {
	Name  string          `json:"name"`
	Path  []string        `json:"path,omitempty"`  // its place in the file
	Entry json.RawMessage `json:"entry,omitempty"` // the entry in that place
	Skip  string          `json:"skip,omitempty"`  // why the program cannot have it
	// Differences lists what is not carried over or means something else; a phrase each.
	Differences []string `json:"differences"`
}

// Export is a planned export.
type Export struct {
	Servers []exportedServer
	// Text is a file with the exported servers and nothing else.
	Text string
	// Connection is the change of ExportOptions.File; nil if that is empty.
	Connection *Connection
}

// PlanExport converts servers to another program's format. It writes no file. Variables are not expanded: ${NAME}
// becomes the other program's form, or stays as it is.
func PlanExport(cfg *config.Config, to string, o ExportOptions) (*Export, error) {
	h, err := hosts.Find(to)
	if err != nil {
		return nil, err
	}
	out := &Export{Servers: []exportedServer{}}
	var written []hosts.Written
	add := func(name string, w hosts.Written) {
		e := exportedServer{Name: name, Skip: w.Skip, Differences: append([]string{}, w.Notes...)}
		if w.Skip == "" {
			e.Path, e.Entry = w.Members[0].Path, w.Members[0].Value
			written = append(written, w)
		}
		out.Servers = append(out.Servers, e)
	}
	if o.Gateway != nil {
		s := o.Gateway.server()
		add(s.Name, h.Write(s.Name, s.Entry(), nil, ""))
	} else {
		list, err := selectServers(cfg, o.Servers)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			e, foreign, err := hosts.ParseEntry(s.Raw, s.Dir)
			if err != nil {
				add(s.Name, hosts.Written{Skip: err.Error()})
				continue
			}
			add(s.Name, h.Write(s.Name, e, foreign, s.Dir))
		}
	}
	out.Text = string(h.Text(written))
	if o.File == "" {
		return out, nil
	}
	plan, err := out.plan(h, written, o)
	if err != nil || len(written) == 0 {
		return out, err
	}
	out.Connection = connectionOf(plan)
	return out, nil
}

func (*Export) plan(h hosts.Host, written []hosts.Written, o ExportOptions) (hosts.Plan, error) {
	if o.Gateway != nil {
		return hosts.Prepare(h, o.File, o.Gateway.server(), config.SetInText, o.Force)
	}
	return hosts.PrepareAll(h, o.File, written, config.SetInText, o.Force)
}

// selectServers returns the wanted servers, in the order of the settings; all that are trusted if wanted is nil.
func selectServers(cfg *config.Config, wanted []string) ([]config.ServerEntry, error) {
	var known []string
	for _, s := range cfg.Servers {
		known = append(known, s.Name)
		if s.Untrusted && slices.Contains(wanted, s.Name) {
			return nil, &tool.Error{
				Op: "mcp export", Kind: tool.Disabled, Subject: s.Name, Message: "it belongs to a project that is not trusted: " + s.File,
				Hint: "collie mcp trust shows and trusts it",
			}
		}
	}
	for _, w := range wanted {
		if slices.Contains(known, w) {
			continue
		}
		e := &tool.Error{
			Op: "mcp export", Kind: tool.NotFound, Subject: w,
			Message: "no server of that name", Hint: "collie mcp list shows them",
		}
		if near, ok := tool.Nearest(w, known); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return nil, e
	}
	return slices.DeleteFunc(slices.Clone(cfg.Servers), func(s config.ServerEntry) bool {
		return s.Untrusted || wanted != nil && !slices.Contains(wanted, s.Name)
	}), nil
}
