package audit

import (
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/tool"
	"collie/test/await"
)

// A chain that begins while others are being removed counts some of them. That does not look like tampering, with an
// anchor or without.
func TestChainBeginsDuringRemoval(t *testing.T) {
	t.Parallel()
	for _, anchor := range []string{"", "anchor"} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			o := Options{}
			if anchor != "" {
				o.Anchor = t.TempDir() + "/" + anchor
			}
			writeShortChain(t, dir, o)
			writeShortChain(t, dir, o)
			await.Sleep(time.Hour)
			p := &pruner{dir: dir, options: &PruneOptions{Before: time.Now(), Alive: func(int) bool { return false }, Log: o}}
			if err := p.plan(t.Context()); err != nil || len(p.chains) != 2 {
				t.Fatalf("%v, %+v", err, p.chains)
			}
			if err := p.removeOnRecord(t.Context(), func() error {
				await.Sleep(5 * time.Second)
				writeShortChain(t, dir, o)
				await.Sleep(5 * time.Second)
				return p.remove()
			}); err != nil {
				t.Fatal(err)
			}
			report, err := Verify(t.Context(), dir, o.Anchor)
			if err != nil || !report.OK() || len(report.Chains) != 3 {
				t.Errorf("%v, %+v", err, report)
			}
			await.Sleep(time.Hour)
			if report, err := Prune(t.Context(), dir, PruneOptions{Before: time.Now(), Alive: func(int) bool { return false }, Log: o}); err != nil || report.Chains != 3 {
				t.Errorf("%v, %+v", err, report)
			}
			if report, err := Verify(t.Context(), dir, o.Anchor); err != nil || !report.OK() {
				t.Errorf("after another removal: %v, %+v", err, report)
			}
		})
	}
}

// writeShortChain writes a chain that has ended.
func writeShortChain(t *testing.T, dir string, o Options) {
	t.Helper()
	l, err := Open(dir, &o)
	if err == nil {
		err = l.AppendSync(t.Context(), tool.Record{Time: time.Now(), Kind: kindChange})
	}
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
