package web

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
)

// Audit is the part of the record of calls and changes that this face needs.
type Audit interface {
	// Dir returns the folder of the records.
	Dir() string
	// Query yields the records that match, oldest first.
	Query(ctx context.Context, f audit.Filter) iter.Seq2[audit.Entry, error]
	// Verify looks for records that were changed, removed or moved.
	Verify(ctx context.Context) (audit.Report, error)
	// Export writes the records of a time, with a signed proof that nothing was changed, added or left out, or as CSV.
	Export(ctx context.Context, w io.Writer, asCSV bool, since, until time.Time) (audit.Exported, error)
	// Exported records that a person has taken records elsewhere; detail is JSON that says which.
	Exported(ctx context.Context, detail json.RawMessage) error
}

// How many records a page has.
const (
	auditPage     = 50
	auditPageMost = 500
)

// auditRoutes returns the routes of the record of calls and changes.
func auditRoutes() []Route {
	return []Route{
		{"GET /api/v1/audit", ClassManage, (*api).auditRecords, about{summary: "Records of calls and changes, newest first", out: auditList{}, query: []string{
			"since: from this time on (RFC 3339)", "until: before this time (RFC 3339)", "tool: of this tool, or server", "action: of this action",
			"kind: of a kind such as call, call.result, read or change", "outcome: ok, error, refused, cancelled or unknown",
			"origin: direct, chat, cli-agent, mcp-local, mcp-remote or scheduled", "session: of this session", "call: of this call", "text: with this text in them, in any case",
			"without: leave out calls of this client that only read, such as those that collie pages makes to show something",
			"before: that come before this place, which the answer before has as next", "limit: at most this many; default 50, at most 500",
		}}},
		{"GET /api/v1/audit/verify", ClassManage, (*api).auditVerify, about{summary: "Look for records that were changed, removed or moved", out: audit.Verdict{}}},
		{"POST /api/v1/audit/export", ClassManage, (*api).auditExport, about{
			summary: "All records that match, oldest first, a line each as on disk; that is put on record", in: auditExported{}, out: file{},
		}},
	}
}

// auditFilter selects records; what is empty selects all.
type auditFilter struct {
	Since   *time.Time `json:"since,omitempty"` // from this time on
	Until   *time.Time `json:"until,omitempty"` // before this time
	Tool    string     `json:"tool,omitempty"`
	Action  string     `json:"action,omitempty"`
	Kind    string     `json:"kind,omitempty"` // such as call.start, or its part before the dot
	Outcome string     `json:"outcome,omitempty"`
	Origin  string     `json:"origin,omitempty"`
	Session string     `json:"session,omitempty"`
	Call    string     `json:"call,omitempty"`
	Text    string     `json:"text,omitempty"` // somewhere in the record, in any case
	// Without leaves out calls of this client that only read.
	Without string `json:"without,omitempty"`
}

// auditExported says which records are taken elsewhere.
type auditExported struct {
	auditFilter
	// Proof adds a signed proof to each chain, as collie audit export does. It is of all records of a time.
	Proof bool `json:"proof,omitempty"`
}

var (
	auditOutcomes = []string{"", string(tool.OK), string(tool.Failed), string(tool.Refused), string(tool.Cancelled), string(tool.NotKnown)}
	auditOrigins  = []string{
		"", string(tool.Direct), string(tool.Chat), string(tool.CLIAgent), string(tool.MCPLocal), string(tool.MCPRemote), string(tool.Scheduled),
	}
)

func (f *auditFilter) filter() (audit.Filter, error) {
	switch {
	case !slices.Contains(auditOutcomes, f.Outcome):
		return audit.Filter{}, wrongAudit("outcome", "expected ok, error, refused, cancelled or unknown")
	case !slices.Contains(auditOrigins, f.Origin):
		return audit.Filter{}, wrongAudit("origin", "expected direct, chat, cli-agent, mcp-local, mcp-remote or scheduled")
	}
	out := audit.Filter{
		Tool: f.Tool, Action: f.Action, Kind: f.Kind, Outcome: f.Outcome, Origin: f.Origin, Session: f.Session, CallID: f.Call, Text: f.Text, Without: f.Without,
	}
	if f.Since != nil {
		out.Since = *f.Since
	}
	if f.Until != nil {
		out.Until = *f.Until
	}
	return out, nil
}

func wrongAudit(subject, message string) error {
	return &tool.Error{Op: "audit", Kind: tool.Invalid, Subject: subject, Message: message}
}

type auditList struct {
	Records []auditRecord `json:"records"`
	Next    string        `json:"next,omitempty"` // where the next page begins; none if there is none
}

type auditRecord struct {
	Chain  string          `json:"chain"`
	Record json.RawMessage `json:"record"` // as it is on disk
}

func (a *api) auditRecords(w http.ResponseWriter, r *http.Request) error {
	f, err := auditQuery(r)
	if err != nil {
		return err
	}
	wanted := f.Limit
	f.Limit++ // to see whether there are more
	var found []audit.Entry
	for e, err := range a.opts.Audit.Query(r.Context(), f) {
		if err != nil {
			return err
		}
		found = append(found, e)
	}
	slices.Reverse(found)
	out := auditList{Records: []auditRecord{}}
	if len(found) > wanted {
		found = found[:wanted]
		out.Next = found[wanted-1].Mark().String()
	}
	for i := range found {
		out.Records = append(out.Records, auditRecord{found[i].Chain, found[i].Raw})
	}
	return answer(w, out)
}

// auditQuery reads a filter from the address of a request.
func auditQuery(r *http.Request) (audit.Filter, error) {
	q := r.URL.Query()
	f := auditFilter{
		Tool: q.Get("tool"), Action: q.Get("action"), Kind: q.Get("kind"), Outcome: q.Get("outcome"), Origin: q.Get("origin"),
		Session: q.Get("session"), Call: q.Get("call"), Text: q.Get("text"), Without: q.Get("without"),
	}
	for name, to := range map[string]**time.Time{"since": &f.Since, "until": &f.Until} {
		if text := q.Get(name); text != "" {
			t, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return audit.Filter{}, wrongAudit(name, "expected a time such as 2026-01-31T15:04:05Z")
			}
			*to = &t
		}
	}
	out, err := f.filter()
	if err != nil {
		return out, err
	}
	if out.Before, err = audit.ParseMark(q.Get("before")); err != nil {
		return out, wrongAudit("before", "expected the next of an answer")
	}
	out.Limit = auditPage
	if text := q.Get("limit"); text != "" {
		if out.Limit, err = strconv.Atoi(text); err != nil || out.Limit < 1 || out.Limit > auditPageMost {
			return out, wrongAudit("limit", "expected a number from 1 to "+strconv.Itoa(auditPageMost))
		}
	}
	return out, nil
}

func (a *api) auditVerify(w http.ResponseWriter, r *http.Request) error {
	report, err := a.opts.Audit.Verify(r.Context())
	if err != nil {
		return err
	}
	return answer(w, report.Verdict(a.opts.Audit.Dir()))
}

// auditExport puts on record that records are taken elsewhere, and then writes them.
func (a *api) auditExport(w http.ResponseWriter, r *http.Request) error {
	var body auditExported
	if err := decodeBody(r, &body, `{"tool":…,"since":…}, or {} for all`); err != nil {
		return err
	}
	f, err := body.filter()
	if err != nil {
		return err
	}
	if only := (auditFilter{Since: body.Since, Until: body.Until}); body.Proof && body.auditFilter != only {
		return wrongAudit("proof", "a proof is of all records of a time; leave out everything but since and until")
	}
	detail, err := json.Marshal(map[string]any{"format": "jsonl", "filter": body.auditFilter, "proof": body.Proof})
	if err != nil {
		return err
	}
	if err := a.opts.Audit.Exported(r.Context(), detail); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	out := bufio.NewWriter(w)
	if body.Proof {
		if _, err := a.opts.Audit.Export(r.Context(), out, false, f.Since, f.Until); err != nil {
			panic(http.ErrAbortHandler) // an incomplete export must not look complete
		}
		_ = out.Flush() // an error means that the client has gone
		return nil
	}
	for e, err := range a.opts.Audit.Query(r.Context(), f) {
		if err != nil {
			panic(http.ErrAbortHandler) // an incomplete export must not look complete
		}
		_, _ = out.Write(append(e.Raw, '\n')) // the error comes with Flush
	}
	_ = out.Flush() // an error means that the client has gone
	return nil
}
