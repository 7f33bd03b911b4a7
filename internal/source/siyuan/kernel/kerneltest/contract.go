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

// Contract says what an implementation of the kernel's API claims.
type Contract struct {
	// Scenarios are the recordings to replay. Required.
	Scenarios []string
	// Endpoints are the endpoints to send and compare; rows of others are left out. nil means all.
	Endpoints []string
	// Skip names steps that are left out, as "scenario#seq", with the reason.
	Skip map[string]string
	// MinShape and MinExact are the least numbers of rows that must match in shape (status, code, kinds, keys) and in
	// their values too. 0 asks for all of them.
	MinShape, MinExact int
}

// Score is how an endpoint did.
type Score struct {
	Endpoint string
	// Rows were compared; Shape of them match in status, code, kinds and keys, Exact in their values too.
	Rows, Shape, Exact int
}

// TestHandler replays recordings against the handlers fresh makes, one for each scenario, and fails unless as many
// rows match as the contract asks for. With -v it logs every difference and a table of the scores.
func TestHandler(t *testing.T, c Contract, fresh func(testing.TB) http.Handler) []Score {
	t.Helper()
	scores := map[string]*Score{}
	total := Score{Endpoint: "total"}
	for _, scenario := range c.Scenarios {
		replay := &replay{t: t, contract: c, handler: fresh(t), comparer: newComparer(), scores: scores}
		sent := 0
		for _, row := range Recordings(t) {
			if row.Scenario == scenario && c.claims(row) {
				replay.row(row)
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
	case len(row.ReqRaw) > 0 && row.ReqRaw[0] != '"':
		return false
	case row.TransportError != "" || row.ReqBodyBig != nil || row.RespBinary != nil:
		return false
	case strings.HasPrefix(row.Step, "locked:") || strings.HasPrefix(row.Step, "readonly:"):
		return false // another way to start the kernel
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

// replay sends the rows of one scenario.
type replay struct {
	t        *testing.T
	contract Contract
	handler  http.Handler
	comparer *comparer
	scores   map[string]*Score
}

func (r *replay) row(row Row) {
	r.t.Helper()
	status, body := r.send(row)
	r.learnCaptures(row, body)
	diffs := r.compare(row, status, body)
	s := r.scores[row.Endpoint()]
	if s == nil {
		s = &Score{Endpoint: row.Endpoint()}
		r.scores[row.Endpoint()] = s
	}
	s.Rows++
	if !slices.ContainsFunc(diffs, func(d diff) bool { return !d.deep }) {
		s.Shape++
	}
	if len(diffs) == 0 {
		s.Exact++
		return
	}
	if testing.Verbose() {
		var out strings.Builder
		fmt.Fprintf(&out, "%s#%d %s [%s] %s", row.Scenario, row.Seq, row.Endpoint(), row.Step, short(json.RawMessage(row.ReqBody)))
		for i, d := range diffs {
			if i == 6 {
				fmt.Fprintf(&out, "\n    and %d more", len(diffs)-i)
				break
			}
			fmt.Fprintf(&out, "\n    %v", d)
		}
		r.t.Log(out.String())
	}
}

// send asks the handler what the row asked, with our ids in place of the recorded ones.
func (r *replay) send(row Row) (status int, body []byte) {
	var reader io.Reader = http.NoBody
	contentType := ""
	switch {
	case row.ReqBody != nil:
		reader = strings.NewReader(r.comparer.mapped(string(row.ReqBody)))
	case row.ReqRaw != nil:
		var raw string
		_ = json.Unmarshal(row.ReqRaw, &raw)
		reader = strings.NewReader(raw)
	case row.ReqMultipart != nil:
		reader, contentType = r.form(row.ReqMultipart)
	}
	req := httptest.NewRequestWithContext(r.t.Context(), row.Method, r.comparer.mapped(row.Path), reader)
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

// form rebuilds a multipart body; a file whose bytes were not kept is as many zeros.
func (r *replay) form(parts []Part) (io.Reader, string) {
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

// learnCaptures notes which of our values stand for the ones later requests use.
func (r *replay) learnCaptures(row Row, body []byte) {
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

// pointed is the value a JSON Pointer names, nil when there is none.
func pointed(v any, pointer string) any {
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
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
func (r *replay) compare(row Row, status int, body []byte) []diff {
	c := r.comparer
	c.diffs, c.frozen = nil, false
	if row.Status != status {
		c.shape("status", "recorded %d, got %d", row.Status, status)
	}
	if row.RespText != nil {
		c.text("body", "", *row.RespText, string(body))
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
	if row.RespTrimmed != nil {
		return c.diffs
	}
	if anyOrder[row.Endpoint()] {
		want, got = c.unordered(want, got)
	}
	c.compare("", "", want, got)
	return c.diffs
}
