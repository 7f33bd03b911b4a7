package main

import (
	"slices"
	"testing"
)

// TestLines: each line with code counts once, whatever else it has.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{"package a\n", 1},
		{"// a comment\n\npackage a // another\n", 1},
		{"/* over\nlines */ package a\n", 1},
		{"package a\n\nfunc f() {\n\t// why\n\tg() /* so */\n}\n", 4},
		{"package a\n\nvar x = `one\n\n// two\n` + `three`\n", 4},
		{"package a; var x = 1; var y = 2", 1},
	} {
		got, err := lines("a.go", []byte(c.text))
		if err != nil || got != c.want {
			t.Errorf("%q has %d lines of code, %v; want %d", c.text, got, err, c.want)
		}
	}
	if _, err := lines("a.go", []byte("package a\nvar x = `")); err == nil {
		t.Error("a source that ends in a string was counted")
	}
}

// TestCount: tests are not counted, and test support is told apart from the product.
func TestCount(t *testing.T) {
	t.Parallel()
	sizes, err := files{
		"internal/a/a.go":           []byte("package a\n"),
		"internal/a/b.go":           []byte("package a\n\nvar X int\n"),
		"internal/a/a_test.go":      []byte("package a\n"),
		"internal/a/atest/kit.go":   []byte("package atest\n"),
		"test/story/story.go":       []byte("package story\n"),
		"internal/latest/newest.go": []byte("package latest\n"),
	}.count()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sizes["internal/a"], (size{3, 2}); got != want {
		t.Errorf("internal/a is %+v, want %+v", got, want)
	}
	if len(sizes) != 3 || !isTestSupport("internal/a/atest") || isTestSupport("internal/a") {
		t.Errorf("sizes are %v", sizes)
	}
}

// TestUnused: a name counts as used if another package names it, whatever local name that package imports it by.
func TestUnused(t *testing.T) {
	t.Parallel()
	got, err := files{
		"internal/a/a.go":      []byte("package a\n\nfunc Used() {}\nfunc Alone() { Used() }\nvar Tested int\ntype hidden int\nfunc (hidden) Method() {}\n"),
		"internal/a/a_test.go": []byte("package a_test\n\nimport \"collie/internal/a\"\n\nvar _ = a.Alone\n"),
		"internal/b/b.go":      []byte("package b\n\nimport x \"collie/internal/a\"\n\nfunc f() { x.Used() }\n"),
		"test/c/c_test.go":     []byte("package c\n\nimport \"collie/internal/a\"\n\nvar _ = a.Tested\n"),
	}.unused()
	if want := []string{"internal/a.Alone", "internal/a.Tested (tests only)"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("unused are %q, %v; want %q", got, err, want)
	}
}

// TestCompare: the packages that became smaller come first.
func TestCompare(t *testing.T) {
	t.Parallel()
	rows := compare(map[string]size{"a": {5, 1}, "gone": {9, 1}}, map[string]size{"a": {6, 1}, "new": {2, 1}})
	var names []string
	for _, r := range rows {
		names = append(names, r.Package)
	}
	if want := []string{"gone", "a", "new"}; !slices.Equal(names, want) {
		t.Errorf("rows are %v, want %v", names, want)
	}
}

// TestUnusedParts: what a used name consists of counts as used too, and so do the values of such a type. What only
// unexported parts of it use does not.
func TestUnusedParts(t *testing.T) {
	t.Parallel()
	got, err := files{
		"internal/a/a.go": []byte(`package a

type Options struct {
	Level  Level
	secret Inner
	More   []*Deep
}
type Level int
const (
	Low Level = iota
	High
)
const Odd = 3
type Inner int
type Deep struct{}
func (d *Deep) Walk(f func(Step)) {}
func (d *Deep) private(x Hidden) {}
type Step struct{}
type Hidden struct{}
func New(o Options) (*Result, error) { return nil, nil }
type Result struct{ Options }
`),
		"internal/b/b.go": []byte("package b\n\nimport \"collie/internal/a\"\n\nvar _, _ = a.New\n"),
	}.unused()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"internal/a.Hidden", "internal/a.Inner", "internal/a.Odd"}; !slices.Equal(got, want) {
		t.Errorf("unused are %v, want %v", got, want)
	}
}
