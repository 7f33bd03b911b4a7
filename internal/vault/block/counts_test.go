package block_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// TestCountsOfAKernel compares counts of characters, words, links, images and references with those that kernel 3.7.3 gave
// for the same texts. Each line of testdata/counts.jsonl holds a text and its counts.
func TestCountsOfAKernel(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/counts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v := newVault(t)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row []any
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		id, _ := v.createDocument("Doc", row[0].(string))
		got := v.Ask("/api/block/getBlocksWordCount", object{"ids": []string{id}}).Get("stat")
		for i, name := range []string{"runeCount", "wordCount", "linkCount", "imageCount", "refCount"} {
			if want := row[1+i].(float64); got.Get(name).Num != want {
				t.Errorf("%q: %s is %v, want %v", row[0], name, got.Get(name).Num, want)
			}
		}
	}
}
