package kerneltest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file replays recordings against a handler, and counts how many answers match.

// Contract describes what an implementation of the kernel's API claims to support.
type Contract struct {
	// Scenarios are the recordings to replay. Required.
	Scenarios []string
	// Endpoints are the endpoints to send and compare; rows of others are left out. nil means all.
	Endpoints []string
	// Skip names rows to leave out, as "scenario#seq", with the reason.
	Skip map[string]string
	// MinShape is the least number of rows that must match in shape (status, code, types, keys), MinExact the least
	// number that must also match in their values. 0 means all.
	MinShape, MinExact int
}

// Score is the result for an endpoint.
type Score struct {
	Endpoint string
	// Rows is the number of rows compared; Shape of them match in status, code, types and keys, and Exact also in
	// their values.
	Rows, Shape, Exact int
}

// TestHandler replays recordings against handlers, a new one from fresh for each scenario, and fails unless as many
// rows match as the contract asks for. With -v it logs every difference and a table of scores.
func TestHandler(t *testing.T, c Contract, fresh func(testing.TB) http.Handler) []Score {
	t.Helper()
	scores := map[string]*Score{}
	total := Score{Endpoint: "total"}
	for _, scenario := range c.Scenarios {
		replay := NewReplay(t, fresh(t))
		sent := 0
		for _, row := range Recordings(t) {
			if row.Scenario == scenario && c.claims(row) {
				c.compare(t, replay, row, scores)
				sent++
			}
		}
		if sent == 0 {
			t.Errorf("scenario %q has no row the contract claims", scenario)
		}
	}
	var list []Score
	for _, endpoint := range slices.Sorted(maps.Keys(scores)) {
		s := *scores[endpoint]
		list = append(list, s)
		total.Rows, total.Shape, total.Exact = total.Rows+s.Rows, total.Shape+s.Shape, total.Exact+s.Exact
	}
	t.Log("\n" + table(append(list, total)))
	minShape, minExact := c.MinShape, c.MinExact
	if minShape == 0 {
		minShape = total.Rows
	}
	if minExact == 0 {
		minExact = total.Rows
	}
	if total.Shape < minShape || total.Exact < minExact {
		t.Errorf("%d of %d rows match in shape (want %d), %d exactly (want %d); run with -v to see the differences",
			total.Shape, total.Rows, minShape, total.Exact, minExact)
	}
	return list
}

// claims reports whether a row is sent.
func (c Contract) claims(row Row) bool {
	switch {
	case c.Skip[fmt.Sprintf("%s#%d", row.Scenario, row.Seq)] != "":
		return false
	case !row.Playable() || row.RespBinary != nil:
		return false
	case strings.HasPrefix(row.Step, "locked:") || strings.HasPrefix(row.Step, "readonly:"):
		return false // of a kernel started in another way
	}
	return c.Endpoints == nil || slices.Contains(c.Endpoints, row.Endpoint())
}

func table(scores []Score) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-46s %5s %6s %6s\n", "endpoint", "rows", "shape", "exact")
	for _, s := range scores {
		fmt.Fprintf(&out, "%-46s %5d %6d %6d\n", s.Endpoint, s.Rows, s.Shape, s.Exact)
	}
	return out.String()
}

// Replay sends the rows of a scenario to a handler in order, and learns which of its ids correspond to the recorded
// ones. It is not safe for concurrent use.
type Replay struct {
	t        testing.TB
	handler  http.Handler
	comparer *comparer
}

// NewReplay makes a replay against h, which should be in the state the scenario began with.
func NewReplay(t testing.TB, h http.Handler) *Replay {
	return &Replay{t: t, handler: h, comparer: newComparer()}
}

// Playable reports whether the row has its complete request and an answer.
func (r Row) Playable() bool {
	return r.TransportError == "" && r.ReqBodyBig == nil && (len(r.ReqRaw) == 0 || r.ReqRaw[0] == '"')
}

// Compare sends a playable row and returns how the answer differs from the recorded one.
func (r *Replay) Compare(row Row) []Difference {
	r.t.Helper()
	status, body := r.send(row)
	r.learnCaptures(row, body)
	return r.compare(row, status, body)
}

func (c Contract) compare(t *testing.T, replay *Replay, row Row, scores map[string]*Score) {
	t.Helper()
	diffs := replay.Compare(row)
	s := scores[row.Endpoint()]
	if s == nil {
		s = &Score{Endpoint: row.Endpoint()}
		scores[row.Endpoint()] = s
	}
	s.Rows++
	if !slices.ContainsFunc(diffs, func(d Difference) bool { return !d.Deep }) {
		s.Shape++
	}
	if len(diffs) == 0 {
		s.Exact++
		return
	}
	if testing.Verbose() {
		t.Log(Describe(row, diffs))
	}
}

// Describe describes a row and the first of its differences for a log.
func Describe(row Row, diffs []Difference) string {
	const limit = 6
	var out strings.Builder
	fmt.Fprintf(&out, "%s#%d %s [%s] %s", row.Scenario, row.Seq, row.Endpoint(), row.Step, short(row.ReqBody))
	for i, d := range diffs {
		if i == limit {
			fmt.Fprintf(&out, "\n    and %d more", len(diffs)-i)
			break
		}
		fmt.Fprintf(&out, "\n    %v", d)
	}
	return out.String()
}

// send sends the row's request with our ids in place of the recorded ones.
func (r *Replay) send(row Row) (status int, body []byte) {
	var reader io.Reader = http.NoBody
	contentType := ""
	switch {
	case row.ReqBody != nil:
		reader = strings.NewReader(r.comparer.asked(string(row.ReqBody)))
	case row.ReqRaw != nil:
		var raw string
		_ = json.Unmarshal(row.ReqRaw, &raw)
		reader = strings.NewReader(raw)
	case row.ReqMultipart != nil:
		reader, contentType = r.form(row.ReqMultipart)
	}
	req := httptest.NewRequestWithContext(r.t.Context(), row.Method, r.comparer.asked(row.Path), reader)
	req.RemoteAddr = "127.0.0.1:50000"
	req.Host = "127.0.0.1:6806"
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	for name, value := range row.ReqHeaders {
		if !strings.EqualFold(name, "Content-Type") || contentType == "" {
			req.Header.Set(name, value)
		}
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	rec := httptest.NewRecorder()
	r.handler.ServeHTTP(rec, req)
	body = rec.Body.Bytes()
	if rec.Header().Get("Content-Encoding") == "gzip" && len(body) > 0 {
		if zr, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(zr)
		}
	}
	return rec.Code, body
}

// form rebuilds a multipart body. A file whose bytes were not recorded becomes as many zeros.
func (r *Replay) form(parts []Part) (io.Reader, string) {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, p := range parts {
		if p.Filename == "" && p.Size == 0 && p.Text == nil {
			_ = w.WriteField(p.Name, r.comparer.mapped(p.Value))
			continue
		}
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", p.Name, p.Filename))
		header.Set("Content-Type", p.ContentType)
		part, _ := w.CreatePart(header)
		data := make([]byte, p.Size)
		if p.Text != nil {
			data = []byte(*p.Text)
		}
		_, _ = part.Write(data)
	}
	_ = w.Close()
	return &buf, w.FormDataContentType()
}

// learnCaptures records which of our values correspond to those that later requests use.
func (r *Replay) learnCaptures(row Row, body []byte) {
	var got any
	if json.Unmarshal(body, &got) != nil {
		return
	}
	for _, c := range row.Captures {
		recorded, isText := c.Value.(string)
		ours, found := pointed(got, c.Pointer).(string)
		if !isText || !found {
			continue
		}
		from, to := idInText.FindAllString(recorded, -1), idInText.FindAllString(ours, -1)
		for i := range min(len(from), len(to)) {
			r.comparer.learn(from[i], to[i])
		}
	}
}

// pointed returns the value at a JSON Pointer, nil if there is none.
func pointed(v any, pointer string) any {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch node := v.(type) {
		case map[string]any:
			v = node[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

// compare returns the differences between a row and an answer.
func (r *Replay) compare(row Row, status int, body []byte) []Difference {
	c := r.comparer
	c.diffs, c.frozen, c.cut = nil, false, row.RespTrimmed != nil
	if row.Status != status {
		c.shape("status", "recorded %d, got %d", row.Status, status)
	}
	if row.RespText != nil {
		c.text("body", "", *row.RespText, string(body))
		return c.diffs
	}
	if row.RespBinary != nil {
		c.binary(row, body)
		return c.diffs
	}
	var want, got any
	if err := json.Unmarshal(row.RespBody, &want); err != nil {
		return c.diffs
	}
	if err := json.Unmarshal(body, &got); err != nil {
		c.shape("body", "not JSON: %s", short(string(body)))
		return c.diffs
	}
	for _, capture := range row.Captures {
		if kindOf(pointed(got, capture.Pointer)) != kindOf(capture.Value) {
			c.shape(capture.Pointer, "%s was recorded, this is %s", kindOf(capture.Value), kindOf(pointed(got, capture.Pointer)))
		}
	}
	if row.tooLong() {
		return c.diffs
	}
	if anyOrder[row.Endpoint()] && !c.cut {
		want, got = c.unordered(want, got)
	}
	c.compare("", "", want, got)
	return c.diffs
}

// tooLong reports whether the recording has a note in place of the answer.
func (r Row) tooLong() bool {
	var answer map[string]any
	if json.Unmarshal(r.RespBody, &answer) != nil {
		return false
	}
	_, remark := answer["trimmed"]
	return remark && len(answer) == 1
}

// binary compares only sizes, since uploaded bytes were not recorded.
func (c *comparer) binary(row Row, body []byte) {
	var recorded struct{ Size int }
	if err := json.Unmarshal(row.RespBinary, &recorded); err != nil || recorded.Size != len(body) {
		c.shape("body", "%d bytes were recorded, these are %d", recorded.Size, len(body))
	}
}
