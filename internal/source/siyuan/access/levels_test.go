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

// lv returns a file of levels that gives notebook A a level.
func lv(level string) string { return fmt.Sprintf(`{%q: %q}`, nbA, level) }

func TestSnapshotMerges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		plugin, own string // "-" stands for no file
		want        access.Level
	}{
		"no files":                {"-", "-", access.Read},
		"empty files":             {"", " \n", access.Read},
		"arrays":                  {`["` + string(nbA) + `"]`, "[]", access.Read},
		"no objects":              {`null`, `"rwd"`, access.Read},
		"empty objects":           {"{}", "{}", access.Read},
		"byte order mark":         {"\ufeff" + lv("rw"), "-", access.Write},
		"plugin alone":            {lv("rw"), "-", access.Write},
		"ours alone":              {"-", lv("rwd"), access.Delete},
		"lower of both, ours":     {lv("rwd"), lv("r"), access.Read},
		"lower of both, plugin":   {lv("none"), lv("rwd"), access.None},
		"plugin lists another":    {fmt.Sprintf(`{%q: "none"}`, nbB), lv("rw"), access.Write},
		"old word readonly":       {lv("readonly"), "-", access.Read},
		"old word write":          {lv("write"), "-", access.Write},
		"unknown word":            {lv("admin"), "-", access.None},
		"case is not forgiven":    {lv("RWD"), "-", access.None},
		"blanks are not either":   {lv("rw "), "-", access.None},
		"a number":                {fmt.Sprintf(`{%q: 3}`, nbA), "-", access.None},
		"null":                    {fmt.Sprintf(`{%q: null}`, nbA), "-", access.None},
		"an object":               {fmt.Sprintf(`{%q: {"level": "rwd"}}`, nbA), "-", access.None},
		"twice, lower first":      {fmt.Sprintf(`{%q: "r", %q: "rwd"}`, nbA, nbA), "-", access.Read},
		"twice, lower last":       {"-", fmt.Sprintf(`{%q: "rwd", %q: "none"}`, nbA, nbA), access.None},
		"the peer's fake entries": {`{"code":"none","msg":"none","data":"none"}`, "-", access.Read},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(nil)
			for path, text := range map[string]string{pluginLevels: tc.plugin, ownLevels: tc.own} {
				if text != "-" {
					w.set(path, text)
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
			if n := w.asked("/api/file/getFile"); n != 2 {
				t.Errorf("%d requests, want one a file", n)
			}
		})
	}
}

func TestFakeEntriesRestrictNothing(t *testing.T) {
	t.Parallel()
	w := newWorkspace(map[string]string{pluginLevels: `{"code":"none","msg":"none","data":"none"}`})
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
	w := newWorkspace(map[string]string{ownLevels: lv("none")})
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
		"invalid JSON, plugin": {nil, pluginLevels, tool.LevelsUnknown},
		"invalid JSON, ours":   {nil, ownLevels, tool.LevelsUnknown},
		"202 and 403":          {on("getFile", ownLevels, 202, fmt.Sprintf(envelope, 403)), "", tool.LevelsUnknown},
		"202 and 409":          {on("getFile", pluginLevels, 202, fmt.Sprintf(envelope, 409)), "", tool.LevelsUnknown},
		"202 and -1":           {on("getFile", ownLevels, 202, fmt.Sprintf(envelope, -1)), "", tool.LevelsUnknown},
		"202 and 500":          {on("getFile", ownLevels, 202, fmt.Sprintf(envelope, 500)), "", tool.LevelsUnknown},
		"202 and 0":            {on("getFile", ownLevels, 202, fmt.Sprintf(envelope, 0)), "", tool.LevelsUnknown},
		"status 500":           {on("getFile", "", 500, "oops"), "", tool.LevelsUnknown},
		"another page":         {on("getFile", "", 200, "<html>"), "", tool.LevelsUnknown},
		"token refused":        {on("getFile", "", 401, `{"code":-1,"msg":"Auth failed"}`), "", tool.Unauthorized},
		"locked out":           {on("getFile", "", 429, ""), "", tool.Busy},
		"no kernel":            {on("getFile", ownLevels, -1, ""), "", tool.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorkspace(map[string]string{pluginLevels: fmt.Sprintf(`{%q: "rwd", %q: "none"}`, nbA, nbB)})
				l := access.NewLevels(w.client(), access.LevelsOptions{Default: access.Write})
				breaks := func() {
					w.failing(tc.fail)
					if tc.corrupt != "" {
						w.set(tc.corrupt, `{"2026`)
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

				w.failing(nil)
				w.remove(ownLevels)
				w.set(pluginLevels, lv("rw"))
				if s, err := l.Snapshot(t.Context(), true); err != nil || s.Of(nbA) != access.Write || !s.Stale().IsZero() {
					t.Errorf("repaired: %v, %v", s, err)
				}
			})
		})
	}
}

func TestUnreadableNamesTheFile(t *testing.T) {
	t.Parallel()
	w := newWorkspace(map[string]string{ownLevels: "{"})
	_, err := access.NewLevels(w.client(), access.LevelsOptions{}).Snapshot(t.Context(), true)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Subject != ownLevels || e.RetryAfter == 0 || !strings.Contains(e.Error(), "not valid JSON") {
		t.Errorf("%#v", err)
	}
}

func TestSnapshotAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(map[string]string{ownLevels: lv("r")})
		l := access.NewLevels(w.client(), access.LevelsOptions{})
		step := func(what string, forWrite bool, requests int, want access.Level) *access.Snapshot {
			t.Helper()
			s, err := l.Snapshot(t.Context(), forWrite)
			if err != nil {
				t.Fatal(err)
			}
			if n := w.asked("/api/file/getFile"); n != requests || s.Of(nbA) != want {
				t.Errorf("%s: %d requests, level %s; want %d, %s", what, n, s.Of(nbA), requests, want)
			}
			return s
		}
		first := step("first", false, 2, access.Read)
		if _, err := first.All(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.set(ownLevels, lv("rw"))
		await.Sleep(999 * time.Millisecond)
		again := step("within 1 s", false, 0, access.Read)
		if _, err := again.All(t.Context()); err != nil || w.asked("/api/notebook/lsNotebooks") != 1 {
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
		w := newWorkspace(map[string]string{ownLevels: lv("r")})
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
		w.set(ownLevels, lv("rw")) // the reading that runs has not seen it
		began := time.Now()
		ask(false, access.Read) // joins it
		ask(true, access.Write) // needs another
		wg.Wait()
		if took := time.Since(began); took != 150*time.Millisecond {
			t.Errorf("took %v, want the rest of one reading and a second one", took)
		}
		if n := w.asked("/api/file/getFile"); n != 4 {
			t.Errorf("%d requests, want two readings of two files", n)
		}
	})
}

// TestSharedFailure: callers that wait share a failure, so that they do not ask a dead kernel in turn. They do not
// share the cancellation of another caller.
func TestSharedFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(nil)
		w.delay = 100 * time.Millisecond
		w.failing(on("getFile", "", 500, ""))
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
		if n := w.asked("/api/file/getFile"); n > 4 {
			t.Errorf("%d requests", n)
		}
		w.failing(nil)
		short := contextOf(t, 50*time.Millisecond)
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
	w := newWorkspace(map[string]string{
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
	if diff := cmp.Diff(want, w.get(ownLevels)); diff != "" {
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
	w := newWorkspace(map[string]string{pluginLevels: lv("r")})
	l := access.NewLevels(w.client(), access.LevelsOptions{})
	old, err := l.Set(t.Context(), nbA, access.Write)
	e, ok := errors.AsType[*tool.Error](err)
	if !errors.Is(err, access.ErrHeld) || !ok || e.Facts["current_permission"] != "r" || old != access.Read {
		t.Errorf("old %s, %v", old, err)
	}
	if !strings.Contains(w.get(ownLevels), `"rw"`) {
		t.Errorf("our file: %s", w.get(ownLevels))
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
		"no id":          {"笔记", access.Read, nil, nil, tool.Invalid, 0},
		"no level":       {nbA, access.Delete + 1, nil, nil, tool.Invalid, 0},
		"ours corrupt":   {nbA, access.Read, map[string]string{ownLevels: "{"}, nil, tool.LevelsUnknown, 0},
		"plugin corrupt": {nbA, access.Read, map[string]string{pluginLevels: "{"}, nil, tool.LevelsUnknown, 0},
		"no token":       {nbA, access.Read, nil, on("getFile", "", 401, "{}"), tool.Unauthorized, 0},
		"refused":        {nbA, access.Read, nil, on("putFile", "", 200, `{"code":403,"msg":"permission denied","data":null}`), kernel.API, 1},
		"lost":           {nbA, access.Read, nil, on("putFile", "", -1, ""), kernel.OutcomeUnknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(tc.files)
			w.failing(tc.fail)
			l := access.NewLevels(w.client(), access.LevelsOptions{})
			if _, err := l.Set(t.Context(), tc.notebook, tc.level); tool.KindOf(err) != tc.kind {
				t.Errorf("%s: %v", tool.KindOf(err), err)
			}
			if n := w.asked("/api/file/putFile"); n != tc.puts {
				t.Errorf("%d writes, want %d", n, tc.puts)
			}
		})
	}
}

// TestSetAnswerLost: a write takes effect but its answer is lost.
func TestSetAnswerLost(t *testing.T) {
	t.Parallel()
	w := newWorkspace(nil)
	w.failing(func(endpoint, path string) (int, string) {
		if endpoint != "/api/file/putFile" {
			return 0, ""
		}
		w.files[path] = lv("rw")
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
		"no kernel":     on("getFile", "", -1, ""),
		"status 500":    on("getFile", "", 500, "oops"),
		"refused":       on("getFile", "", 202, `{"code":403,"msg":"forbidden","data":null}`),
		"token refused": on("getFile", "", 401, "{}"),
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
			w := newWorkspace(nil)
			w.afterPut = func(string) { w.fail = fail }
			_, err := access.NewLevels(w.client(), access.LevelsOptions{}).Set(t.Context(), nbA, access.Write)
			isUnknown(err)
			if !strings.Contains(w.get(ownLevels), `"rw"`) {
				t.Errorf("the level was not written: %s", w.get(ownLevels))
			}
			w.failing(nil)
			_, err = access.NewSwitches(w.client(), access.SwitchesOptions{Known: known}).Edit(t.Context(), func(map[string]any) error { return nil })
			isUnknown(err)
			if w.get(ownConfig) == "" {
				t.Error("the config was not written")
			}
		})
	}
}

// TestSetOverwritten: another program writes the same file between write and read-back.
func TestSetOverwritten(t *testing.T) {
	t.Parallel()
	w := newWorkspace(nil)
	w.afterPut = func(path string) { w.files[path] = lv("none") }
	if _, err := access.NewLevels(w.client(), access.LevelsOptions{}).Set(t.Context(), nbA, access.Write); tool.KindOf(err) != kernel.Mismatch {
		t.Errorf("got %v", err)
	}
}

// TestParallel: the levels of 50 notebooks are set while others read.
func TestParallel(t *testing.T) {
	t.Parallel()
	w := newWorkspace(nil)
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
