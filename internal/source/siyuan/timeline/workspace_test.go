package timeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/timeline"
	"collie/test/await"
)

// workspace is a kernel whose data repository has a key, with one document of three paragraphs.
type workspace struct {
	*actiontest.Kit
	t             *testing.T
	notebook, doc kernel.ID
	blocks        []kernel.ID
}

// newWorkspace makes the notebook, the document and the key of the data repository.
func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	t.Parallel()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.notebook = kernel.ID(w.Notebook("Notes 笔记"))
	w.doc = kernel.ID(w.Doc(string(w.notebook), "/Plan 计划", "one 一\n\ntwo\n\nthree"))
	w.blocks = w.Children(w.t, w.doc)
	w.Post(w.t, "/api/repo/initRepoKey", map[string]any{})
	return w
}

// blockTexts returns the Markdown of the document's blocks, joined with |.
func (w *workspace) blockTexts() string {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), w.doc)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, b := range list {
		out = append(out, b.Markdown)
	}
	return strings.Join(out, "|")
}

// makeCopy makes a copy of the document in its history, and waits until it is found there. A real kernel finds it after
// some seconds, and keeps one copy a second.
func (w *workspace) makeCopy() {
	w.t.Helper()
	before := w.countCopies()
	for begun := time.Now(); time.Since(begun) < realKernelLimit; {
		if err := w.Client.KeepHistory(w.t.Context(), w.doc); err != nil {
			w.t.Fatal(err)
		}
		if w.pollUntil(5*time.Second, func() bool { return w.countCopies() > before }) {
			return
		}
	}
	w.t.Fatal("the copy is not found")
}

// realKernelLimit is how long a real kernel may take until it finds a new copy.
const realKernelLimit = 30 * time.Second

// pollUntil polls ok until it is true, and returns false if that takes longer than limit.
func (w *workspace) pollUntil(limit time.Duration, ok func() bool) bool {
	for begun := time.Now(); ; await.Moment(200 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Since(begun) > limit {
			return false
		}
	}
}

// countCopies returns the number of the document's copies in its history.
func (w *workspace) countCopies() (n int) {
	w.t.Helper()
	times, err := w.Client.HistoryTimes(w.t.Context(), w.doc)
	for _, at := range times {
		items, failed := w.Client.HistoryItems(w.t.Context(), w.doc, at)
		n, err = n+len(items), errors.Join(err, failed)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *workspace) updateBlock(id kernel.ID, text string) {
	w.t.Helper()
	if _, err := w.Client.Update(w.t.Context(), id, "markdown", text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) appendBlock(text string) kernel.ID {
	w.t.Helper()
	done, err := w.Client.Append(w.t.Context(), w.doc, "markdown", text)
	if err != nil {
		w.t.Fatal(err)
	}
	return kernel.CreatedIDs(done)[0]
}

func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, timeline.Tool(), name)
}

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }
