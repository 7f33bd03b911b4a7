package notes_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// gateway leads to a workspace as real callers reach it: pipeline, catalog and source, with every action switched on
// and a person who always agrees.
type gateway struct {
	*workspace
	*pipeline.Pipeline
	source   *siyuan.Source
	catalog  *source.Catalog
	person   *person
	localDir string // the local folder that calls may use
}

// newGateway starts a gateway to a workspace, with every action switched on.
func newGateway(t testing.TB, w *workspace) *gateway {
	t.Helper()
	config := map[string]any{}
	for _, tl := range siyuan.Tools() {
		on := map[string]bool{}
		for _, a := range tl.Actions {
			on[a.Name] = true
		}
		config[tl.Name] = object{"enabled": true, "actions": on}
	}
	config["userRulesText"] = "be kind"
	w.File(ownDir+"mcpToolsConfig", encode(config))
	r := &gateway{workspace: w, person: &person{}, localDir: t.TempDir()}
	r.source = siyuan.New(siyuan.Options{
		Kernel: w.client, Connection: "test", Version: "test", Coins: &purse{balance: 100},
		Safety: safety.Open(safety.Options{Dir: t.TempDir()}),
		Files: func(*tool.Call) action.LocalFiles {
			return action.LocalFiles{Allowed: true, Roots: []string{r.localDir}, MaxUpload: 1 << 20}
		},
	})
	t.Cleanup(r.source.Close)
	r.source.Switches().Current(t.Context()) // reads which actions are switched on
	log, err := audit.Open(t.TempDir(), nil)
	w.must(err)
	catalog := source.New([]tool.Source{r.source}, source.Options{})
	t.Cleanup(func() {
		catalog.Close()
		_ = log.Close() // whether the audit closes well does not matter here
	})
	r.catalog = catalog
	r.Pipeline = pipeline.New(catalog, pipeline.Options{Audit: log})
	return r
}

// encode returns v as JSON.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// setLevels writes the file of levels. The open notebook allows everything. The shut and the hidden notebook have level
// none unless levels says otherwise.
func (r *gateway) setLevels(levels map[*place]access.Level) {
	file := object{string(r.open.nb): access.Delete, string(r.shut.nb): access.None, string(r.hidden.nb): access.None}
	for p, l := range levels {
		file[string(p.nb)] = l
	}
	r.File(ownDir+"notebookPermissions", encode(file))
	r.source.Levels().Forget()
}

// setShutLevel sets the level of the shut notebook. The hidden one has level none.
func (r *gateway) setShutLevel(l access.Level) { r.setLevels(map[*place]access.Level{r.shut: l}) }

// outcome is everything that came of a call.
type outcome struct {
	kind   tool.ErrorKind // empty if it succeeded
	code   string
	text   string // the result, or the payload of the error
	told   string // questions and notifications to the caller during the call
	writes []string
	asked  bool
}

// allText returns everything that the caller saw: the result or error, and what came during the call.
func (o *outcome) allText() string { return o.text + "\n" + o.told }

// call runs an action as an MCP client does.
func (r *gateway) call(name string, args object) *outcome {
	tl, act, _ := strings.Cut(name, ".")
	grouped := object{"action": act}
	maps.Copy(grouped, args)
	return r.request(tool.Request{Kind: tool.KindCall, Name: tl, Args: encode(grouped), Origin: tool.MCPLocal})
}

// request makes a request and collects its outcome, with the writes that reached the kernel.
func (r *gateway) request(c tool.Request) *outcome {
	c.Caller = r.person
	r.person.drain()
	r.ResetCalls()
	res, err := r.Do(r.t.Context(), c)
	out := &outcome{text: string(res.Raw)}
	out.told, out.asked = r.person.drain()
	for _, w := range r.Writes() {
		out.writes = append(out.writes, w.Path+" "+w.Body)
	}
	switch {
	case err != nil:
		out.kind, out.text = tool.KindOf(err), err.Error()
		if e, ok := errors.AsType[*tool.Error](err); ok {
			out.code, out.text = e.Code, string(e.Payload())
		}
	case res.IsError:
		out.kind = tool.Upstream
	}
	return out
}

// person is a caller that agrees to every question, types the name if it is asked for, and records what it is shown.
type person struct {
	mu    sync.Mutex
	told  strings.Builder
	asked bool
}

func (*person) Supports(what tool.Capability) bool {
	return what == tool.CanConfirm || what == tool.WantsProgress
}
func (*person) ID() string                    { return "" }
func (*person) Capabilities() json.RawMessage { return json.RawMessage(`{}`) }

func (p *person) Notify(_ context.Context, method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told.WriteString(method + string(params) + "\n")
}

func (p *person) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.Notify(context.Background(), method, params)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
	return json.Marshal(map[string]any{"confirm": true, "name": gjson.GetBytes(params, "name").String()})
}

// drain returns what the person was shown so far, and clears it.
func (p *person) drain() (told string, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	told, asked = p.told.String(), p.asked
	p.told.Reset()
	p.asked = false
	return told, asked
}

// purse holds the coins that the tool mascot spends.
type purse struct {
	mu      sync.Mutex
	balance int64
}

func (p *purse) Wallet(context.Context) (action.Wallet, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return action.Wallet{Balance: p.balance, Earned: 100}, nil
}

func (p *purse) Spend(ctx context.Context, _ string, cost int64) (action.Wallet, error) {
	p.mu.Lock()
	p.balance -= cost
	p.mu.Unlock()
	return p.Wallet(ctx)
}

var (
	_ tool.Caller  = (*person)(nil)
	_ action.Coins = (*purse)(nil)
)
