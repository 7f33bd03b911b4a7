package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/test/await"
)

// writeCalls writes calls of the last minute to dir, oldest first.
func writeCalls(t *testing.T, dir string, calls ...Entry) {
	t.Helper()
	for i, e := range calls {
		e.TS = time.Now().Add(time.Duration(i-len(calls)) * 10 * time.Second).UnixMilli()
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (folder{dir, 1 << 20, 1}).append(dayOf(e.TS), append(line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
}

var someCalls = []Entry{
	{Tool: "fs", Action: "read", Status: Success, DurationMs: 10, Transport: viaStdio, SessionIDHash: "0123456789abcdef", ParamKeys: []string{"geheim"}},
	{Tool: "fs", Action: "read", Status: Failure, DurationMs: 21, Transport: viaCLI, RequestText: "geheim", ResponseText: "geheim"},
	{Tool: "geheim-intranet", Action: "geheim_lookup", Status: Success, Transport: HTTP},
}

func newReporter(t *testing.T, endpoint string) (r *Telemetry, dir string) {
	t.Helper()
	dir = t.TempDir()
	return NewTelemetry(dir, filepath.Join(dir, "telemetry.json"), TelemetryOptions{
		Enabled: true, Endpoint: endpoint, Own: []string{"fs"}, Version: "9",
	}), dir
}

// A report has exactly the documented fields, without names or texts of the user.
func TestPayload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		await.Sleep(7 * time.Hour)
		r, dir := newReporter(t, "")
		r.opts.Enabled = false // it is shown even when telemetry is off
		writeCalls(t, dir, someCalls...)
		p, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"v":1,"reportedAt":946710000000,"since":0,"aggregates":{"totalCalls":3,"errorCalls":1,"errorRate":0.333,"avgDurationMs":10.333,` +
			`"actionBreakdown":[{"tool":"fs","action":"read","count":2,"errorCount":1,"avgDurationMs":15.5},{"tool":"other","action":"other","count":1,"errorCount":0,"avgDurationMs":0}],` +
			`"hourlyDistribution":[0,0,0,0,0,0,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"transportDistribution":{"cli":1,"http":1,"stdio":1}},` +
			fmt.Sprintf(`"meta":{"pluginVersion":"9","nodeVersion":%q,"platform":%q}}`, runtime.Version(), runtime.GOOS)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := os.Stat(r.state); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("looking has left a file: %v", err)
		}
	})
}

// One report is sent over HTTP, and no second one before the next is due.
func TestReport(t *testing.T) {
	t.Parallel()
	var got []Payload
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var p Payload
		if err := errors.Join(err, json.Unmarshal(body, &p)); err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v: %v", req.Method, req.Header, err)
		}
		got = append(got, p)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	r, dir := newReporter(t, srv.URL)
	writeCalls(t, dir, someCalls...)
	for range 2 {
		if err := r.reportIfDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || got[0].Aggregates.TotalCalls != 3 {
		t.Fatalf("reports %+v", got)
	}
	last, err := r.lastReport()
	if err != nil || last.UnixMilli() != got[0].ReportedAt {
		t.Errorf("last report at %v, %v", last, err)
	}
	next, err := r.Next(t.Context())
	if err != nil || next.Since != got[0].ReportedAt || next.Aggregates.TotalCalls != 0 {
		t.Errorf("next %+v, %v", next, err)
	}
	due, err := r.Due()
	if err != nil || due.Sub(last) != defaultInterval {
		t.Errorf("due %v, %v", due, err)
	}
}

// After an answer other than success, redirects included, the report stays due and the error says so.
func TestRefusedReport(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	code := http.StatusInternalServerError
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(code)
	}))
	defer srv.Close()
	r, dir := newReporter(t, strings.Replace(srv.URL, "://", "://me:geheim@", 1)+"?key=geheim")
	writeCalls(t, dir, someCalls...)
	for _, code = range []int{500, 404, 307, 302} {
		err := r.reportIfDue(t.Context())
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(code)) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("answer %d: %v", code, err)
		}
	}
	srv.Close()
	if err := r.reportIfDue(t.Context()); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("nobody there: %v", err)
	}
	if last, err := r.lastReport(); !last.IsZero() || err != nil || elsewhere.Load() > 0 {
		t.Errorf("last report %v, %v; %d went elsewhere", last, err, elsewhere.Load())
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// In the background a report is sent when it is due. A failed one is tried again an hour later. Nothing is
// sent while telemetry is off.
func TestBackground(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(*TelemetryOptions)
		want string // hours since the start; the first one fails
	}{
		"on":          {func(o *TelemetryOptions) { o.Interval = 6 * time.Hour }, "0 1 7 13 19"},
		"hourly":      {func(o *TelemetryOptions) { o.Interval = time.Second }, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"},
		"weekly":      {func(o *TelemetryOptions) { o.Interval = 1000 * time.Hour }, "0 1"},
		"off":         {func(o *TelemetryOptions) { o.Enabled = false }, ""},
		"no endpoint": {func(o *TelemetryOptions) { o.Endpoint = "" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, dir := newReporter(t, "http://h/")
				tc.edit(&r.opts)
				r = NewTelemetry(dir, r.state, r.opts)
				start := time.Now()
				var hours []string
				r.client.Transport = tripper(func(req *http.Request) (*http.Response, error) {
					hours = append(hours, fmt.Sprint(int(time.Since(start).Hours())))
					if len(hours) == 1 {
						return nil, errors.New("no route")
					}
					return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
				})
				r.Start()
				for range 25 {
					writeCalls(t, dir, someCalls...)
					await.Sleep(time.Hour)
				}
				r.Close()
				r.Close()
				if got := strings.Join(hours, " "); got != tc.want {
					t.Errorf("reports in hours %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// A hanging report is given up after 15 seconds, and at once by Close. A period without calls causes no
// report, but counts as reported.
func TestHangAndNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, dir := newReporter(t, "http://h/")
		if err := r.reportIfDue(t.Context()); err != nil {
			t.Error(err)
		}
		if last, err := r.lastReport(); err != nil || last.IsZero() {
			t.Errorf("after a time without calls: %v %v", last, err)
		}
		await.Sleep(48 * time.Hour)
		writeCalls(t, dir, someCalls...)
		r.client.Transport = tripper(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		start := time.Now()
		if err := r.reportIfDue(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != sendTimeout {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		r.Start()
		await.Sleep(firstCheck + time.Second)
		start = time.Now()
		if r.Close(); time.Since(start) != 0 {
			t.Errorf("Close took %v", time.Since(start))
		}
	})
}

// A call that has just ended may not be in the file yet; it is in the next report.
func TestEachCallIsInOneReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var counts []int
		r, dir := newReporter(t, "http://h/")
		r.client.Transport = tripper(func(req *http.Request) (*http.Response, error) {
			var p Payload
			if err := json.NewDecoder(req.Body).Decode(&p); err != nil {
				t.Error(err)
			}
			counts = append(counts, p.Aggregates.TotalCalls)
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
		})
		writeCalls(t, dir, someCalls...) // the last of them was 10 s ago
		late := Entry{TS: time.Now().Add(-minAge).UnixMilli(), Tool: "fs", Status: Success, Transport: viaCLI}
		line, err := json.Marshal(late)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (folder{dir, 1 << 20, 1}).append(dayOf(late.TS), append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.reportIfDue(t.Context()); err != nil {
				t.Error(err)
			}
			await.Sleep(24 * time.Hour)
		}
		if diff := cmp.Diff([]int{3, 1}, counts); diff != "" {
			t.Error(diff)
		}
	})
}

func TestInterval(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{
		0: 24 * time.Hour, time.Second: time.Hour, 5 * time.Hour: 5 * time.Hour, 1000 * time.Hour: 168 * time.Hour,
	} {
		r := NewTelemetry("", filepath.Join(t.TempDir(), "telemetry.json"), TelemetryOptions{Interval: given})
		if due, err := r.Due(); err != nil || !due.IsZero() {
			t.Errorf("before the first report due %v, %v", due, err)
		}
		if err := r.saveReportTime(1000); err != nil {
			t.Fatal(err)
		}
		if due, err := r.Due(); err != nil || due.Sub(time.UnixMilli(1000)) != want {
			t.Errorf("interval %v: due %v, %v", given, due, err)
		}
	}
}

// An unreadable state file counts as no report so far.
func TestBrokenState(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"lastReportAt":"x"}`, `{"lastReportAt":-1}`, `{"lastReportAt":99999999999999999}`} {
		r, _ := newReporter(t, "http://h/")
		if err := os.WriteFile(r.state, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if last, err := r.lastReport(); !last.IsZero() || err != nil {
			t.Errorf("%q: %v, %v", text, last, err)
		}
	}
}
