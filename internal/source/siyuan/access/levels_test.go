package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	"collie/test/await"
)

// levelsFile returns a file of levels that gives notebook A a level.
func levelsFile(level string) string { return fmt.Sprintf(`{%q: %q}`, nbA, level) }

func TestSnapshotMerges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		plugin, own string // "-" stands for no file
		want        access.Level
	}{
		"no files":                {plugin: "-", own: "-", want: access.Read},
		"empty files":             {plugin: "", own: " \n", want: access.Read},
		"arrays":                  {plugin: `["` + string(nbA) + `"]`, own: "[]", want: access.Read},
		"no objects":              {plugin: `null`, own: `"rwd"`, want: access.Read},
		"empty objects":           {plugin: "{}", own: "{}", want: access.Read},
		"byte order mark":         {plugin: "\ufeff" + levelsFile("rw"), own: "-", want: access.Write},
		"plugin alone":            {plugin: levelsFile("rw"), own: "-", want: access.Write},
		"ours alone":              {plugin: "-", own: levelsFile("rwd"), want: access.Delete},
		"lower of both, ours":     {plugin: levelsFile("rwd"), own: levelsFile("r"), want: access.Read},
		"lower of both, plugin":   {plugin: levelsFile("none"), own: levelsFile("rwd"), want: access.None},
		"plugin lists another":    {plugin: fmt.Sprintf(`{%q: "none"}`, nbB), own: levelsFile("rw"), want: access.Write},
		"old word readonly":       {plugin: levelsFile("readonly"), own: "-", want: access.Read},
		"old word write":          {plugin: levelsFile("write"), own: "-", want: access.Write},
		"unknown word":            {plugin: levelsFile("admin"), own: "-", want: access.None},
		"case is not forgiven":    {plugin: levelsFile("RWD"), own: "-", want: access.None},
		"blanks are not either":   {plugin: levelsFile("rw "), own: "-", want: access.None},
		"a number":                {plugin: fmt.Sprintf(`{%q: 3}`, nbA), own: "-", want: access.None},
		"null":                    {plugin: fmt.Sprintf(`{%q: null}`, nbA), own: "-", want: access.None},
		"an object":               {plugin: fmt.Sprintf(`{%q: {"level": "rwd"}}`, nbA), own: "-", want: access.None},
		"twice, lower first":      {plugin: fmt.Sprintf(`{%q: "r", %q: "rwd"}`, nbA, nbA), own: "-", want: access.Read},
		"twice, lower last":       {plugin: "-", own: fmt.Sprintf(`{%q: "rwd", %q: "none"}`, nbA, nbA), want: access.None},
		"the peer's fake entries": {plugin: `{"code":"none","msg":"none","data":"none"}`, own: "-", want: access.Read},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFakeKernel(nil)
			for path, text := range map[string]string{pluginLevels: tc.plugin, ownLevels: tc.own} {
				if text != "-" {
					w.writeFile(path, text)
				}
			}
			s, err := access.NewLevels(w.client(), access.LevelsOptions{}).Snapshot(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Of(nbA); got != tc.want {
				t.Errorf("level %s, want %s", got, tc.want)
			}
			if got := s.Of(nbC); got != access.Read {
				t.Errorf("a notebook that is not listed has %s", got)
			}
			if n := w.takeCount("/api/file/getFile"); n != 2 {
				t.Errorf("%d requests, want one a file", n)
			}
		})
	}
}

func TestFakeEntriesRestrictNothing(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(map[string]string{pluginLevels: `{"code":"none","msg":"none","data":"none"}`})
	s, err := access.NewLevels(w.client(), access.LevelsOptions{}).Snapshot(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if restricted, err := s.Restricted(t.Context()); restricted || err != nil {
		t.Errorf("restricted %t, %v", restricted, err)
	}
}

func TestDefaultLevel(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(map[string]string{ownLevels: levelsFile("none")})
	s, err := access.NewLevels(w.client(), access.LevelsOptions{Default: access.Write}).Snapshot(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if s.Of(nbA) != access.None || s.Of(nbB) != access.Write {
		t.Errorf("levels %s, %s", s.Of(nbA), s.Of(nbB))
	}
}

// TestUnreadable has a row for each way in which reading a file can fail, with the error kind of a write, and of a
// read without a good copy.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	const envelope = `{"code":%d,"msg":"…","data":null}`
	for name, tc := range map[string]struct {
		fail    func(string, string) (int, string)
		corrupt string
		kind    tool.ErrorKind
	}{
		"invalid JSON, plugin": {fail: nil, corrupt: pluginLevels, kind: tool.LevelsUnknown},
		"invalid JSON, ours":   {fail: nil, corrupt: ownLevels, kind: tool.LevelsUnknown},
		"202 and 403":          {fail: failEndpoint("getFile", ownLevels, 202, fmt.Sprintf(envelope, 403)), kind: tool.LevelsUnknown},
		"202 and 409":          {fail: failEndpoint("getFile", pluginLevels, 202, fmt.Sprintf(envelope, 409)), kind: tool.LevelsUnknown},
		"202 and -1":           {fail: failEndpoint("getFile", ownLevels, 202, fmt.Sprintf(envelope, -1)), kind: tool.LevelsUnknown},
		"202 and 500":          {fail: failEndpoint("getFile", ownLevels, 202, fmt.Sprintf(envelope, 500)), kind: tool.LevelsUnknown},
		"202 and 0":            {fail: failEndpoint("getFile", ownLevels, 202, fmt.Sprintf(envelope, 0)), kind: tool.LevelsUnknown},
		"status 500":           {fail: failEndpoint("getFile", "", 500, "oops"), kind: tool.LevelsUnknown},
		"another page":         {fail: failEndpoint("getFile", "", 200, "<html>"), kind: tool.LevelsUnknown},
		"token refused":        {fail: failEndpoint("getFile", "", 401, `{"code":-1,"msg":"Auth failed"}`), kind: tool.Unauthorized},
		"locked out":           {fail: failEndpoint("getFile", "", 429, ""), kind: tool.Busy},
		"no kernel":            {fail: failEndpoint("getFile", ownLevels, -1, ""), kind: tool.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newFakeKernel(map[string]string{pluginLevels: fmt.Sprintf(`{%q: "rwd", %q: "none"}`, nbA, nbB)})
				l := access.NewLevels(w.client(), access.LevelsOptions{Default: access.Write})
				breaks := func() {
					w.failWith(tc.fail)
					if tc.corrupt != "" {
						w.writeFile(tc.corrupt, `{"2026`)
					}
				}
				expect := func(forWrite bool, stage string) {
					t.Helper()
					if s, err := l.Snapshot(t.Context(), forWrite); tool.KindOf(err) != tc.kind || err == nil {
						t.Errorf("%s, write %t: %v, %v; want %s", stage, forWrite, s, err, tc.kind)
					}
				}
				good := access.NewLevels(w.client(), access.LevelsOptions{Default: access.Write}) // has a good copy
				read := time.Now()
				if _, err := good.Snapshot(t.Context(), false); err != nil {
					t.Fatal(err)
				}
				breaks()
				expect(true, "from the start")
				expect(false, "from the start")

				l = good
				expect(true, "later")
				await.Sleep(10*time.Minute - time.Second)
				s, err := l.Snapshot(t.Context(), false)
				if err != nil {
					t.Fatalf("a read with a good copy: %v", err)
				}
				if got := []access.Level{s.Of(nbA), s.Of(nbB), s.Of(nbC)}; !cmp.Equal(got, []access.Level{access.Read, access.None, access.Read}) {
					t.Errorf("levels of the good copy %v, want none above r", got)
				}
				if !s.Stale().Equal(read) {
					t.Errorf("stale since %v, want %v", s.Stale(), read)
				}
				await.Sleep(time.Minute)
				expect(false, "too late")

				w.failWith(nil)
				w.removeFile(ownLevels)
				w.writeFile(pluginLevels, levelsFile("rw"))
				if s, err := l.Snapshot(t.Context(), true); err != nil || s.Of(nbA) != access.Write || !s.Stale().IsZero() {
					t.Errorf("repaired: %v, %v", s, err)
				}
			})
		})
	}
}

func TestUnreadableNamesTheFile(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(map[string]string{ownLevels: "{"})
	_, err := access.NewLevels(w.client(), access.LevelsOptions{}).Snapshot(t.Context(), true)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Subject != ownLevels || e.RetryAfter == 0 || !strings.Contains(e.Error(), "not valid JSON") {
		t.Errorf("%#v", err)
	}
}

func TestSnapshotAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeKernel(map[string]string{ownLevels: levelsFile("r")})
		l := access.NewLevels(w.client(), access.LevelsOptions{})
		step := func(what string, forWrite bool, requests int, want access.Level) *access.Snapshot {
			t.Helper()
			s, err := l.Snapshot(t.Context(), forWrite)
			if err != nil {
				t.Fatal(err)
			}
			if n := w.takeCount("/api/file/getFile"); n != requests || s.Of(nbA) != want {
				t.Errorf("%s: %d requests, level %s; want %d, %s", what, n, s.Of(nbA), requests, want)
			}
			return s
		}
		first := step("first", false, 2, access.Read)
		if _, err := first.All(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.writeFile(ownLevels, levelsFile("rw"))
		await.Sleep(999 * time.Millisecond)
		again := step("within 1 s", false, 0, access.Read)
		if _, err := again.All(t.Context()); err != nil || w.takeCount("/api/notebook/lsNotebooks") != 1 {
			t.Error("the notebooks were listed again")
		}
		step("a write", true, 2, access.Write)
		step("a read after it", false, 0, access.Write)
		step("a second write", true, 2, access.Write)
		await.Sleep(time.Second)
		step("too old", false, 2, access.Write)
		l.Forget()
		step("forgotten", false, 2, access.Write)
	})
}

// TestSingleFlight: many callers ask at once, before and during a reading.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeKernel(map[string]string{ownLevels: levelsFile("r")})
		w.delay = 100 * time.Millisecond
		l := access.NewLevels(w.client(), access.LevelsOptions{})
		var wg sync.WaitGroup
		ask := func(forWrite bool, want access.Level) {
			for range 50 {
				wg.Go(func() {
					if s, err := l.Snapshot(t.Context(), forWrite); err != nil || s.Of(nbA) != want {
						t.Errorf("write %t: %v, %v, want %s", forWrite, s, err, want)
					}
				})
			}
		}
		ask(false, access.Read)
		synctest.Wait()
		await.Sleep(50 * time.Millisecond)
		w.writeFile(ownLevels, levelsFile("rw")) // the reading that runs has not seen it
		began := time.Now()
		ask(false, access.Read) // joins it
		ask(true, access.Write) // needs another
		wg.Wait()
		if took := time.Since(began); took != 150*time.Millisecond {
			t.Errorf("took %v, want the rest of one reading and a second one", took)
		}
		if n := w.takeCount("/api/file/getFile"); n != 4 {
			t.Errorf("%d requests, want two readings of two files", n)
		}
	})
}

// TestSharedFailure: callers that wait share a failure, so that they do not ask a dead kernel in turn. They do not
// share the cancellation of another caller.
func TestSharedFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFakeKernel(nil)
		w.delay = 100 * time.Millisecond
		w.failWith(failEndpoint("getFile", "", 500, ""))
		l := access.NewLevels(w.client(), access.LevelsOptions{})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := l.Snapshot(t.Context(), true); tool.KindOf(err) != tool.LevelsUnknown {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if n := w.takeCount("/api/file/getFile"); n > 4 {
			t.Errorf("%d requests", n)
		}
		w.failWith(nil)
		short := contextEndingAfter(t, 50*time.Millisecond)
		wg.Go(func() {
			if _, err := l.Snapshot(short, true); tool.KindOf(err) != tool.Canceled {
				t.Errorf("who gave up got %v", err)
			}
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if _, err := l.Snapshot(t.Context(), false); err != nil {
					t.Errorf("who waited got %v", err)
				}
			})
		}
		waiting, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := l.Snapshot(waiting, false); tool.KindOf(err) != tool.Canceled {
			t.Errorf("who gave up waiting got %v", err)
		}
		wg.Wait()
	})
}

func TestSet(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(map[string]string{
		ownLevels: fmt.Sprintf("\ufeff{\"note\": {\"by\": 1.0e3},\n %q: \"r\", %q: \"write\", %q: \"rwd\", \"z\": [1,  2]}", nbB, nbA, nbA),
	})
	l := access.NewLevels(w.client(), access.LevelsOptions{})
	if s, err := l.Snapshot(t.Context(), false); err != nil || s.Of(nbA) != access.Write {
		t.Fatal(s, err)
	}
	old, err := l.Set(t.Context(), nbA, access.Delete)
	if err != nil || old != access.Write {
		t.Fatalf("old %s, %v", old, err)
	}
	want := fmt.Sprintf("{\n  \"note\": {\"by\": 1.0e3},\n  %q: \"r\",\n  %q: \"rwd\",\n  \"z\": [1,  2]\n}\n", nbB, nbA)
	if diff := cmp.Diff(want, w.fileText(ownLevels)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if s, err := l.Snapshot(t.Context(), false); err != nil || s.Of(nbA) != access.Delete {
		t.Errorf("the next read has %v, %v", s, err)
	}
	if old, err := l.Set(t.Context(), nbC, access.None); err != nil || old != access.Read {
		t.Errorf("one that was not listed: old %s, %v", old, err)
	}
	if _, there := w.files[pluginLevels]; there {
		t.Error("the plugin's file was written")
	}
}

func TestSetIsHeld(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(map[string]string{pluginLevels: levelsFile("r")})
	l := access.NewLevels(w.client(), access.LevelsOptions{})
	old, err := l.Set(t.Context(), nbA, access.Write)
	e, ok := errors.AsType[*tool.Error](err)
	if !errors.Is(err, access.ErrHeld) || !ok || e.Facts["current_permission"] != "r" || old != access.Read {
		t.Errorf("old %s, %v", old, err)
	}
	if !strings.Contains(w.fileText(ownLevels), `"rw"`) {
		t.Errorf("our file: %s", w.fileText(ownLevels))
	}
	if old, err := l.Set(t.Context(), nbA, access.None); err != nil || old != access.Read {
		t.Errorf("lowering: old %s, %v", old, err)
	}
}

func TestSetFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		notebook kernel.ID
		level    access.Level
		files    map[string]string
		fail     func(string, string) (int, string)
		kind     tool.ErrorKind
		puts     int
	}{
		"no id":          {notebook: "笔记", level: access.Read, kind: tool.Invalid},
		"no level":       {notebook: nbA, level: access.Delete + 1, kind: tool.Invalid},
		"ours corrupt":   {notebook: nbA, level: access.Read, files: map[string]string{ownLevels: "{"}, kind: tool.LevelsUnknown},
		"plugin corrupt": {notebook: nbA, level: access.Read, files: map[string]string{pluginLevels: "{"}, kind: tool.LevelsUnknown},
		"no token":       {notebook: nbA, level: access.Read, fail: failEndpoint("getFile", "", 401, "{}"), kind: tool.Unauthorized},
		"refused":        {notebook: nbA, level: access.Read, fail: failEndpoint("putFile", "", 200, `{"code":403,"msg":"permission denied","data":null}`), kind: kernel.API, puts: 1},
		"lost":           {notebook: nbA, level: access.Read, fail: failEndpoint("putFile", "", -1, ""), kind: kernel.OutcomeUnknown, puts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFakeKernel(tc.files)
			w.failWith(tc.fail)
			l := access.NewLevels(w.client(), access.LevelsOptions{})
			if _, err := l.Set(t.Context(), tc.notebook, tc.level); tool.KindOf(err) != tc.kind {
				t.Errorf("%s: %v", tool.KindOf(err), err)
			}
			if n := w.takeCount("/api/file/putFile"); n != tc.puts {
				t.Errorf("%d writes, want %d", n, tc.puts)
			}
		})
	}
}

// TestSetAnswerLost: a write takes effect but its answer is lost.
func TestSetAnswerLost(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(nil)
	w.failWith(func(endpoint, path string) (int, string) {
		if endpoint != "/api/file/putFile" {
			return 0, ""
		}
		w.files[path] = levelsFile("rw")
		return 502, ""
	})
	if _, err := access.NewLevels(w.client(), access.LevelsOptions{}).Set(t.Context(), nbA, access.Write); err != nil {
		t.Errorf("what was read back proves the write: %v", err)
	}
}

// TestReadBackFails: a write succeeds, and the files cannot be read back. The error must not look like one of a write
// that did not happen.
func TestReadBackFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(string, string) (int, string){
		"no kernel":     failEndpoint("getFile", "", -1, ""),
		"status 500":    failEndpoint("getFile", "", 500, "oops"),
		"refused":       failEndpoint("getFile", "", 202, `{"code":403,"msg":"forbidden","data":null}`),
		"token refused": failEndpoint("getFile", "", 401, "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isUnknown := func(err error) {
				t.Helper()
				e, ok := errors.AsType[*tool.Error](err)
				if !ok || e.Kind != kernel.OutcomeUnknown || !e.OutcomeUnknown || e.Hint == "" || strings.Contains(err.Error(), "nothing is written") {
					t.Errorf("got %v", err)
				}
			}
			w := newFakeKernel(nil)
			w.afterPut = func(string) { w.fail = fail }
			_, err := access.NewLevels(w.client(), access.LevelsOptions{}).Set(t.Context(), nbA, access.Write)
			isUnknown(err)
			if !strings.Contains(w.fileText(ownLevels), `"rw"`) {
				t.Errorf("the level was not written: %s", w.fileText(ownLevels))
			}
			w.failWith(nil)
			_, err = access.NewSwitches(w.client(), access.SwitchesOptions{Known: known}).Edit(t.Context(), func(map[string]any) error { return nil })
			isUnknown(err)
			if w.fileText(ownConfig) == "" {
				t.Error("the config was not written")
			}
		})
	}
}

// TestSetOverwritten: another program writes the same file between write and read-back.
func TestSetOverwritten(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(nil)
	w.afterPut = func(path string) { w.files[path] = levelsFile("none") }
	if _, err := access.NewLevels(w.client(), access.LevelsOptions{}).Set(t.Context(), nbA, access.Write); tool.KindOf(err) != kernel.Mismatch {
		t.Errorf("got %v", err)
	}
}

// TestParallel: the levels of 50 notebooks are set while others read.
func TestParallel(t *testing.T) {
	t.Parallel()
	w := newFakeKernel(nil)
	l := access.NewLevels(w.client(), access.LevelsOptions{})
	id := func(i int) kernel.ID { return kernel.ID(fmt.Sprintf("202601010000%02d-abcdefg", i)) }
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if _, err := l.Set(t.Context(), id(i), access.Delete); err != nil {
				t.Error(err)
			}
			if s, err := l.Snapshot(t.Context(), i%2 == 0); err != nil || s.Of(id(i)) != access.Delete {
				t.Errorf("what was set is not seen: %v, %v", s, err)
			}
		})
		wg.Go(func() {
			s, err := l.Snapshot(t.Context(), i%2 == 0)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Visible(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := l.Snapshot(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if s.Of(id(i)) != access.Delete {
			t.Errorf("%s was lost", id(i))
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]access.Level{"none": access.None, "readonly": access.None, "rw": access.Write, " RWD ": access.Delete, "r": access.Read} {
		got, err := access.ParseLevel(name)
		if name == "readonly" {
			if err == nil {
				t.Errorf("a person wrote %q and got %s", name, got)
			}
		} else if err != nil || got != tc {
			t.Errorf("%q is %s, %v", name, got, err)
		}
	}
}
