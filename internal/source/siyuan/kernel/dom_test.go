package kernel_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// recordedAnswer returns a recorded answer.
func recordedAnswer(t *testing.T, scenario string, seq int) gjson.Result {
	t.Helper()
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario == scenario && row.Seq == seq {
			return gjson.ParseBytes(row.RespBody)
		}
	}
	t.Fatalf("no row %d of %s", seq, scenario)
	return gjson.Result{}
}

func topIDs(blocks []kernel.DOMBlock) []kernel.ID {
	var out []kernel.ID
	for _, b := range blocks {
		out = append(out, b.ID)
	}
	return out
}

func TestParseDOMOfRecordedAnswers(t *testing.T) {
	t.Parallel()
	const op = "data.0.doOperations.0.data"
	several := kernel.ParseDOM(recordedAnswer(t, "blocks", 11).Get(op).Str)
	want := []kernel.ID{"20261121033044-sm6zjag", "20261121033044-g5c3vhf", "20261121033044-eovmtvu"}
	if diff := cmp.Diff(want, topIDs(several)); diff != "" {
		t.Errorf("two paragraphs and a list (-want +got):\n%s", diff)
	}
	if n := len(several[2].Blocks); n != 2 || several[2].Type != "NodeList" || several[2].Blocks[0].Type != "NodeListItem" {
		t.Errorf("the list has %d items: %+v", n, several[2])
	}
	list := kernel.ParseDOM(recordedAnswer(t, "blocks", 106).Get(op).Str)
	if diff := cmp.Diff([]kernel.ID{"20261121033048-tjdoi79"}, topIDs(list)); diff != "" {
		t.Fatalf("a list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kernel.ID{"20261121033048-sbs1n7m"}, topIDs(list[0].Blocks)); diff != "" {
		t.Errorf("its item (-want +got):\n%s", diff)
	}
	memo := kernel.ParseDOM(recordedAnswer(t, "blocks", 13).Get(op).Str) // with an svg in it
	if diff := cmp.Diff([]kernel.ID{"20240606060606-given01"}, topIDs(memo)); diff != "" {
		t.Errorf("a paragraph with a memo (-want +got):\n%s", diff)
	}
}

func TestParseDOMPositions(t *testing.T) {
	t.Parallel()
	dom := recordedAnswer(t, "blocks", 11).Get("data.0.doOperations.0.data").Str
	blocks := kernel.ParseDOM(dom)
	for i, b := range blocks {
		again := kernel.ParseDOM(dom[b.Start:b.End])
		if len(again) != 1 || again[0].ID != b.ID {
			t.Errorf("block %d: its text holds %v", i, topIDs(again))
		}
		if i > 0 && b.Start != blocks[i-1].End {
			t.Errorf("block %d begins at %d, the one before ends at %d", i, b.Start, blocks[i-1].End)
		}
	}
}

func TestParseDOMPassesOverWhatIsNoBlock(t *testing.T) {
	t.Parallel()
	const id = "20240101000000-aaaaaaa"
	for dom, want := range map[string][]kernel.ID{
		"":          nil,
		"plain < x": nil,
		`<span data-node-id="` + id + `">x</span>`:                                         nil,
		`<div data-node-id="no id">x</div>`:                                                nil,
		`<!-- <div data-node-id="` + id + `"> -->`:                                         nil,
		`<divider data-node-id="` + id + `"></divider>`:                                    nil,
		`<div data-node-id="` + id + `"`:                                                   {id},
		`<div data-content="a > b" data-node-id="` + id + `">x`:                            {id},
		`</div></div><DIV data-node-id="` + id + `"><br><img src="a"/></DIV>`:              {id},
		`<div><div data-node-id="` + id + `"></div></div>`:                                 {id},
		`<div data-content="<div data-node-id=1>" data-node-id="` + id + `">&lt;div</div>`: {id},
	} {
		if diff := cmp.Diff(want, topIDs(kernel.ParseDOM(dom))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dom, diff)
		}
	}
}

func FuzzParseDOM(f *testing.F) {
	f.Add(`<div data-node-id="20240101000000-aaaaaaa" data-type="NodeList"><div data-node-id="20240101000000-bbbbbbb"></div></div>`)
	f.Add(`<!--<div data-node-id='x'>--></div><div`)
	f.Fuzz(func(t *testing.T, dom string) {
		var check func(blocks []kernel.DOMBlock, from, to int)
		check = func(blocks []kernel.DOMBlock, from, to int) {
			for _, b := range blocks {
				if b.Start < from || b.End > to || b.Start >= b.End || b.Open < 0 || !b.ID.Valid() {
					raw, _ := json.Marshal(b)
					t.Fatalf("block %s outside of %d to %d in %q", raw, from, to, dom)
				}
				check(b.Blocks, b.Start, b.End)
				from = b.End
			}
		}
		check(kernel.ParseDOM(dom), 0, len(dom))
	})
}
