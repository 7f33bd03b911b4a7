// Package metrics counts the calls of a gateway, and serves these and other figures to Prometheus, which asks for them at
// intervals.
package metrics

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"collie/internal/event"
	"collie/internal/tool"
)

// Sources are functions that return current figures. Metrics of a nil function are left out.
type Sources struct {
	Servers func() []tool.ServerStatus
	// Dropped returns, by server, the number of answers to no waiting request.
	Dropped func() map[string]uint64
	Cache   func() CacheFigures
	Models  func() ModelFigures
}

// ModelFigures are counters of language models since the start, and the present numbers of keys.
type ModelFigures struct {
	Models []ModelCounts
	Keys   map[string]map[string]uint64 // by provider and state, including states that no key is in
}

// ModelCounts are the requests to one model.
type ModelCounts struct {
	Provider, Model string
	Requests        map[string]uint64 // by outcome
	Tokens          map[string]uint64 // by kind
	CostMicros      int64             // millionths of a dollar
}

// CacheFigures are counters of the tool cache since the start.
type CacheFigures struct {
	Lookups     map[string]uint64 // by outcome of the lookup
	Writes      map[string]uint64 // by result
	LoadSeconds float64
	Bytes       int64 // size of the file
}

// Metrics serves /metrics in the text format of Prometheus (0.0.4): calls counted since New, the present
// state of servers and tool cache, and figures of the process. It is safe for concurrent use. The caller
// calls Close.
type Metrics struct {
	from Sources
	sub  *event.Subscription[tool.CallDone]
	done sync.WaitGroup

	mu    sync.Mutex
	calls map[callLabels]uint64
	times map[string]*histogram // by server
}

type callLabels struct {
	server  string
	outcome tool.Outcome
}

// New returns a Metrics that counts the calls published on bus. No call ever waits for it.
func New(bus *event.Bus[tool.CallDone], from Sources) *Metrics {
	m := &Metrics{
		from: from, sub: bus.Subscribe(callBuffer),
		calls: map[callLabels]uint64{}, times: map[string]*histogram{},
	}
	m.done.Go(m.countUntilClosed)
	return m
}

// callBuffer is how many calls may wait to be counted. Calls beyond that are not counted;
// mcp_calls_uncounted_total says how many there were.
const callBuffer = 4096

// countUntilClosed counts calls until Close.
func (m *Metrics) countUntilClosed() {
	for c := range m.sub.C() {
		if c.Call == nil || c.Call.Kind != tool.KindCall {
			continue
		}
		server := "" // an unresolved name gets no label: callers could make up any number of them
		if c.Call.Source != nil {
			server = c.Call.Source.Name()
		}
		m.mu.Lock()
		m.calls[callLabels{server, c.Outcome}]++
		h := m.times[server]
		if h == nil {
			h = new(histogram)
			m.times[server] = h
		}
		h.observe(c.Duration.Seconds())
		m.mu.Unlock()
	}
}

// Close stops counting. It may be called twice.
func (m *Metrics) Close() {
	m.sub.Close()
	m.done.Wait()
}

// ServeHTTP answers GET and HEAD.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "GET shows the metrics", http.StatusMethodNotAllowed)
		return
	}
	var b bytes.Buffer
	m.write(&b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // an error means that the client has gone
}

func (m *Metrics) write(w io.Writer) {
	m.writeServers(w)
	m.writeCalls(w)
	m.writeCache(w)
	m.writeModels(w)
	metrics.WriteProcessMetrics(w)
}

// states are all states, so that each has a time series from the start.
var states = []tool.State{
	tool.StateDisabled, tool.StateConfigError, tool.StateIdle, tool.StateStarting, tool.StateReady,
	tool.StateDegraded, tool.StateBackoff, tool.StateOpen, tool.StateNeedsAuth, tool.StateFailed,
	tool.StateStopping, tool.StateStopped,
}

func (m *Metrics) writeServers(w io.Writer) {
	if m.from.Servers == nil {
		return
	}
	list := m.from.Servers()
	f := writeHeader(w, "mcp_server_state", "gauge", "1 for the state that the server is in, 0 for the others.")
	for i := range list {
		for _, state := range states {
			f.writeSample(oneIf(list[i].State == state), "server", list[i].Name, "state", string(state))
		}
	}
	each := func(name, kind, help string, value func(*tool.ServerStatus) float64) {
		f := writeHeader(w, name, kind, help)
		for i := range list {
			f.writeSample(value(&list[i]), "server", list[i].Name)
		}
	}
	each("mcp_start_seconds", "gauge", "How long the last start took until the lists were there; 0 before the first.",
		func(s *tool.ServerStatus) float64 { return s.StartSeconds })
	each("mcp_restarts_total", "counter", "Starts after a crash or a failure.",
		func(s *tool.ServerStatus) float64 { return float64(s.Restarts) })
	each("mcp_noise_lines_total", "counter", "Lines on stdout that were not a message.",
		func(s *tool.ServerStatus) float64 { return float64(s.NoiseLines) })
	if m.from.Dropped != nil {
		f := writeHeader(w, "mcp_dropped_responses_total", "counter", "Answers that nobody waited for: unknown, repeated or late.")
		f.writeCounts(m.from.Dropped(), "server")
	}
}

func (m *Metrics) writeCalls(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := writeHeader(w, "mcp_calls_total", "counter", "Calls of actions by outcome; server is empty for names that did not resolve.")
	for _, l := range slices.SortedFunc(maps.Keys(m.calls), func(a, b callLabels) int {
		return strings.Compare(a.server+"\x00"+string(a.outcome), b.server+"\x00"+string(b.outcome))
	}) {
		f.writeSample(float64(m.calls[l]), "server", l.server, "outcome", string(l.outcome))
	}
	f = writeHeader(w, "mcp_call_seconds", "histogram", "How long calls took, checks included.")
	for _, server := range slices.Sorted(maps.Keys(m.times)) {
		m.times[server].write(f, server)
	}
	writeHeader(w, "mcp_calls_uncounted_total", "counter", "Calls that ended too fast to be counted above.").
		writeSample(float64(m.sub.Dropped()))
}

func (m *Metrics) writeCache(w io.Writer) {
	if m.from.Cache == nil {
		return
	}
	c := m.from.Cache()
	writeHeader(w, "toolcache_lookups_total", "counter", "Lookups of servers in the tool cache by verdict.").writeCounts(c.Lookups, "verdict")
	writeHeader(w, "toolcache_writes_total", "counter", "Writes of the tool cache by result.").writeCounts(c.Writes, "result")
	writeHeader(w, "toolcache_load_seconds", "gauge", "How long it took to load the tool cache.").writeSample(c.LoadSeconds)
	writeHeader(w, "toolcache_bytes", "gauge", "Size of the tool cache on disk.").writeSample(float64(c.Bytes))
}

func (m *Metrics) writeModels(w io.Writer) {
	if m.from.Models == nil {
		return
	}
	all := m.from.Models()
	each := func(name, help, label string, of func(*ModelCounts) map[string]uint64) {
		f := writeHeader(w, name, "counter", help)
		for i := range all.Models {
			model := &all.Models[i]
			f.writeCounts(of(model), label, "provider", model.Provider, "model", model.Model)
		}
	}
	each("llm_requests_total", "Requests to models that have ended, by outcome: ok, or the class of the failure.", "outcome",
		func(c *ModelCounts) map[string]uint64 { return c.Requests })
	each("llm_tokens_total", "Tokens by kind. input has cached and cache_write in it, output has reasoning.", "kind",
		func(c *ModelCounts) map[string]uint64 { return c.Tokens })
	f := writeHeader(w, "llm_cost_micros_total", "counter", "Millionths of a dollar, of models whose price is known.")
	for i := range all.Models {
		f.writeSample(float64(all.Models[i].CostMicros), "provider", all.Models[i].Provider, "model", all.Models[i].Model)
	}
	f = writeHeader(w, "llm_keys", "gauge", "Keys by state; limited ones are active but for some models that they rest for.")
	for _, provider := range slices.Sorted(maps.Keys(all.Keys)) {
		f.writeCounts(all.Keys[provider], "state", "provider", provider)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// samples writes the lines of one metric.
type samples struct {
	w    io.Writer
	name string
}

// writeHeader writes the header of a metric.
func writeHeader(w io.Writer, name, kind, help string) samples {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	return samples{w, name}
}

// writeSample writes one line; labels are alternating names and values.
func (s samples) writeSample(value float64, labels ...string) { s.writeSuffixed("", value, labels...) }

func (s samples) writeSuffixed(suffix string, value float64, labels ...string) {
	var b strings.Builder
	b.WriteString(s.name + suffix)
	for i := 0; i < len(labels); i += 2 {
		lead := ","
		if i == 0 {
			lead = "{"
		}
		b.WriteString(lead + labels[i] + `="` + labelEscapes.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	fmt.Fprintf(s.w, "%s %s\n", b.String(), strconv.FormatFloat(value, 'g', -1, 64))
}

// labelEscapes are the escapes of the text format.
var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// writeCounts writes a line for each key of a map, sorted, with more labels before it.
func (s samples) writeCounts(values map[string]uint64, label string, more ...string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s.writeSample(float64(values[key]), append(slices.Clip(more), label, key)...)
	}
}

// bounds are the buckets of mcp_call_seconds, from a call of a local server to the longest call that is
// allowed.
var bounds = [...]float64{0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 60, 600}

type histogram struct {
	buckets [len(bounds) + 1]uint64
	sum     float64
}

func (h *histogram) observe(seconds float64) {
	i, _ := slices.BinarySearch(bounds[:], seconds) // a value equal to a bound belongs to the bucket of that bound
	h.buckets[i]++
	h.sum += seconds
}

func (h *histogram) write(s samples, server string) {
	var total uint64
	for i, n := range h.buckets {
		total += n
		le := "+Inf"
		if i < len(bounds) {
			le = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		s.writeSuffixed("_bucket", float64(total), "server", server, "le", le)
	}
	s.writeSuffixed("_sum", h.sum, "server", server)
	s.writeSuffixed("_count", float64(total), "server", server)
}
